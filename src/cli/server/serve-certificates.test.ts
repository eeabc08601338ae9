/** `culvert serve` with certificates from files: SIGHUP reads them at once, for visitors and for agents. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { testCertificate, type TestCertificate } from '../../data/fixtures/certificate.ts';
import { ALPN } from '../../wire/messages.ts';
import { start, tempHome } from '../fixtures/in-process.ts';

/** Settings name files by where the process is: here it is not at home. */
const settingsIn = (home: string): string => `data_dir = "${join(home, 'data')}"
[api]
listen = "127.0.0.1:0"
[edge]
http_listen = ""
https_listen = "127.0.0.1:0"
tcp_ports = ""
[edge.tls]
mode = "files"
cert_file = "${join(home, 'fullchain.pem')}"
key_file = "${join(home, 'privkey.pem')}"
[agents]
listen = "127.0.0.1:0"
`;

const serialOf = ({ cert }: TestCertificate): string => new X509Certificate(cert).serialNumber;

async function opened(port: number, protocol: string): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: [protocol] });
  await once(socket, 'secureConnect');
  return socket;
}

async function shown(port: number, protocol: string): Promise<string> {
  const socket = await opened(port, protocol);
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

test('a renewed pair is served after SIGHUP, a wrong one is not, and an open connection goes on', async (t) => {
  const home = tempHome(t);
  const [first, second] = [await testCertificate(), await testCertificate()];
  writeFileSync(join(home, 'server.toml'), settingsIn(home));
  writeFileSync(join(home, 'fullchain.pem'), first.cert);
  writeFileSync(join(home, 'privkey.pem'), first.key);
  const server = start(t, ['serve', '--config', 'server.toml'], { home });
  await server.until(() => /admin@localhost\n.+\n/.test(server.stdout));
  const [, api = ''] = /API +(\S+)\n/.exec(server.stdout) ?? [];
  const [, https = ''] = /visitors +https\S+ on 127\.0\.0\.1:(\d+)\n/.exec(server.stdout) ?? [];
  const [, agents = ''] = /agents +127\.0\.0\.1:(\d+)\n/.exec(server.stdout) ?? [];
  const both = async (): Promise<string[]> => [
    await shown(Number(https), 'http/1.1'),
    await shown(Number(agents), ALPN),
  ];
  const pin = async (): Promise<unknown> =>
    ((await (await fetch(`${api}/.well-known/culvert`)).json()) as Record<string, unknown>)['agent_fingerprint'];
  assert.deepEqual(await both(), [serialOf(first), serialOf(first)]);
  const firstPin = await pin();
  const open = await opened(Number(https), 'http/1.1');
  t.after(() => open.destroy());

  writeFileSync(join(home, 'fullchain.pem'), second.cert);
  server.signal('SIGHUP');
  await server.until(() => server.stderr.includes('are invalid or do not match'));
  assert.deepEqual(await both(), [serialOf(first), serialOf(first)]);

  writeFileSync(join(home, 'privkey.pem'), second.key);
  server.signal('SIGHUP');
  await server.until(() => server.stderr.includes('certificate reloaded'));
  assert.deepEqual(await both(), [serialOf(second), serialOf(second)]);
  assert.notEqual(await pin(), firstPin, 'new agents receive the new key');

  open.write('GET / HTTP/1.1\r\nHost: none.localhost\r\n\r\n');
  const [answer] = (await once(open, 'data')) as [Buffer];
  assert.match(answer.toString(), /^HTTP\/1\.1 404 /);
  server.signal('SIGTERM');
  assert.equal(await server.exit, 0);
});
