/**
 * Debian's `pebble` as the authority of a test: a whole ACME server that looks at names as a real one does, refuses a share of good nonces,
 * and forgets everything at its end. Names resolve by the DNS server of the test.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { makeTestCa } from './ca.ts';
import { freePort } from './config.ts';
import type { Ends } from './ends.ts';

export interface PebbleOptions {
  /** `IP:port` of the DNS server that it asks. */
  readonly dnsServer: string;
  /** Where it looks for http-01: the edge's plain listener. */
  readonly httpPort: number;
  /** Where it looks for tls-alpn-01: the edge's TLS listener. */
  readonly tlsPort: number;
  /** Customers that it wants to see: kid to HMAC key in base64url. None: every client may register. */
  readonly externalAccounts?: Readonly<Record<string, string>>;
  /** Names that it issues nothing for. */
  readonly refusedNames?: readonly string[];
  /** Where its API listens, and the name in its certificate; loopback when not given. */
  readonly at?: { readonly address: string; readonly name: string };
  /** PEBBLE_…, over the defaults of the harness. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Pebble {
  readonly directoryUrl: string;
  /** PEM file of the root of its own API, for `acme.ca_file`. */
  readonly caFile: string;
  /** PEM of the root of what it issues. Made anew at each start. */
  readonly root: string;
  /** What it has written so far. */
  log(): string;
}

const READY = /Listening on/;
const START_MS = 15_000;

/** Ends with the test. */
export async function startPebble(t: Ends, options: PebbleOptions): Promise<Pebble> {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-pebble-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const ca = await makeTestCa();
  const { address, name } = options.at ?? { address: '127.0.0.1', name: 'localhost' };
  const served = await ca.issue({ names: [name] });
  const caFile = write(folder, 'ca.pem', ca.root);
  const [port, management] = [await freePort(), await freePort()];
  const { externalAccounts } = options;
  const config = {
    pebble: {
      listenAddress: `${address}:${port}`,
      managementListenAddress: `${address}:${management}`,
      certificate: write(folder, 'api.crt', served.cert),
      privateKey: write(folder, 'api.key', served.key),
      httpPort: options.httpPort,
      tlsPort: options.tlsPort,
      externalAccountBindingRequired: externalAccounts !== undefined,
      externalAccountMACKeys: externalAccounts ?? {},
      domainBlocklist: options.refusedNames ?? [],
    },
  };
  const child = spawn(
    'pebble',
    ['-config', write(folder, 'pebble.json', JSON.stringify(config)), '-dnsserver', options.dnsServer],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], PEBBLE_VA_NOSLEEP: '1', ...options.env },
    },
  );
  let output = '';
  const ended = once(child, 'close');
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const listening = Promise.withResolvers<void>();
  const onText = (chunk: Buffer): void => {
    output += chunk.toString();
    if (READY.test(output)) listening.resolve();
  };
  child.stdout.on('data', onText);
  child.stderr.on('data', onText);
  const timer = setTimeout(() => listening.reject(new Error(`pebble does not start: ${output}`)), START_MS);
  void ended.then(() => listening.reject(new Error(`pebble has ended: ${output}`)));
  await listening.promise.finally(() => clearTimeout(timer));
  return {
    directoryUrl: `https://${name}:${port}/dir`,
    caFile,
    root: await fetchText(`https://${address}:${management}/roots/0`, { ca: ca.root, servername: name }),
    log: () => output,
  };
}

function write(folder: string, name: string, content: string): string {
  const file = join(folder, name);
  writeFileSync(file, content, { mode: 0o600 });
  return file;
}

/** The two listeners come up one after the other. */
async function fetchText(url: string, trust: { ca: string; servername: string }): Promise<string> {
  for (let tries = 1; ; tries++) {
    try {
      const request = get(url, trust);
      const [response] = (await once(request, 'response')) as [Parameters<typeof text>[0]];
      return await text(response);
    } catch (error) {
      if (tries === 50) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
