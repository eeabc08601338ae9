/** What a certificate authority gets from the edge while an order runs, by HTTP and by TLS, and what visitors get meanwhile. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { before, test, type TestContext } from 'node:test';
import { connect, type ConnectionOptions } from 'node:tls';
import { testCertificate, type TestCertificate } from '../../fixtures/certificate.ts';
import { httpOrigin, Rig, type Wire } from '../testing/rig.ts';

const TOKEN = 'evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ';
const PATH = `/.well-known/acme-challenge/${TOKEN}`;
const HTTP = { type: 'http-01', name: 'shop.example.test', token: TOKEN, keyAuthorization: `${TOKEN}.print` } as const;

let proof: TestCertificate;
let own: TestCertificate;
before(async () => {
  proof = await testCertificate(['shop.example.test']);
  own = await testCertificate(['shop.example.test']);
});

async function shop(t: TestContext): Promise<Rig> {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (request, response) => response.end(`service ${request.method} ${request.url}`));
  await rig.serve('shop', origin.port);
  return rig;
}

async function answerOf(wire: Wire, line: string, ...fields: string[]): Promise<string> {
  wire.ask(line, ...fields);
  const { status, body } = await wire.response(line.startsWith('HEAD'));
  return `${status} ${body}`;
}

test('the token of an order is answered for its name alone, and no other request is kept from the service', async (t) => {
  const rig = await shop(t);
  const wire = await rig.visit();
  assert.equal(await answerOf(wire, `GET ${PATH}`), `200 service GET ${PATH}`, 'no order runs');
  rig.node.setChallenges([HTTP]);
  assert.equal(await answerOf(wire, `GET ${PATH}`), `200 ${HTTP.keyAuthorization}`);
  assert.equal(await answerOf(wire, `GET ${PATH}`, 'Host: SHOP.example.test:80'), `200 ${HTTP.keyAuthorization}`);
  assert.equal(await answerOf(wire, `GET http://shop.example.test${PATH}`), `200 ${HTTP.keyAuthorization}`);
  assert.equal(await answerOf(wire, `HEAD ${PATH}`), '200 ');
  for (const line of [
    `GET ${PATH}x`,
    `GET ${PATH}/`,
    `GET ${PATH}?x`,
    `GET ${PATH.slice(0, -1)}`,
    `GET ${PATH.replace('acme', 'Acme')}`,
    `GET /x${PATH}`,
  ])
    assert.match(await answerOf(wire, line), /^200 service GET/, line);
  assert.equal(await answerOf(wire, `DELETE ${PATH}`), `200 service DELETE ${PATH}`);
  assert.match(await answerOf(wire, `GET ${PATH}`, 'Host: other.example.test'), /^404 .*tunnel_not_found/);
  rig.node.setChallenges([]);
  assert.equal(await answerOf(wire, `GET ${PATH}`), `200 service GET ${PATH}`);
});

test('the answer comes through maintenance and for a tunnel without agent, is plain text and nothing else', async (t) => {
  const rig = await Rig.start(t);
  rig.route('shop', { maintenance: 'closed' });
  rig.node.setChallenges([HTTP]);
  const wire = await rig.visit();
  wire.ask(`GET ${PATH}`, 'Accept: text/html');
  const { head, body } = await wire.response();
  assert.match(head, /^HTTP\/1\.1 200 OK\r\nContent-Type: application\/octet-stream\r\nContent-Length: 38\r\n/);
  assert.doesNotMatch(head, /culvert-error/);
  assert.equal(body, HTTP.keyAuthorization);
});

interface Shown {
  readonly serial: string;
  readonly protocol: string | false | null;
}

async function shake(port: number, over: ConnectionOptions): Promise<Shown> {
  const to = { host: '127.0.0.1', port, servername: 'shop.example.test', rejectUnauthorized: false, ...over };
  const socket = connect(to);
  await once(socket, 'secureConnect');
  const serial = socket.getPeerX509Certificate()?.serialNumber ?? '';
  const protocol = socket.alpnProtocol;
  if (protocol === 'acme-tls/1') {
    // It answers nothing in this protocol.
    socket.on('error', () => {}).write('GET / HTTP/1.1\r\nHost: shop.example.test\r\n\r\n');
    let text = '';
    socket.on('data', (bytes: Buffer) => (text += bytes.toString()));
    await once(socket, 'close');
    assert.equal(text, '');
  }
  socket.destroy();
  return { serial, protocol };
}

const serialOf = ({ cert }: TestCertificate): string => new X509Certificate(cert).serialNumber;

test('by TLS the proof is shown to who speaks the protocol of authorities, and visitors get their certificate', async (t) => {
  const rig = await shop(t);
  rig.node.setCertificates([own]);
  const asAuthority = { ALPNProtocols: ['acme-tls/1'] };
  await assert.rejects(shake(rig.httpsPort, asAuthority), /no application protocol/, 'no order runs');
  rig.node.setChallenges([{ type: 'tls-alpn-01', name: 'shop.example.test', certificate: proof }]);
  const shown = { serial: serialOf(proof), protocol: 'acme-tls/1' };
  assert.deepEqual(await shake(rig.httpsPort, asAuthority), shown);
  assert.deepEqual(await shake(rig.httpsPort, { ...asAuthority, servername: 'Shop.example.test' }), shown);
  for (const ALPNProtocols of [['http/1.1'], undefined]) {
    const visitor = await shake(rig.httpsPort, ALPNProtocols === undefined ? {} : { ALPNProtocols });
    assert.deepEqual(visitor, { serial: serialOf(own), protocol: ALPNProtocols?.[0] ?? false });
  }
  await assert.rejects(shake(rig.httpsPort, { ...asAuthority, servername: 'news.example.test' }), /no application/);
  rig.node.setChallenges([]);
  await assert.rejects(shake(rig.httpsPort, asAuthority), /no application protocol/);
});

test('an authority that speaks TLS 1.2 alone gets the proof too', async (t) => {
  const rig = await shop(t);
  rig.node.setCertificates([own]);
  rig.node.setChallenges([{ type: 'tls-alpn-01', name: 'shop.example.test', certificate: proof }]);
  const shown = await shake(rig.httpsPort, { ALPNProtocols: ['acme-tls/1'], maxVersion: 'TLSv1.2' });
  assert.deepEqual(shown, { serial: serialOf(proof), protocol: 'acme-tls/1' });
});

test('an authority does not wait for the certificate that waits for it', { timeout: 120_000 }, async (t) => {
  const rig = await Rig.start(t, { certificatesOnDemand: true });
  const origin = await httpOrigin(t, (_request, response) => response.end());
  await rig.serve('shop', origin.port);
  rig.link.onWanted = () => new Promise(() => {});
  rig.node.setChallenges([{ type: 'tls-alpn-01', name: 'shop.example.test', certificate: proof }]);
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const shown = await shake(rig.httpsPort, { ALPNProtocols: ['acme-tls/1'], maxVersion });
    assert.equal(shown.serial, serialOf(proof), maxVersion);
  }
  assert.deepEqual(rig.link.wanted, []);
});
