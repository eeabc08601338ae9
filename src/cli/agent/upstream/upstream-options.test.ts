/** The way to a service as users describe it: good values reach the target, and a mistake names its flag or key, file and reason. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTls } from 'node:tls';
import { before, test, type TestContext } from 'node:test';
import { Http2Service } from '../../../agent/http2/service.ts';
import { LocalDial, type LocalFault } from '../../../agent/local/local.ts';
import type { LocalTarget } from '../../../agent/local/target.ts';
import { Sweeper } from '../../../base/clock.ts';
import { testCertificate } from '../../../data/fixtures/certificate.ts';
import type { UpstreamForm } from '../../../wire/upstream-form.ts';
import type { UpstreamInput } from './upstream-input.ts';
import { upstreamOf } from './upstream-options.ts';

let own: { cert: string; key: string };
let other: { cert: string; key: string };

before(async () => {
  [own, other] = await Promise.all([testCertificate(), testCertificate()]);
});

/** A folder with `files`. */
function folderOf(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-upstream-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

function inputOf(over: Partial<UpstreamInput>): UpstreamInput {
  return {
    target: 'https://localhost:8443',
    protocol: 'http',
    verifyTls: false,
    proxyProtocol: false,
    values: {},
    folder: '/nowhere',
    mistake: (key, text) => new Error(`${key}: ${text}`),
    ...over,
  };
}

async function dial(target: LocalTarget): Promise<LocalFault | undefined> {
  const sweeper = new Sweeper<LocalDial>(60_000);
  const fault = await new Promise<LocalFault | undefined>((resolve) => {
    const result = {
      // The service ends it: by then it has read the client's certificate.
      onConnected: (socket: Socket) => {
        socket.resume().once('close', () => resolve(undefined));
        socket.once('end', () => socket.destroy());
      },
      onFault: resolve,
    };
    new LocalDial(target, { result, sweeper, nowMs: 0 });
  });
  sweeper.close();
  return fault;
}

test('upstream options: the connect timeout and the SNI name reach the target', () => {
  const values = { upstream_connect_timeout: '2s', upstream_sni: 'app.internal' };
  const { target } = upstreamOf(inputOf({ target: 'https://10.0.0.1', values }));
  assert.deepEqual([target.connectTimeoutMs, target.serverName], [2_000, 'app.internal']);
  assert.equal(target.verifyTls, false);
});

const BAD: ReadonlyArray<readonly [title: string, over: Partial<UpstreamInput>, message: RegExp]> = [
  ['a target', { target: 'nonsense' }, /^target: "nonsense" is not a valid target/],
  [
    'a timeout without a unit',
    { values: { upstream_connect_timeout: '10' } },
    /^upstream_connect_timeout: "10" is not/,
  ],
  ['a timeout of an hour', { values: { upstream_connect_timeout: '1h' } }, /^upstream_connect_timeout: "1h" is not/],
  ['an address as SNI name', { values: { upstream_sni: '10.0.0.1' } }, /^upstream_sni: "10.0.0.1" is not a host name/],
  [
    'a missing file',
    { values: { upstream_ca: 'ca.pem' } },
    /^upstream_ca: \/nowhere\/ca\.pem can't be read: there is no/,
  ],
  ['a certificate without its key', { values: { upstream_cert: 'a' } }, /^upstream_cert: needs the private key too/],
  ['a key without its certificate', { values: { upstream_key: 'a' } }, /^upstream_key: needs the certificate too/],
  [
    'SNI without TLS',
    { target: '3000', values: { upstream_sni: 'a' } },
    /^upstream_sni: is for services that speak TLS/,
  ],
  [
    'an unknown HTTP version',
    { values: { upstream_protocol: 'h2c' } },
    /^upstream_protocol: "h2c" is not http1, http2 or auto/,
  ],
  [
    'HTTP/2 of tcp',
    { target: '22', protocol: 'tcp', values: { upstream_protocol: 'http2' } },
    /^upstream_protocol: is for http and https tunnels only/,
  ],
  [
    'SNI of tcp',
    { target: '22', protocol: 'tcp', values: { upstream_sni: 'a' } },
    /^upstream_sni: is for http and https/,
  ],
];
for (const [title, over, message] of BAD) {
  test(`upstream options: ${title} is refused by name`, () => {
    assert.throws(() => upstreamOf(inputOf(over)), { message });
  });
}

test('upstream options: the protocol says how the service is reached, and http1 is dialled', () => {
  const wayOf = (upstream_protocol?: string) =>
    upstreamOf(inputOf({ target: '3000', values: { upstream_protocol } })).target.way;
  assert.deepEqual([wayOf(), wayOf('http1')], [undefined, undefined]);
  assert.ok(wayOf('http2') instanceof Http2Service);
  assert.ok(wayOf('auto') instanceof Http2Service);
});

const FORMS: ReadonlyArray<readonly [target: string, values: UpstreamInput['values'], form: UpstreamForm | undefined]> =
  [
    ['3000', {}, undefined],
    ['3000', { host_header: 'preserve' }, undefined],
    ['3000', { host_header: 'rewrite' }, { host: 'localhost:3000' }],
    ['80', { host_header: 'rewrite' }, { host: 'localhost' }],
    ['http://nas.local', { host_header: 'rewrite' }, { host: 'nas.local' }],
    ['https://nas.local', { host_header: 'rewrite' }, { host: 'nas.local', tls: true }],
    ['https://nas.local:80', { host_header: 'rewrite' }, { host: 'nas.local:80', tls: true }],
    ['[::1]:3000', { host_header: 'rewrite' }, { host: '[::1]:3000' }],
    ['unix:/a.sock', { host_header: 'rewrite' }, { host: 'localhost' }],
    ['3000', { host_header: 'app.local:8080' }, { host: 'app.local:8080' }],
    ['3000', { path_prefix: '/app/' }, { prefix: '/app' }],
    ['3000', { path_prefix: '/' }, undefined],
    ['unix:/a.sock:/app/v2', {}, { prefix: '/app/v2' }],
    ['3000', { upstream_keep_alive_timeout: '0s' }, { keepAliveMs: 0 }],
  ];
for (const [target, values, form] of FORMS) {
  test(`upstream options: ${target} with ${JSON.stringify(values)}`, () => {
    assert.deepEqual(upstreamOf(inputOf({ target, values })).upstream, form);
  });
}

test('upstream options: a file that is no PEM, or holds the wrong thing, is refused by name', (t) => {
  const folder = folderOf(t, {
    text: 'hello',
    cert: own.cert,
    key: own.key,
    other: other.key,
    broken: own.cert.replace(/\nM.{20}/, '\nMAAA'),
  });
  const bad = (values: UpstreamInput['values']) => () => upstreamOf(inputOf({ folder, values }));
  assert.throws(bad({ upstream_ca: 'text' }), /upstream_ca: .*text has no certificate in PEM form/);
  assert.throws(bad({ upstream_ca: 'key' }), /upstream_ca: .*key has no certificate in PEM form/);
  assert.throws(bad({ upstream_ca: 'broken' }), /upstream_ca: .*broken can't be used: /);
  assert.throws(bad({ upstream_cert: 'cert', upstream_key: 'cert' }), /upstream_key: .*cert has no private key in PEM/);
  assert.throws(bad({ upstream_cert: 'cert', upstream_key: 'other' }), /upstream_key: .*other is the key of another/);
});

test('upstream options: --upstream-ca verifies the service, and --upstream-cert shows it a certificate', async (t) => {
  const folder = folderOf(t, { ca: own.cert, otherCa: other.cert, cert: other.cert, key: other.key });
  const server = createTls({ ...own, ca: other.cert, requestCert: true, rejectUnauthorized: true }, (s) => s.end());
  server.on('tlsClientError', () => undefined); // the client that does not trust it
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const seen = new Promise<string>((resolve) => {
    server.once('secureConnection', (socket) => resolve(socket.getPeerX509Certificate()?.toString() ?? ''));
  });
  const reach = (values: UpstreamInput['values']) =>
    dial(upstreamOf(inputOf({ target: `https://127.0.0.1:${address.port}`, folder, values })).target);
  const shown = { upstream_cert: 'cert', upstream_key: 'key', upstream_sni: 'localhost' };
  assert.match((await reach({ ...shown, upstream_ca: 'otherCa' }))?.text ?? '', /self-signed certificate/);
  assert.equal(await reach({ ...shown, upstream_ca: 'ca' }), undefined);
  assert.equal((await seen).replace(/\s/g, ''), other.cert.replace(/\s/g, ''));
});

test('unix targets: a socket in the file system is dialled, and a missing one is named', async (t) => {
  const folder = folderOf(t, {});
  const path = join(folder, 'app.sock');
  const server = createServer((socket) => socket.end()).listen(path);
  await once(server, 'listening');
  t.after(() => server.close());
  assert.equal(await dial(upstreamOf(inputOf({ target: `unix:${path}` })).target), undefined);
  const missed = await dial(upstreamOf(inputOf({ target: `unix:${path}x` })).target);
  assert.match(missed?.text ?? '', /^unix:.*app\.sockx: there is no such socket$/);
});
