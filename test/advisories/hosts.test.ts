/** A request reaches the tunnel of its host alone, in every form of the host, and stays with the service of that tunnel. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:tls';
import { test } from 'node:test';
import { Wire } from '../../src/data/edge/testing/rig.ts';
import { answersIn, edgeFixture, request, say } from './fixture.ts';

const WITHIN = { timeout: 120_000 };
const edge = edgeFixture();
const SHOP = 'shop.example.test';

/** What the edge says to each of these, and the service that it went to. */
async function reached(text: string, tls = false): Promise<string> {
  const { rig, take } = edge();
  const [answer] = answersIn(await say(tls ? rig.httpsPort : rig.port, text, { tls }));
  const went = take().map(({ service }) => service);
  return answer === '200' ? went.join() : `${answer}${went.map((service) => ` and ${service}`).join()}`;
}

// biome-ignore format: a table
const HOSTS: ReadonlyArray<readonly [what: string, host: string, outcome: string]> = [
  ['itself',                      SHOP,                          'shop'],
  ['with a port',                 `${SHOP}:8080`,                'shop'],
  ['with a port of five digits',  `${SHOP}:65535`,               'shop'],
  ['with a dot at its end',       `${SHOP}.`,                    'shop'],
  ['with dot and port',           `${SHOP}.:80`,                 'shop'],
  ['in capitals',                 'SHOP.Example.TEST',           'shop'],
  ['with blanks around it',       ` \t${SHOP}\t `,               'shop'],
  ['with two dots at its end',    `${SHOP}..`,                   '404 tunnel_not_found'],
  ['with a dot before it',        `.${SHOP}`,                    '404 tunnel_not_found'],
  ['below the tunnel',            `x.${SHOP}`,                   '404 tunnel_not_found'],
  ['the domain of the edge',      'example.test',                '404 tunnel_not_found'],
  ['the label alone',             'shop',                        '404 tunnel_not_found'],
  ['another domain',              'shop.evil.test',              '404 tunnel_not_found'],
  ['a domain that ends alike',    'shopexample.test',            '404 tunnel_not_found'],
  ['the name as a parent',        `${SHOP}.evil.test`,           '404 tunnel_not_found'],
  ['an underscore',               'shop_.example.test',          '404 tunnel_not_found'],
  ['punycode',                    'xn--shp-hoa.example.test',    '404 tunnel_not_found'],
  ['IPv4',                        '127.0.0.1',                   '404 tunnel_not_found'],
  ['IPv4 as a number',            '2130706433',                  '404 tunnel_not_found'],
  ['IPv6',                        '[::1]:80',                    '404 tunnel_not_found'],
  ['a name of an object',         '__proto__',                   '404 tunnel_not_found'],
  ['254 characters',              'a.'.repeat(127),            '404 tunnel_not_found'],
  ['300 characters',              'a'.repeat(300),             '400 bad_request'],
  ['empty',                       '',                            '400 bad_request'],
  ['a port alone',                ':80',                         '400 bad_request'],
  ['an empty port',               `${SHOP}:`,                    '400 bad_request'],
  ['a port with letters',         `${SHOP}:80x`,                 '400 bad_request'],
  ['a port of six digits',        `${SHOP}:000080`,              '400 bad_request'],
  ['two ports',                   `${SHOP}:80:80`,               '400 bad_request'],
  ['letters beyond ASCII',        'sh\u00f6p.example.test',      '400 bad_request'],
  ['a user',                      `x@${SHOP}`,                   '400 bad_request'],
  ['a user that is a host',       `${SHOP}@evil.test`,           '400 bad_request'],
  ['two names',                   `${SHOP}, evil.test`,          '400 bad_request'],
  ['two words',                   `${SHOP} evil.test`,           '400 bad_request'],
  ['a path',                      `${SHOP}/x`,                   '400 bad_request'],
  ['a backslash',                 `${SHOP}\\evil.test`,          '400 bad_request'],
  ['a query',                     `${SHOP}?x`,                   '400 bad_request'],
  ['percent signs',               'sh%6fp.example.test',         '400 bad_request'],
  ['brackets that stay open',     '[::1',                        '400 bad_request'],
  ['a NUL',                       `${SHOP}\0`,                   '400 bad_request'],
];

test('class 2 host confusion: one spelling of a name means one tunnel, or none', WITHIN, async () => {
  for (const [what, host, outcome] of HOSTS)
    assert.equal(await reached(request('GET /', `Host: ${host}`)), outcome, what);
});

test('class 2 host confusion: two Hosts, none, and one in other clothes', WITHIN, async () => {
  const shop = `Host: ${SHOP}`;
  const shed = 'Host: shed.example.test';
  for (const [what, ...fields] of [
    ['two', shop, shed],
    ['the same twice', shop, shop],
    ['the second is empty', shop, 'Host:'],
    ['a space before the colon', shop, 'Host : shed.example.test'],
    ['the first is folded', ' Host: shed.example.test', shop],
    ['the second is folded', shop, ' Host: shed.example.test'],
    ['Connection names it', shop, 'Connection: host'],
    ['Connection names it in capitals', shop, 'Connection: close, HOST'],
  ] as const)
    assert.equal(await reached(request('GET /', ...fields)), '400 bad_request', what);
  assert.equal(await reached('GET / HTTP/1.1\r\n\r\n'), '400 bad_request', 'none');
  assert.equal(await reached('GET / HTTP/1.0\r\n\r\n'), '400 bad_request', 'none, in HTTP/1.0');
  const others = ['X-Forwarded-Host', 'X-Host', 'X-Original-Host', 'X-HTTP-Host-Override', 'Forwarded', 'H_ost'];
  for (const name of others)
    assert.equal(await reached(request('GET /', shop, `${name}: host=shed.example.test`)), 'shop', name);
});

test('class 2 host confusion: an absolute target names the same host, or nothing is forwarded', WITHIN, async () => {
  const at = (target: string, host = SHOP): Promise<string> => reached(request(`GET ${target}`, `Host: ${host}`));
  for (const target of [
    `http://${SHOP}/`,
    `HTTPS://${SHOP}/`,
    `http://SHOP.example.test/x`,
    `http://${SHOP}`,
    `http://${SHOP}?q`,
  ])
    assert.equal(await at(target), 'shop', target);
  for (const target of [
    'http://shed.example.test/',
    `http://${SHOP}:80/`,
    `http://${SHOP}./`,
    `http://x@${SHOP}/`,
    `http://${SHOP}@shed.example.test/`,
    `http://${SHOP}\\@shed.example.test/`,
    `http://shed.example.test\\.${SHOP}/`,
    `http:/${SHOP}/`,
    `http:///${SHOP}/`,
    `ftp://${SHOP}/`,
    `ws://${SHOP}/`,
    SHOP,
    'file:///etc/passwd',
    `${SHOP}:80`,
    '*',
  ])
    assert.equal(await at(target), '400 bad_request', target);
  assert.equal(await at('http://shed.example.test/', SHOP), '400 bad_request');
});

test('class 2 host confusion: each request of a connection goes where its own Host says', WITHIN, async () => {
  const { rig, take } = edge();
  const names = ['shop', 'shed', 'SHOP', 'nowhere', 'shed', 'shop'];
  const text = names.map((name) => request('GET /', `Host: ${name}.example.test`)).join('');
  const answers = answersIn(await say(rig.port, text));
  assert.deepEqual(answers, ['200', '200', '200', '404 tunnel_not_found', '200', '200']);
  assert.deepEqual(
    take().map(({ service }) => service),
    ['shop', 'shed', 'shop', 'shed', 'shop'],
  );
});

test(
  'class 2 host confusion: over TLS the same Host decides, and no name that was asked for opens another',
  WITHIN,
  async () => {
    const { rig, take } = edge();
    assert.equal(await reached(request('GET /'), true), 'shop');
    for (const servername of ['shed.example.test', 'evil.test']) {
      const socket = connect({ port: rig.httpsPort, host: '127.0.0.1', servername, rejectUnauthorized: false });
      const wire = new Wire(socket);
      await once(socket, 'secureConnect');
      wire.ask('GET /', `Host: ${SHOP}`);
      const { status } = await wire.response();
      // The certificate of the rig names neither: what was asked for in the handshake is all that counts.
      assert.deepEqual([status, take()], [421, []], servername);
      socket.destroy();
    }
  },
);

test(
  'zrok 2.0.3: whatever the target of a request says, it goes to the service of the tunnel, as it was sent',
  WITHIN,
  async () => {
    const { rig, take } = edge();
    const targets = [
      '//shed.example.test/x',
      '//127.0.0.1:22/',
      '/http://evil.test/',
      '/\\evil.test',
      '/@evil.test',
      '/:80/x',
    ];
    for (const target of targets) {
      assert.deepEqual(answersIn(await say(rig.port, request(`GET ${target}`))), ['200'], target);
      assert.deepEqual(
        take().map(({ service, line }) => [service, line]),
        [['shop', `GET ${target}`]],
      );
    }
    for (const method of ['CONNECT', 'connect', 'Connect']) {
      for (const target of ['127.0.0.1:22', 'shed.example.test:80', '/', `http://${SHOP}/`])
        assert.equal(await reached(request(`${method} ${target}`)), '400 bad_request', `${method} ${target}`);
    }
  },
);

test(
  'NetBird UnknownDomain, HostWithPortIsMatched: a name without a tunnel is said to be unknown, one with a port is the name',
  WITHIN,
  async () => {
    assert.equal(await reached(request('GET /', 'Host: none.example.test')), '404 tunnel_not_found');
    assert.equal(await reached(request('GET /', `Host: ${SHOP}:8443`)), 'shop');
  },
);

test(
  'NetBird UnparseableAddress: a visitor that sends nonsense is answered, and the next one served',
  WITHIN,
  async () => {
    const { rig } = edge();
    for (const text of [
      '\0\0\0\0\r\n\r\n',
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
      'SSH-2.0-OpenSSH_9\r\n',
      '{}\n',
      '\r\n'.repeat(9),
    ]) {
      const answers = answersIn(await say(rig.port, text));
      assert.ok(answers.length === 0 || answers.join() === '400 bad_request', JSON.stringify(text));
      assert.equal(await reached(request('GET /')), 'shop');
    }
  },
);
