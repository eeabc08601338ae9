/** The configuration file of a server that is measured. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Certificate } from './peers.ts';
import type { Processes } from './processes.ts';
import { say } from './report/progress.ts';

interface Ports {
  readonly apiPort: number;
  readonly httpPort: number;
  readonly httpsPort: number;
  readonly agentPort: number;
}

/** The configuration file. Only what a machine with a benchmark on it needs differs from the defaults. */
export function serverConfig(options: {
  readonly folder: string;
  readonly ports: Ports;
  /** Where API and agent listener are, for the agent. */
  readonly address: string;
  readonly certificate: Certificate | undefined;
  /** Where visitors come by HTTPS. */
  readonly httpsAddress?: string;
  readonly edge: string;
  /** Keys of [edge.limits] besides. */
  readonly limits?: string | undefined;
}): string {
  const { ports, address, certificate, edge, limits = '', httpsAddress = '127.0.0.1' } = options;
  const tls =
    certificate === undefined
      ? ''
      : `
[edge.tls]
mode = "files"
cert_file = "${certificate.certFile}"
key_file = "${certificate.keyFile}"
`;
  return `
data_dir = "${join(options.folder, 'data')}"

[log]
level = "warn"
format = "json"

[api]
listen = "${address}:${ports.apiPort}"

[limits]
# The log-in scenario comes from one address.
auth_burst = 1000000

[edge]
domain = "localhost"
http_listen = "127.0.0.1:${ports.httpPort}"
https_listen = "${certificate === undefined ? '' : `${httpsAddress}:${ports.httpsPort}`}"
${edge}

[edge.limits]
# All load comes from one address; idle visitors must stay for as long as their memory is looked at.
max_connections_per_ip = 0
tls_handshakes_per_second_per_ip = 0
idle_timeout_seconds = 3600
${limits}
${tls}
[agents]
listen = "${address}:${ports.agentPort}"
`;
}

/** Writes the file without the keys that this build does not know yet: an older one would not start. Throws when anything else is wrong. */
export async function writeConfig(
  processes: Processes,
  { command, file, text }: { readonly command: readonly string[]; readonly file: string; readonly text: string },
): Promise<void> {
  const lines = text.split('\n');
  for (;;) {
    writeFileSync(file, lines.join('\n'));
    const { code, stderr } = await processes.run([...command, 'config', 'check', file]);
    if (code === 0) return;
    const [, line, key] = /:(\d+): (\S+): unknown key/.exec(stderr) ?? [];
    if (line === undefined) throw new Error(stderr.trim());
    say(`this build does not know ${key}: its default counts`);
    lines.splice(Number(line) - 1, 1);
  }
}
