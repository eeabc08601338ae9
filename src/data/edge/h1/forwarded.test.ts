import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import fc from 'fast-check';
import { httpOrigin, Rig, type Wire } from '../testing/rig.ts';

const WITHIN = { timeout: 120_000 };

/** What the service gets to see of a request. */
async function headersOf(wire: Wire, ...fields: string[]): Promise<IncomingHttpHeaders> {
  wire.ask('GET /', ...fields);
  return JSON.parse((await wire.response()).body) as IncomingHttpHeaders;
}

function pick(headers: IncomingHttpHeaders): unknown[] {
  return ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-real-ip'].map((name) => headers[name]);
}

const SPOOFED = [
  'X-Forwarded-For: 6.6.6.6',
  'X-Forwarded-Proto: gopher',
  'X-Forwarded-Host: evil.test',
  'X-Real-IP: 6.6.6.6',
];

test('forwarded: the service gets address, scheme and host from the edge alone', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (request, response) => response.end(JSON.stringify(request.headers)));
  await rig.serve('shop', origin.port);
  for (const tls of [false, true]) {
    const wire = await rig.visit({ tls });
    const told = ['127.0.0.1', tls ? 'https' : 'http', 'Shop.example.test:81', '127.0.0.1'];
    const headers = await headersOf(
      wire,
      'Host: Shop.example.test:81',
      ...SPOOFED,
      'Forwarded: for=6.6.6.6',
      'X_Real_IP: 6.6.6.6',
      'X-Forwarded-Port: 1',
      ...[
        'X-Original-URL: /admin',
        'X_Rewrite_URL: /admin',
        'X-Original-Host: evil.test',
        'X-Cluster-Client-IP: 6.6.6.6',
      ],
    );
    assert.deepEqual(pick(headers), told);
    assert.equal(headers.host, 'Shop.example.test:81');
    assert.deepEqual(
      Object.keys(headers).filter((name) => /forwarded|real|original|rewrite|cluster/.test(name)).length,
      4,
    );
  }
});

test('forwarded: an IPv6 visitor is written as such', WITHIN, async (t) => {
  const rig = await Rig.start(t, { host: '::1' });
  const origin = await httpOrigin(t, (request, response) => response.end(JSON.stringify(request.headers)));
  await rig.serve('shop', origin.port);
  const wire = await rig.visit({ host: '::1' });
  assert.deepEqual(pick(await headersOf(wire, ...SPOOFED)), ['::1', 'http', 'shop.example.test', '::1']);
});

test('forwarded: a chain of trusted proxies is believed up to the first stranger', WITHIN, async (t) => {
  const rig = await Rig.start(t, { trustedProxies: ['127.0.0.0/8', '10.0.0.0/8', 'fd00::/8'] });
  const origin = await httpOrigin(t, (request, response) => response.end(JSON.stringify(request.headers)));
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  const through = async (chain: string[]): Promise<unknown[]> =>
    pick(
      await headersOf(
        wire,
        ...chain.map((value) => `X-Forwarded-For: ${value}`),
        'X-Forwarded-Proto: HTTPS',
        'X-Forwarded-Host: shop.test',
      ),
    );
  assert.deepEqual(await through(['6.6.6.6, 203.0.113.9, 10.1.1.1']), [
    '6.6.6.6, 203.0.113.9, 10.1.1.1, 127.0.0.1',
    'https',
    'shop.test',
    '203.0.113.9',
  ]);
  assert.deepEqual(await through(['6.6.6.6', '2001:db8::1, fd00::1']), [
    '6.6.6.6, 2001:db8::1, fd00::1, 127.0.0.1',
    'https',
    'shop.test',
    '2001:db8::1',
  ]);
  // With the port of the visitor, as some proxies write it; what is no address ends the chain.
  for (const [written, ip] of [
    ['203.0.113.9:4711', '203.0.113.9'],
    ['[2001:db8::1]:4711', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['2001:0DB8:0:0::0001', '2001:db8::1'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['203.0.113.9, ::ffff:10.1.1.1', '203.0.113.9'],
    ['nonsense', '127.0.0.1'],
    ['203.0.113.9, unknown', '127.0.0.1'],
    ['203.0.113.9, _hidden, 10.1.1.1', '10.1.1.1'],
    ['1.2.3.4:x', '127.0.0.1'],
    ['1.2.3', '127.0.0.1'],
  ] as const)
    assert.deepEqual(await through([written]), [`${written}, 127.0.0.1`, 'https', 'shop.test', ip]);
  assert.deepEqual(await through([]), ['127.0.0.1', 'https', 'shop.test', '127.0.0.1']);
  assert.deepEqual(pick(await headersOf(wire, 'X-Forwarded-Proto: gopher')), [
    '127.0.0.1',
    'http',
    'shop.example.test',
    '127.0.0.1',
  ]);
});

test('of a trusted proxy one /64 network is one client, however it is written', WITHIN, async (t) => {
  const rig = await Rig.start(t, { trustedProxies: ['127.0.0.1'] });
  const origin = await httpOrigin(t, (_, response) => response.end());
  await rig.serve('shop', origin.port);
  const rate = { kind: 'rate_limit', requestsPerMinute: 1, perClientIp: true, enforce: true } as const;
  rig.route('shop', { policy: { setAt: 1, actions: [rate] } });
  const wire = await rig.visit();
  for (const [written, status] of [
    ['2001:db8:0:1::1', 200],
    ['2001:db8:0:1:ffff::2', 429],
    ['2001:0db8:0:1::4', 429],
    ['2001:DB8:0000:1::4', 429],
    ['[2001:db8:0:1::9]:443', 429],
    ['2001:db8:0:1::9%eth0', 429],
    ['2001:db8:0:2::1', 200],
    ['64:ff9b::192.0.2.1', 200],
    ['192.0.2.1', 200],
    ['::ffff:192.0.2.1', 429],
  ] as const) {
    wire.ask('GET /', `X-Forwarded-For: ${written}`);
    assert.equal((await wire.response()).status, status, written);
  }
});

test('forwarded: no address rule allows a visitor whose trusted proxy gives no address', WITHIN, async (t) => {
  const rig = await Rig.start(t, { trustedProxies: ['127.0.0.1'] });
  const origin = await httpOrigin(t, (_, response) => response.end());
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  const ask = async (written: string): Promise<number> => {
    wire.ask('GET /', `X-Forwarded-For: ${written}`);
    return (await wire.response()).status;
  };
  const written = ['unknown', '"10.1.1.1"', '010.1.1.1', '10.1.1', '10.1.1.1:x', '_hidden'];
  for (const kind of ['ip_deny', 'ip_allow'] as const) {
    const networks = kind === 'ip_deny' ? ['10.0.0.0/8'] : ['0.0.0.0/0', '::/0'];
    rig.route('shop', { policy: { setAt: 1, actions: [{ kind, networks, enforce: true }] } });
    for (const text of written) assert.equal(await ask(text), 403, `${kind} ${text}`);
    assert.equal(await ask('192.0.2.1'), 200);
  }
  rig.route('shop', { policy: { setAt: 1, actions: [{ kind: 'deny', pathPrefix: '/admin', enforce: true }] } });
  for (const text of written) assert.equal(await ask(text), 200, text);
});

const token = fc.string({ unit: fc.constantFrom(..."!#$%&'*+.^`|~0189azAZ-".split('')), minLength: 1, maxLength: 20 });
const value = fc
  .string({ unit: fc.constantFrom(...'azAZ09 \t,;="\\(){}\xe4\xff'.split('')), maxLength: 60 })
  .map((text) => text.trim());
const path = fc
  .string({ unit: fc.constantFrom(..."azAZ09/?&=%.~-_:;,'()@!$*+[]|^".split('')), maxLength: 80 })
  .map((text) => `/${text}`);
const payload = fc.string({
  unit: fc.constantFrom('a', 'b', '\r\n', '\0', '0\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n'),
  maxLength: 30,
});
const request = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND'),
  path,
  absolute: fc.boolean(),
  fields: fc.array(
    fc.tuple(
      token.map((name) => `X-${name}`),
      value,
    ),
    { maxLength: 12 },
  ),
  body: fc.option(fc.record({ chunks: fc.array(payload, { maxLength: 5 }), chunked: fc.boolean() }), {
    nil: undefined,
  }),
  cuts: fc.array(fc.nat(400), { maxLength: 4 }),
});

test('what is forwarded is read by node:http as the one request that was sent', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (got, response) => {
    let body = '';
    got.setEncoding('latin1').on('data', (chunk: string) => (body += chunk));
    got.on('end', () => {
      const seen = { method: got.method, url: got.url, headers: got.rawHeaders, body };
      response.end(Buffer.from(JSON.stringify(seen), 'latin1'));
    });
  });
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path: target, absolute, fields, body, cuts }) => {
      const lines = [
        `${method} ${absolute ? 'http://shop.example.test' : ''}${target} HTTP/1.1`,
        'Host: shop.example.test',
      ];
      const sent = fields.filter(([name]) => !/^x-(forwarded|real-ip|client-ip)/i.test(name));
      for (const [name, text] of sent) lines.push(`${name}: ${text}`);
      const whole = body?.chunks.join('') ?? '';
      if (body !== undefined)
        lines.push(body.chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${whole.length}`);
      let text = `${lines.join('\r\n')}\r\n\r\n`;
      if (body?.chunked === true) {
        for (const chunk of body.chunks) if (chunk !== '') text += `${chunk.length.toString(16)};x\r\n${chunk}\r\n`;
        text += '0\r\n\r\n';
      } else text += whole;
      let from = 0;
      for (const cut of [...cuts].sort((a, b) => a - b)) {
        wire.send(text.slice(from, cut));
        from = Math.max(from, Math.min(cut, text.length));
        await new Promise((resolve) => setImmediate(resolve));
      }
      wire.send(text.slice(from));
      const reply = await wire.response();
      assert.equal(reply.status, 200, reply.body);
      const seen = JSON.parse(reply.body) as { method: string; url: string; headers: string[]; body: string };
      assert.deepEqual([seen.method, seen.url, seen.body], [method, target, whole]);
      const pairs: Array<readonly [string, string]> = [];
      for (let i = 0; i < seen.headers.length; i += 2)
        pairs.push([seen.headers[i] as string, seen.headers[i + 1] as string]);
      const own = pairs.splice(1 + sent.length);
      assert.deepEqual(pairs, [['Host', 'shop.example.test'], ...sent]);
      const framing =
        body === undefined
          ? []
          : body.chunked
            ? [['Transfer-Encoding', 'chunked']]
            : [['Content-Length', `${whole.length}`]];
      assert.deepEqual(own, [
        ['X-Forwarded-For', '127.0.0.1'],
        ['X-Forwarded-Proto', 'http'],
        ['X-Forwarded-Host', 'shop.example.test'],
        ['X-Real-IP', '127.0.0.1'],
        ...framing,
      ]);
    }),
    { numRuns: 500 },
  );
});
