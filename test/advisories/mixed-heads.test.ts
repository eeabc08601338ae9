/** Everything that is left out of a head, or put into it, at once and in any order: a visitor gate, headers of a policy, hop-by-hop fields. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpOrigin, Rig } from '../../src/data/edge/testing/rig.ts';
import { idOf, VISITOR_KEY } from '../../src/data/fixtures/link.ts';
import type { PolicyAction } from '../../src/plane/policy.ts';
import { sealPass } from '../../src/plane/visitor-tokens.ts';
import { type Random, randomOf } from '../fuzz/cases.ts';

const ACTIONS: readonly PolicyAction[] = [
  { kind: 'header_set', name: 'X-Tenant', value: 'blue', enforce: true },
  { kind: 'header_set', name: 'Accept', value: 'x/y', enforce: true },
  { kind: 'response_header_set', name: 'X-Out', value: 'edge', enforce: true },
];
const PASS = `culvert_visitor=${sealPass(Buffer.from(VISITOR_KEY, 'base64url'), {
  ...{ tunnelId: idOf('shop'), version: '1', host: 'shop.example.test', email: 'ann@example.test' },
  expiresAt: Date.now() + 3_600_000,
  browserHash: '',
})}`;
// biome-ignore format: a table
const COOKIES = [
  PASS, `${PASS} `, 'a=1', 'b="x; y"', '', ' ', '=culvert_visitor=z', 'CULVERT_VISITOR=q', 'culvert_nonce=1', '__Host-culvert_nonce=2', 'x', `c=${'v'.repeat(300)}`,
];
// biome-ignore format: a table
const NAMES = [
  'X-Tenant', 'x_tenant', 'X-TENANT', 'Accept', 'accept', 'X-A', 'X-B', 'Culvert-Visitor-Email', 'culvert_visitor_email', 'X-Forwarded-For', 'x-real-ip', 'TE',
  'Keep-Alive', 'Authorization', 'Upgrade', 'Proxy-Authorization', 'X-Original-URL',
];
// biome-ignore format: a table
const NOMINATED = [
  'close', 'keep-alive', 'X-Tenant', 'x_tenant', 'Cookie', 'X-A', 'x-b', 'Accept', 'Upgrade', 'Authorization', 'te', 'Culvert-Visitor-Email', 'X-Real-IP',
];
const NEVER = ['te', 'keep-alive', 'proxy-authorization', 'x-original-url', 'upgrade'];
const TARGETS = ['/', '/x?y', 'http://shop.example.test/', 'http://shop.example.test', 'http://shop.example.test?q'];

/** A request that must pass: it shows the pass at least once. */
function requestOf(random: Random): string {
  const below = (count: number): number => Math.floor(random() * count);
  const pick = (list: readonly string[]): string => list[below(list.length)] ?? '';
  const some = (list: readonly string[], most: number, between: string): string =>
    Array.from({ length: 1 + below(most) }, () => pick(list)).join(between);
  const lines = Array.from(
    { length: 1 + below(3) },
    () => `${pick(['Cookie', 'COOKIE'])}: ${some(COOKIES, 5, pick(['; ', ';']))}`,
  );
  for (let i = below(8); i > 0; i--) lines.push(`${pick(NAMES)}: red`);
  if (below(2) === 0) lines.push(`Connection: ${some(NOMINATED, 4, ', ')}`);
  if (!lines.some((line) => line.includes(PASS))) lines.push(`Cookie: ${PASS}`);
  const hasBody = below(3) === 0;
  if (hasBody) lines.push('Content-Length: 5');
  for (let i = lines.length - 1; i > 0; i--) {
    const j = below(i + 1);
    [lines[i], lines[j]] = [lines[j] ?? '', lines[i] ?? ''];
  }
  const first = `${hasBody ? 'POST' : 'GET'} ${pick(TARGETS)} HTTP/1.1`;
  return `${[first, 'Host: shop.example.test', ...lines].join('\r\n')}\r\n\r\n${hasBody ? 'hello' : ''}`;
}

test('class 5 header trust: in whatever order a head has its fields, the service gets what the edge says, once', {
  timeout: 120_000,
}, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (got, response) => {
    got.resume();
    got.on('end', () => {
      response.setHeader('Set-Cookie', ['a=1; Domain=example.test', 'b=2']).setHeader('X-Out', 'service');
      response.setHeader('Connection', 'keep-alive, X-Hop').setHeader('X-Hop', '1');
      response.end(JSON.stringify(got.rawHeaders));
    });
  });
  await rig.serve('shop', origin.port);
  const visitorGate = { version: '1', signInUrl: 'http://api.test/edge-auth/start' };
  rig.route('shop', { visitorGate, policy: { setAt: 1, actions: ACTIONS } });
  const random = randomOf(20_261_121);
  let wire = await rig.visit();
  for (let n = 0; n < 600; n++) {
    const text = requestOf(random);
    wire.send(text);
    const { status, head, body } = await wire.response();
    assert.equal(status, 200, text);
    const raw = JSON.parse(body) as string[];
    // As a service behind CGI reads names.
    const valuesOf = (name: string): string[] =>
      raw.filter((_value, i) => i % 2 === 1 && raw[i - 1]?.toLowerCase().replaceAll('_', '-') === name);
    const why = `${text}\n${raw.join('\n')}`;
    assert.deepEqual(valuesOf('x-tenant'), ['blue'], why);
    assert.deepEqual(valuesOf('accept'), ['x/y'], why);
    assert.deepEqual(valuesOf('culvert-visitor-email'), ['ann@example.test'], why);
    assert.deepEqual([...valuesOf('x-real-ip'), ...valuesOf('x-forwarded-for')], ['127.0.0.1', '127.0.0.1'], why);
    for (const name of NEVER) assert.deepEqual(valuesOf(name), [], why);
    assert.doesNotMatch(valuesOf('cookie').join(), /culvert_(visitor|nonce)/i, why);
    assert.equal(head.match(/\r\nX-Out: edge\r\n/g)?.length, 1, head);
    assert.doesNotMatch(head, /service|X-Hop|Domain=/i, head);
    if (!/\r\nConnection: close\r\n/.test(head)) continue;
    wire.socket.destroy();
    wire = await rig.visit();
  }
  wire.socket.destroy();
});
