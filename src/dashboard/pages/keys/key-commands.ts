/** Commands and settings to copy for a new key. Pure: tested without a browser. */
import type { MintedToken } from '../../api/types.ts';
import { agentCommand, KEY_VARIABLE, serverText, withKey } from '../../parts/connect/agent-command.ts';

/** Commands that use a key which was just made, to be copied. What is put into them was checked by the server: labels, slugs, a key. */
interface KeyCommands {
  /** With the key in the environment of the one command. */
  readonly environment: string;
  /** Reads the key into a file with mode 600: it stands in no shell history. */
  readonly store: string;
  /** Goes by that file. */
  readonly use: string;
}

export function commandsFor(token: MintedToken, server: URL): KeyCommands {
  if (token.kind === 'master') return masterCommands(token.apiKey, serverText(server));
  const { projectSlug, apiKey } = token;
  const project = projectSlug === null || projectSlug === 'default' ? undefined : projectSlug;
  const subdomain = nameFor(token.allowedSubdomains);
  const command = agentCommand({ protocol: 'http', localPort: 3000, subdomain, project, server }, 'posix');
  return {
    environment: withKey(command, apiKey, 'posix'),
    store: intoFile('culvert.key'),
    use: `${command} --token-file culvert.key`,
  };
}

function masterCommands(key: string, address: string): KeyCommands {
  const mint = 'culvert tokens mint run-1 --project PROJECT --ttl-hours 2 --output-env';
  return {
    environment: `export CULVERT_SERVER=${address} ${KEY_VARIABLE}=${key}\n${mint}`,
    store: intoFile('master.key'),
    use: `CULVERT_TOKEN_FILE=master.key ${mint} --server ${address}`,
  };
}

function intoFile(name: string): string {
  return `(umask 077; cat > ${name})`;
}

/** A key that may not take every name is shown with one that it may take. */
function nameFor(allowed: readonly string[]): string | undefined {
  return allowed.includes('*') ? undefined : allowed[0]?.replace('*', '1');
}

/** `server`: address of the API, with a slash at its end. */
export function scrapeConfig(server: URL): string {
  return [
    'scrape_configs:',
    '  - job_name: culvert-tunnels',
    `    scheme: ${server.protocol.replace(':', '')}`,
    `    metrics_path: ${server.pathname}metrics/prometheus`,
    '    authorization: { credentials_file: /etc/prometheus/culvert.key }',
    `    static_configs: [{ targets: ["${server.host}"] }]`,
  ].join('\n');
}
