/** A server that gets its certificates by ACME from pebble, on ports that pebble looks at, and that a test may stop and start again. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import type { Logger } from '../../src/base/log.ts';
import { silentLog } from '../../src/base/log.ts';
import { checkServerConfig } from '../../src/config/load.ts';
import { type Server, startServer } from '../../src/server/start.ts';
import { publisher } from '../harness.ts';
import { Account } from './account.ts';
import { freePorts, type Ports } from './config.ts';
import { type DnsServer, startDns } from './dns.ts';
import { type Ends, inReverse } from './ends.ts';
import { type Pebble, type PebbleOptions, startPebble } from './pebble.ts';

export const DOMAIN = 'edge.example.test';

export interface AcmeCulvert {
  readonly ports: Ports;
  readonly dns: DnsServer;
  readonly pebble: Pebble;
  readonly account: Account;
  readonly publish: ReturnType<typeof publisher>;
  /** Messages of the log, with their names. */
  readonly lines: string[];
  /** Ends the server and starts one on the same folder and ports. */
  restart(): Promise<void>;
  /** A handshake that names this host, believed by pebble's root alone. Throws when the certificate is another's or names another host. */
  shake(host: string): Promise<TLSSocket>;
  /** The subject names of what is shown for this host, believed or not. */
  shown(host: string): Promise<string>;
}

export interface AcmeOptions {
  /** One that runs already; else a new one. */
  readonly dns?: DnsServer;
  /** Lines of [acme]. */
  readonly acme?: string;
  readonly pebble?: Partial<PebbleOptions>;
}

export async function startAcme(context: Ends, options: AcmeOptions = {}): Promise<AcmeCulvert> {
  const t = inReverse(context);
  const folder = mkdtempSync(join(tmpdir(), 'culvert-acme-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const ports = await freePorts();
  const dns = options.dns ?? (await startDns(t));
  dns.address4 = '127.0.0.1';
  const pebble = await startPebble(t, {
    dnsServer: dns.address,
    httpPort: ports.http,
    tlsPort: ports.https,
    ...options.pebble,
  });
  const text = `data_dir = ${JSON.stringify(join(folder, 'data'))}
[api]
listen = "127.0.0.1:${ports.api}"
[limits]
auth_burst = 1000
[edge]
domain = "${DOMAIN}"
http_listen = "127.0.0.1:${ports.http}"
https_listen = "127.0.0.1:${ports.https}"
tcp_ports = ""
[edge.tls]
mode = "acme"
[edge.limits]
max_connections_per_ip = 0
tls_handshakes_per_second_per_ip = 0
[agents]
listen = "127.0.0.1:${ports.agents}"
public_address = "127.0.0.1:${ports.agents}"
[dns]
resolvers = ["${dns.address}"]
[acme]
directory_url = "${pebble.directoryUrl}"
ca_file = ${JSON.stringify(pebble.caFile)}
${options.acme ?? ''}`;
  const { settings } = checkServerConfig(text, 'acme.toml');
  const lines: string[] = [];
  const start = (): Promise<Server> => startServer(settings, { version: '0.0.0-test', log: remembering(lines) });
  let server = await start();
  t.after(() => server.close());
  const owner = server.firstOwner;
  if (owner === undefined) throw new Error('a new data folder has an owner already');
  const account = await Account.logIn(server.apiUrl, owner.email, owner.password.reveal());
  const to = (host: string) => ({
    host: '127.0.0.1',
    port: ports.https,
    servername: host,
    ALPNProtocols: ['http/1.1'],
  });
  const open = async (socket: TLSSocket): Promise<TLSSocket> => {
    t.after(() => void socket.destroy());
    // A restart may cut it with a reset.
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    return socket;
  };
  return {
    ports,
    dns,
    pebble,
    account,
    publish: publisher(t, new URL(server.apiUrl), await account.mint()),
    lines,
    restart: async () => {
      await server.close();
      server = await start();
    },
    shake: (host) => open(connect({ ...to(host), ca: pebble.root })),
    shown: async (host) => {
      const socket = await open(connect({ ...to(host), rejectUnauthorized: false }));
      return socket.getPeerX509Certificate()?.subjectAltName ?? '';
    },
  };
}

function remembering(lines: string[]): Logger {
  const note = (fields: object, message: string): void => {
    const { name } = fields as { name?: string };
    lines.push(name === undefined ? message : `${name}: ${message}`);
  };
  const log: Logger = { ...silentLog, error: note, warn: note, info: note, child: () => log };
  return log;
}
