/**
 * Recorded requests that are sent again, over HTTP, with a data node that is played: who may, when it is refused, and what the node is asked
 * for. What becomes of it there: src/data/edge/server-requests/tunnel-request.test.ts, test/flows/replay.test.ts.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { uuidv7 } from 'uuidv7';
import type { Role } from '../../core/rules/actor.ts';
import type { ReplayRules } from './service.ts';
import type { InspectedRequest, Trace, TunnelAnswer, TunnelRequest } from '../../../plane/inspection.ts';
import { IDLE_NODE } from '../../core/testing/idle-node.ts';
import { Plane } from '../../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../core/testing/plane-api.ts';
import { type Person, said, Team } from '../../core/testing/team.ts';

const NEW = '019aa3c2-5b95-7d13-9b1e-6a0c2f4d8b21';
const ANSWER: TunnelAnswer = { ok: true, id: NEW, status: 201, code: null, latencyMs: 12.5 };
const HEAD = [
  'POST /orders?a=%20b HTTP/1.1',
  'X-B: 1',
  'Host: SHOP.localhost:8080',
  'Content-Type: application/json',
  'x-b: 2',
  'Authorization: Bearer t',
  'X-Name: caf\u00e9',
  'Expect: 100-continue',
  'Trailer: X-Sum',
  'X-Forwarded-For: 203.0.113.9',
  'X-Forwarded-Proto: https',
  'X-Forwarded-Host: SHOP.localhost:8080',
  'X-Real-IP: 203.0.113.9',
  'Culvert-Visitor-Email: eve@example.test',
  'Culvert-Replay: 019aa3c2-5b95-7d13-9b1e-6a0c2f4d8b22',
  'Culvert-Webhook-Delivery: 7',
  'Content-Length: 7',
];

let plane: Plane;
let api: PlaneApi;
let team: Team;
let ann: Person;
let tunnelId: string;
let rules: ReplayRules;
/** Tunnels that the node serves. */
let online: Set<string>;
let asked: TunnelRequest[];
let answer: (request: TunnelRequest) => Promise<TunnelAnswer>;
beforeEach(async () => {
  rules = { enabled: true, allow: ['*'] };
  // Read at each call: a test changes them.
  const replay = {
    get enabled() {
      return rules.enabled;
    },
    get allow() {
      return rules.allow;
    },
  };
  plane = new Plane(undefined, { replay });
  api = await servePlane(plane);
  team = new Team(plane, api);
  ann = await team.person('ann@example.test');
  [online, asked, answer] = [new Set(), [], async () => ANSWER];
  plane.control.nodes.attach({
    ...IDLE_NODE,
    isOnline: (id) => online.has(id),
    send: (request) => {
      asked.push(request);
      return answer(request);
    },
  });
  tunnelId = String((await ann.call('POST', '/tunnels', { localPort: 3000, subdomain: 'shop' })).body['id']);
  online.add(tunnelId);
});
afterEach(async () => {
  await api.close();
  plane.close();
});

/** Stores a record; its id. */
async function recorded(over: Partial<InspectedRequest> = {}, trace: Partial<Trace> = {}): Promise<string> {
  const id = uuidv7();
  const body = Buffer.from('{"n":1}');
  const record: InspectedRequest = {
    id,
    tunnelId,
    orgId: ann.home,
    at: plane.now,
    method: 'POST',
    target: '/orders?a=%20b',
    status: 200,
    latencyMs: 3,
    requestSize: body.length,
    responseSize: 0,
    remoteIp: '203.0.113.9',
    requestHead: headOf(HEAD),
    responseHead: null,
    requestBody: body,
    requestBodyTruncated: false,
    responseBody: Buffer.alloc(0),
    responseBodyTruncated: false,
    replayOf: null,
    ...over,
    trace: {
      outcome: 'forwarded',
      code: null,
      host: 'shop.localhost',
      scheme: 'https',
      httpVersion: '1.1',
      steps: [],
      agentId: null,
      tokenId: null,
      connection: 'fresh',
      retried: false,
      policyMs: 0,
      firstByteMs: 1,
      ...trace,
    },
  };
  await plane.control.link.inspect({ records: [record], unrecorded: [] });
  return id;
}

function headOf(lines: readonly string[]): Buffer {
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/** A member of Ann's organization, acting in it. */
async function colleague(email: string, role: Role): Promise<Person> {
  const person = await team.member(email, ann, role);
  const as = await team.acting(person, ann.home);
  return { ...person, call: (method, path, body) => api.call(method, path, { as, body }) };
}

const replay = (id: string, body?: object, by = ann) => by.call('POST', `/inspector/${id}/replay`, body);

test('it goes down its tunnel as the service got it, without what the edge had put in', async () => {
  const id = await recorded();
  const done = await replay(id);
  assert.deepEqual([done.status, done.body], [200, { id: NEW, status: 201, latency_ms: 12.5 }]);
  const [sent] = asked;
  assert.ok(sent !== undefined && asked.length === 1);
  const { body, ...rest } = sent;
  assert.equal(Buffer.from(body).toString(), '{"n":1}');
  assert.deepEqual(rest, {
    tunnelId,
    method: 'POST',
    target: '/orders?a=%20b',
    fields: [
      ['X-B', '1'],
      ['Content-Type', 'application/json'],
      ['x-b', '2'],
      ['Authorization', 'Bearer t'],
      ['X-Name', 'caf\u00e9'],
      ['Culvert-Webhook-Delivery', '7'],
    ],
    host: 'SHOP.localhost:8080',
    clientIp: '203.0.113.9',
    scheme: 'https',
    replayOf: id,
    timeoutMs: 60_000,
  });
});

test('what the edge answered by itself comes with its code', async () => {
  answer = async () => ({ ok: true, id: NEW, status: 403, code: 'denied', latencyMs: 1 });
  const { status, body } = await replay(await recorded());
  assert.deepEqual([status, body], [200, { id: NEW, status: 403, latency_ms: 1, code: 'denied' }]);
});

test('the caller may change it', async () => {
  const id = await recorded();
  await replay(id, {
    method: 'PUT',
    path: '/other?b=1',
    headers: { 'x-b': '9', 'Content-Type': null, 'X-New': ['1', '2'], AUTHORIZATION: 'Bearer u' },
    body: Buffer.from([0, 255, 10]).toString('base64'),
  });
  const [sent] = asked;
  assert.deepEqual([sent?.method, sent?.target, [...(sent?.body ?? [])]], ['PUT', '/other?b=1', [0, 255, 10]]);
  assert.deepEqual(sent?.fields, [
    ['X-B', '9'],
    ['Authorization', 'Bearer u'],
    ['X-Name', 'caf\u00e9'],
    ['Culvert-Webhook-Delivery', '7'],
    ['X-New', '1'],
    ['X-New', '2'],
  ]);
  await replay(id, { body: '' });
  assert.equal(asked[1]?.body.length, 0);
  await replay(id, {});
  assert.equal(asked[2]?.body.length, 7);
});

// biome-ignore format: a table
const BAD: ReadonlyArray<readonly [string, object]> = [
  ['a method with a blank', { method: 'GET /' }],
  ['no method', { method: '' }],
  ['CONNECT', { method: 'Connect' }],
  ['a path without its slash', { path: 'a' }],
  ['an absolute path', { path: 'http://evil.test/' }],
  ['a path with a blank', { path: '/a b' }],
  ['a path with a line break', { path: '/a\r\nX: y' }],
  ['a path with a fragment', { path: '/#a' }],
  ['a path beyond bytes', { path: '/\u0120' }],
  ['a name that is none', { headers: { 'X Y': 'a' } }],
  ['an empty name', { headers: { '': 'a' } }],
  ['a name with a colon', { headers: { 'X:Y': 'a' } }],
  ['a value with a line break', { headers: { X: 'a\r\nY: b' } }],
  ['a value beyond bytes', { headers: { X: '\u010d\u010a' } }],
  ['a value that is a number', { headers: { X: 1 } }],
  ...[
    ...['Host', 'content-length', 'Content_Length', 'Transfer-Encoding', 'Connection', 'Upgrade', 'Expect', 'TE'],
    ...['X-Forwarded-For', 'x_forwarded_for', 'X-Real-IP', 'Forwarded', 'Culvert-Replay', 'culvert_visitor_email'],
  ].map((name) => [name, { headers: { [name]: 'a' } }] as const),
  ['a body that is no base64', { body: '!' }],
  ['no object', []],
];

test('changes that the edge would refuse are refused, and nothing is sent', async () => {
  const id = await recorded();
  for (const [what, body] of BAD) assert.deepEqual(said(await replay(id, body)), [400, 'invalid_request'], what);
  assert.deepEqual(asked, []);
});

test('a standard method may be written in lower case; any other is sent as it is written', async () => {
  const id = await recorded();
  for (const method of ['put', 'Patch', 'purge']) await replay(id, { method });
  assert.deepEqual(
    asked.map(({ method }) => method),
    ['PUT', 'PATCH', 'purge'],
  );
});

test('what is no change that there is, or no JSON, is refused by its name: nothing is sent unchanged', async () => {
  const id = await recorded();
  const misspelt = await replay(id, { method: 'PUT', header: { X: '1' }, bogus: 1 });
  assert.deepEqual(said(misspelt), [400, 'invalid_request']);
  assert.match(String(misspelt.body['message']), /header, bogus.*method, path, headers and body/);
  for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
    const headers = { 'content-type': type };
    const answer = await api.call('POST', `/inspector/${id}/replay`, { as: ann.token, raw: '{"path":"/b"}', headers });
    assert.deepEqual(said(answer), [400, 'invalid_request'], type);
  }
  assert.deepEqual(asked, []);
});

test('at most 100 headers may be changed', async () => {
  const id = await recorded();
  const change = (count: number) => ({
    headers: Object.fromEntries(Array.from({ length: count }, (_, i) => [`X-${i}`, 'a'])),
  });
  assert.deepEqual(said(await replay(id, change(100))), [200]);
  assert.deepEqual(said(await replay(id, change(101))), [400, 'invalid_request']);
});

test('replay: an unknown record, one of another organization, or no id at all is not found; switched off it is 501 whatever the id', async () => {
  const bob = await team.person('bob@example.test');
  const id = await recorded();
  for (const [by, which] of [
    [bob, id],
    [ann, uuidv7()],
    [ann, 'nonsense'],
  ] as const) {
    for (const allow of [['*'], []]) {
      rules = { enabled: true, allow };
      assert.deepEqual(said(await replay(which, undefined, by)), [404, 'not_found']);
    }
    rules = { enabled: false, allow: ['*'] };
    assert.deepEqual(said(await replay(which, undefined, by)), [501, 'not_implemented']);
  }
  assert.deepEqual(asked, []);
});

test('switched off it is 501, and a tunnel that is not on the list 403', async () => {
  const id = await recorded({ requestBodyTruncated: true });
  rules = { enabled: false, allow: ['*'] };
  const off = await replay(id);
  assert.deepEqual(said(off), [501, 'not_implemented']);
  assert.match(
    String(off.body['message']),
    /inspector\.replay = true\. .*local inspector \(http:\/\/127\.0\.0\.1:4040\)/,
  );
  rules = { enabled: true, allow: [uuidv7()] };
  assert.deepEqual(said(await replay(id)), [403, 'forbidden']);
  rules = { enabled: true, allow: [uuidv7(), tunnelId] };
  assert.deepEqual(said(await replay(id)), [409, 'body_truncated']);
  assert.deepEqual(said(await replay(await recorded())), [200]);
});

test('a viewer may not, whatever they send', async () => {
  const viv = await colleague('viv@example.test', 'viewer');
  const mia = await colleague('mia@example.test', 'member');
  const id = await recorded();
  for (const body of [undefined, {}, { method: 1 }])
    assert.deepEqual(said(await replay(id, body, viv)), [403, 'forbidden']);
  assert.deepEqual(asked, []);
  assert.deepEqual(said(await replay(id, undefined, mia)), [200]);
});

test('of a body only a part: refused before the agent is looked for, unless the caller has the whole one', async () => {
  online.clear();
  const length = HEAD.map((line) => (line.startsWith('Content-Length') ? 'Content-Length: 9' : line));
  for (const over of [{ requestBodyTruncated: true }, { requestHead: headOf(length) }]) {
    const id = await recorded(over);
    assert.deepEqual(said(await replay(id)), [409, 'body_truncated']);
    assert.deepEqual(said(await replay(id, { body: 'e30=' })), [503, 'tunnel_offline']);
  }
});

test('a body without a length is whole unless its visitor broke it off', async () => {
  const open = [...HEAD.slice(0, -1), 'Transfer-Encoding: chunked'];
  const requestHead = headOf(open);
  for (const [over, trace, expected] of [
    [{}, {}, [200]],
    [{ status: 0 }, { outcome: 'failed', code: null }, [409, 'body_truncated']],
    [{ status: 408 }, { outcome: 'failed', code: 'request_timeout' }, [409, 'body_truncated']],
    [{ status: 400 }, { outcome: 'failed', code: 'bad_request' }, [409, 'body_truncated']],
    [{ status: 504 }, { outcome: 'failed', code: 'local_timeout' }, [200]],
  ] as const)
    assert.deepEqual(
      said(await replay(await recorded({ ...over, requestHead }, trace))),
      expected,
      JSON.stringify(trace),
    );
});

test('replay: a request that the edge blocked is sent without the credentials that were not recorded', async () => {
  const blocked = { outcome: 'refused', code: 'denied' } as const;
  const lines = ['GET /hooks HTTP/1.0', 'Host: shop.localhost', 'X-Own: 1', 'Authorization:', 'cookie: ', 'X-Empty:'];
  const none = { requestBody: Buffer.alloc(0), requestBodyTruncated: true };
  const sent = await replay(await recorded({ ...none, requestHead: headOf(lines) }, blocked));
  assert.deepEqual([said(sent), sent.body['was_blocked']], [[200], true]);
  assert.deepEqual(asked.at(-1)?.fields, [
    ['X-Own', '1'],
    ['X-Empty', ''],
  ]);
  assert.equal((await replay(await recorded())).body['was_blocked'], undefined);
  // Its body was not read.
  for (const [over, trace] of [
    [{ requestHead: headOf([...lines, 'Content-Length: 2']) }, blocked],
    [{ requestHead: headOf([...lines, 'Transfer-Encoding: chunked']) }, blocked],
    [
      { requestHead: headOf(lines), method: 'POST' },
      { ...blocked, httpVersion: '2' },
    ],
  ] as const) {
    const id = await recorded({ ...none, ...over }, trace);
    assert.deepEqual(said(await replay(id)), [409, 'body_truncated']);
    assert.deepEqual(said(await replay(id, { body: 'e30=' })), [200]);
  }
});

test('replay: masked values are replaced by the caller, or it is refused and says which', async () => {
  const masked = [
    { side: 'request', kind: 'header', name: 'x-key' },
    { side: 'request', kind: 'query', name: 'token' },
    { side: 'request', kind: 'json_path', name: '$.card' },
    { side: 'response', kind: 'header', name: 'x-answer' },
  ] as const;
  const id = await recorded({ target: '/orders?token=***' }, { masked });
  const all = { headers: { 'X-Key': null }, path: '/orders?token=7', body: 'e30=' };
  for (const [left, named] of [
    ['headers', /x-key/],
    ['path', /token/],
    ['body', /\$\.card/],
  ] as const) {
    const { [left]: _left, ...rest } = all;
    const refused = await replay(id, rest);
    assert.deepEqual(said(refused), [409, 'conflict']);
    assert.match(String(refused.body['message']), named);
  }
  assert.deepEqual(said(await replay(id, all)), [200]);
});

test('what became another protocol can not be sent again', async () => {
  const upgrade = ['GET /ws HTTP/1.1', 'Host: shop.localhost', 'Connection: Upgrade', 'Upgrade: websocket'];
  const none = { requestBody: Buffer.alloc(0) };
  for (const id of [
    await recorded({ ...none, requestHead: headOf(upgrade), status: 101 }),
    await recorded({ ...none, requestHead: headOf(upgrade), status: 400 }),
    await recorded({ requestHead: Buffer.alloc(0) }),
  ])
    assert.deepEqual(said(await replay(id, { body: 'e30=' })), [409, 'conflict']);
  // The service has got it, whatever came back.
  assert.deepEqual(said(await replay(await recorded({}, { outcome: 'failed', code: 'local_timeout' }))), [200]);
});

test('without an agent, and of a tunnel that is gone, it is 503', async () => {
  const id = await recorded();
  answer = async () => ({ ok: false, code: 'tunnel_offline' });
  assert.deepEqual(said(await replay(id)), [503, 'tunnel_offline']);
  online.clear();
  assert.deepEqual(said(await replay(id)), [503, 'tunnel_offline']);
  online.add(tunnelId);
  await ann.call('DELETE', `/tunnels/${tunnelId}`);
  assert.deepEqual(said(await replay(id)), [503, 'tunnel_offline']);
  assert.equal(asked.length, 1);
});

test('where the node had no place for it, it is 503, and no record is mentioned', async () => {
  answer = async () => ({ ok: false, code: 'overloaded' });
  const refused = await replay(await recorded());
  assert.deepEqual(said(refused), [503, 'unavailable']);
  assert.equal(refused.body['retry_after_seconds'], 5);
  assert.equal(refused.body['id'], undefined);
});

test('a host that is no name of the tunnel is not told to the service', async () => {
  for (const [line, host] of [
    ['Host: shop.localhost', 'shop.localhost'],
    ['Host: shop.localhost.:80', 'shop.localhost.:80'],
    ['Host: old.localhost:8080', 'shop.localhost'],
    ['Host: shop.localhost:80:80', 'shop.localhost'],
    ['Host: evil.test', 'shop.localhost'],
    ['X-None: a', 'shop.localhost'],
  ] as const) {
    await replay(await recorded({ requestHead: headOf(['GET / HTTP/1.1', line]), requestBody: Buffer.alloc(0) }));
    assert.equal(asked.at(-1)?.host, host, line);
  }
});

test('replay: it is in the audit log, and a refused one is not', async () => {
  const id = await recorded();
  online.clear();
  await replay(id);
  online.add(tunnelId);
  await replay(id, { method: 'PUT' });
  const { body } = await ann.call('GET', '/events?action=inspector.replay');
  const events = body as unknown as ReadonlyArray<Record<string, unknown>>;
  assert.equal(events.length, 1);
  assert.deepEqual([events[0]?.['userEmail'], events[0]?.['resourceId']], ['ann@example.test', tunnelId]);
  assert.deepEqual(events[0]?.['details'], { record: id, method: 'PUT' });
});

test('60 at once, then one per second; other organizations are not held up', async () => {
  const id = await recorded();
  for (let i = 0; i < 60; i++) assert.deepEqual(said(await replay(id)), [200]);
  const refused = await replay(id);
  assert.deepEqual(said(refused), [429, 'rate_limited']);
  assert.equal(refused.body['retry_after_seconds'], 1);
  assert.equal(asked.length, 60);
  const bob = await team.person('bob@example.test');
  const made = String((await bob.call('POST', '/tunnels', { localPort: 3000 })).body['id']);
  online.add(made);
  assert.deepEqual(said(await replay(await recorded({ tunnelId: made, orgId: bob.home }), undefined, bob)), [200]);
  plane.now += 1_000;
  assert.deepEqual(said(await replay(id)), [200]);
  assert.deepEqual(said(await replay(id)), [429, 'rate_limited']);
});

test('8 under way at a time', async () => {
  const id = await recorded();
  const held: Array<(answer: TunnelAnswer) => void> = [];
  let onHeld = () => {};
  answer = () =>
    new Promise((resolve) => {
      held.push(resolve);
      onHeld();
    });
  const all = new Promise<void>((resolve) => {
    onHeld = () => held.length === 8 && resolve();
  });
  const underWay = Array.from({ length: 8 }, () => replay(id));
  await all;
  assert.deepEqual(said(await replay(id)), [429, 'rate_limited']);
  for (const resolve of held) resolve(ANSWER);
  for (const one of underWay) assert.deepEqual(said(await one), [200]);
  answer = async () => ANSWER;
  assert.deepEqual(said(await replay(id)), [200]);
});
