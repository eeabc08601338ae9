/** The API's own listener with the edge's certificates, on a whole server: which one it shows, what becomes of it, and what it refuses. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { silentLog } from '../../base/log.ts';
import { checkServerConfig } from '../../config/load.ts';
import { type TestCertificate, testCertificate } from '../../data/fixtures/certificate.ts';
import { type Server, startServer } from '../start.ts';

const WITHIN = { timeout: 120_000 };
let folder = '';
let server: Server | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'culvert-'));
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  rmSync(folder, { recursive: true });
});

const toml = (tls: string, api = '') => `data_dir = "${folder}"
[api]
listen = "127.0.0.1:0"
tls = true
${api}
[edge]
http_listen = ""
https_listen = "127.0.0.1:0"
[edge.tls]
${tls}
[agents]
listen = "127.0.0.1:0"`;

async function start(text: string): Promise<Server> {
  const { settings } = checkServerConfig(text, 'test.toml');
  server = await startServer(settings, { version: '9.9.9', log: silentLog });
  return server;
}

interface Shown {
  readonly status: number;
  readonly subject: string;
  readonly protocol: string | null;
}

/** One request on a connection of its own, whatever the certificate says. */
function ask(port: number, options: { maxVersion?: 'TLSv1.1' } = {}): Promise<Shown> {
  return new Promise((resolve, reject) => {
    const agent = new Agent({ rejectUnauthorized: false, minVersion: 'TLSv1', ...options });
    request({ host: '127.0.0.1', port, path: '/health', agent }, (answer) => {
      const socket = answer.socket as TLSSocket;
      const subject = String(socket.getPeerCertificate().subject?.CN);
      answer.resume().on('end', () => {
        resolve({ status: answer.statusCode ?? 0, subject, protocol: socket.getProtocol() });
        agent.destroy();
      });
    })
      .on('error', reject)
      .end();
  });
}

const write = ({ cert, key }: TestCertificate): void => {
  writeFileSync(join(folder, 'cert.pem'), cert);
  writeFileSync(join(folder, 'key.pem'), key);
};
const files = () => `mode = "files"\ncert_file = "${folder}/cert.pem"\nkey_file = "${folder}/key.pem"`;

test('the API speaks TLS 1.2 and 1.3 with the certificate of the edge, and no plain HTTP', WITHIN, async () => {
  const { addresses, apiUrl } = await start(toml('mode = "self_signed"'));
  assert.equal(apiUrl, `https://127.0.0.1:${addresses.api.port}`);
  const shown = await ask(addresses.api.port);
  assert.deepEqual([shown.status, shown.protocol], [200, 'TLSv1.3']);
  await assert.rejects(ask(addresses.api.port, { maxVersion: 'TLSv1.1' }));
  await assert.rejects(
    new Promise((resolve, reject) => {
      plainRequest({ host: '127.0.0.1', port: addresses.api.port, path: '/health' }, resolve).on('error', reject).end();
    }),
  );
  assert.equal((await ask(addresses.api.port)).status, 200, 'others go on');
});

test('api tls: no second handshake on a connection', WITHIN, async () => {
  const { addresses } = await start(toml('mode = "self_signed"'));
  const socket = connect({ port: addresses.api.port, rejectUnauthorized: false, maxVersion: 'TLSv1.2' });
  await once(socket, 'secureConnect');
  const failed = once(socket, 'error') as Promise<[Error & { code?: string }]>;
  socket.renegotiate({}, () => assert.fail('it was taken'));
  assert.equal((await failed)[0].code, 'ERR_SSL_NO_RENEGOTIATION');
  socket.destroy();
});

test('a renewed certificate file is shown by the API too', WITHIN, async () => {
  write(await testCertificate(['old.example.test']));
  const { addresses, reloadCertificates } = await start(toml(files()));
  assert.equal((await ask(addresses.api.port)).subject, 'old.example.test');
  write(await testCertificate(['new.example.test']));
  await reloadCertificates();
  assert.equal((await ask(addresses.api.port)).subject, 'new.example.test');
});

test('what can not work is said before the start', () => {
  const check = (text: string): string => {
    try {
      checkServerConfig(text, 'test.toml');
      return 'ok';
    } catch (error) {
      return String(error);
    }
  };
  assert.match(check('[api]\ntls = true'), /api\.tls.*edge\.https_listen/s);
  assert.match(check(toml('mode = "self_signed"', 'public_url = "http://a.example.test"')), /api\.public_url.*https:/s);
  const acme = (url: string) =>
    check(`[api]
tls = true
${url}
[edge]
domain = "example.com"
http_listen = "127.0.0.1:0"
https_listen = "127.0.0.1:0"
tls.mode = "acme"`);
  for (const url of ['', 'public_url = "https://127.0.0.1:8443"', 'public_url = "https://localhost:8443"'])
    assert.match(acme(url), /api\.public_url.*certificate/s, url);
  assert.equal(acme('public_url = "https://culvert.example.com:8443"'), 'ok');
});
