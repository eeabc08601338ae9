/** Which certificate visitors get from a node's HTTPS listener and agents from theirs, over real handshakes, while the node runs. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { before, test } from 'node:test';
import { connect, type ConnectionOptions } from 'node:tls';
import { ALPN } from '../../../wire/messages.ts';
import { testCertificate, type TestCertificate } from '../../fixtures/certificate.ts';
import { httpOrigin, Rig } from '../testing/rig.ts';

let exact: TestCertificate;
let wildcard: TestCertificate;
let fallback: TestCertificate;
before(async () => {
  exact = await testCertificate(['shop.example.test']);
  wildcard = await testCertificate(['*.example.test', 'Example.test']);
  fallback = await testCertificate(['edge.other.test']);
});

const serialOf = ({ cert }: TestCertificate): string => new X509Certificate(cert).serialNumber;

/** Serial number of what a listener shows to one that asks for this name. */
async function shown(port: number, servername?: string, over: ConnectionOptions = {}): Promise<string> {
  const socket = connect({
    host: '127.0.0.1',
    port,
    rejectUnauthorized: false,
    ...(servername === undefined ? {} : { servername }),
    ...over,
  });
  await once(socket, 'secureConnect');
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

test('the exact name comes before the wildcard of one label, and that before the default', async (t) => {
  const rig = await Rig.start(t);
  rig.node.setCertificates([fallback, wildcard, exact]);
  const cases: ReadonlyArray<readonly [string | undefined, TestCertificate]> = [
    ['shop.example.test', exact],
    ['SHOP.example.TEST', exact],
    ['blog.example.test', wildcard],
    ['example.test', wildcard],
    ['a.blog.example.test', fallback],
    ['edge.other.test', fallback],
    ['unknown.test', fallback],
    ['test', fallback],
    [undefined, fallback],
  ];
  for (const [name, certificate] of cases) {
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      assert.equal(await shown(rig.httpsPort, name, { maxVersion }), serialOf(certificate), `${name} ${maxVersion}`);
    }
  }
});

test('a replacement forgets the old list, and changes nothing when one of its pairs does not fit', async (t) => {
  const rig = await Rig.start(t);
  rig.node.setCertificates([fallback, exact]);
  const wrong = { cert: wildcard.cert, key: exact.key };
  assert.throws(() => rig.node.setCertificates([wildcard, wrong]), /key values mismatch/);
  assert.throws(() => rig.node.setCertificates([]), /at least one/);
  assert.equal(await shown(rig.httpsPort, 'shop.example.test'), serialOf(exact));
  assert.equal(await shown(rig.httpsPort), serialOf(fallback));
  rig.node.setCertificates([wildcard]);
  assert.equal(await shown(rig.httpsPort, 'shop.example.test'), serialOf(wildcard));
  assert.equal(await shown(rig.httpsPort), serialOf(wildcard));
});

test('a connection that is open goes on over a replacement, and a session is taken up again', async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (_request, response) => response.end('hello'));
  await rig.serve('shop', origin.port);
  rig.node.setCertificates([fallback, exact]);
  const wire = await rig.visit({ tls: true });
  wire.ask('GET /');
  assert.equal((await wire.response()).status, 200);
  const to = { host: '127.0.0.1', port: rig.httpsPort, servername: 'shop.example.test', rejectUnauthorized: false };
  const first = connect(to);
  const [session] = (await once(first, 'session')) as [Buffer];
  first.destroy();

  const renewed = await testCertificate(['shop.example.test']);
  rig.node.setCertificates([wildcard, renewed]);
  wire.ask('GET /');
  assert.equal((await wire.response()).body, 'hello');
  assert.equal(await shown(rig.httpsPort, 'shop.example.test'), serialOf(renewed));
  const second = connect({ ...to, session });
  await once(second, 'secureConnect');
  assert.equal(second.isSessionReused(), true);
  second.destroy();
});

test('agents that connect get a new certificate, those that are connected stay', async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (_request, response) => response.end('hello'));
  await rig.serve('shop', origin.port);
  const { port } = rig.node.addresses().agents;
  rig.node.setAgentCertificate(exact);
  assert.equal(await shown(port, undefined, { ALPNProtocols: [ALPN] }), serialOf(exact));
  assert.throws(() => rig.node.setAgentCertificate({ cert: wildcard.cert, key: exact.key }), /key values mismatch/);
  assert.equal(await shown(port, undefined, { ALPNProtocols: [ALPN] }), serialOf(exact));
  const wire = await rig.visit();
  wire.ask('GET /');
  assert.equal((await wire.response()).body, 'hello');
});

test('suites without forward secrecy or with CBC are refused', async (t) => {
  const rig = await Rig.start(t);
  for (const ciphers of ['AES128-GCM-SHA256', 'ECDHE-ECDSA-AES128-SHA', 'ECDHE-ECDSA-AES128-SHA256']) {
    await assert.rejects(
      shown(rig.httpsPort, undefined, { maxVersion: 'TLSv1.2', ciphers }),
      /handshake failure/,
      ciphers,
    );
  }
  await shown(rig.httpsPort, undefined, { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' });
});
