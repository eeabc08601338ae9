/** Recorded requests by the API: permissions and views. A node reports them as a real one does. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { uuidv7 } from 'uuidv7';
import { DAY_MS } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Looking } from '../db/usage/list.ts';
import type { Actor } from '../core/rules/actor.ts';
import { head, recorded } from './testing.ts';
import type { InspectedRequest } from '../../plane/inspection.ts';
import { IDLE_NODE } from '../core/testing/idle-node.ts';
import { Plane, START } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';
import { type Person, said, Team } from '../core/testing/team.ts';

const ITEM_KEYS = [
  ...['id', 'tunnel_id', 'timestamp', 'method', 'path', 'status', 'latency_ms'],
  ...['request_size', 'response_size', 'remote_ip', 'outcome', 'code', 'replay_of', 'websocket'],
];
const NOT_FOUND = [404, 'not_found'];
const FORBIDDEN = [403, 'forbidden'];

type Item = Readonly<Record<string, unknown>>;

let plane: Plane;
let api: PlaneApi;
let ann: Person;
let eve: Person;
/** A viewer of ann's organization, and a member: their access tokens. */
let viv: string;
let max: string;
let flushes = 0;
/** What a node does on a flush. */
let onFlush = async (): Promise<void> => {};

before(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  plane.control.nodes.attach({ ...IDLE_NODE, flushInspections: () => ((flushes += 1), onFlush()) });
  const team = new Team(plane, api);
  ann = await team.person('ann@example.test');
  eve = await team.person('eve@example.test');
  viv = await team.acting(await team.member('viv@example.test', ann, 'viewer'), ann.home);
  max = await team.acting(await team.member('max@example.test', ann, 'member'), ann.home);
});
after(async () => {
  await api.close();
  plane.close();
});

/** A new tunnel of this person. */
async function tunnelOf(person: Person): Promise<string> {
  const { body } = await person.call('POST', '/tunnels', { localPort: 3000 });
  return String(body['id']);
}

type Changes = Parameters<typeof recorded>[0];

/** Records as a node reports them, in this order. */
async function report(
  person: Person,
  tunnelId: string,
  ...changes: NonNullable<Changes>[]
): Promise<InspectedRequest[]> {
  const records = changes.map((change) => recorded({ orgId: person.home, tunnelId, ...change }));
  await plane.control.link.inspect({ records, unrecorded: [] });
  return records;
}

async function list(as: string, query = ''): Promise<readonly Item[]> {
  const answer = await api.call('GET', `/inspector${query}`, { as });
  assert.equal(answer.status, 200, answer.text);
  return answer.body as readonly Item[];
}
const ids = (items: readonly Item[]): unknown[] => items.map(({ id }) => id);

test('a list has the newest first, with exactly the fields that are promised, after the nodes have told all that they have', async () => {
  const tunnel = await tunnelOf(ann);
  const [first, second] = await report(
    ann,
    tunnel,
    { method: 'POST', target: '/orders?x=1', status: 201, requestBody: Buffer.from('{}') },
    {},
  );
  assert.ok(first !== undefined && second !== undefined);
  const before = flushes;
  const items = await list(ann.token, `?tunnel_id=${tunnel}`);
  assert.equal(flushes, before + 1);
  assert.deepEqual(ids(items), [second.id, first.id]);
  assert.deepEqual(items[1], {
    id: first.id,
    tunnel_id: tunnel,
    timestamp: new Date(START).toISOString(),
    method: 'POST',
    path: '/orders?x=1',
    status: 201,
    latency_ms: 12.5,
    request_size: 2,
    response_size: 2,
    remote_ip: '203.0.113.7',
    outcome: 'forwarded',
    code: null,
    replay_of: null,
    websocket: null,
  });
  assert.deepEqual(Object.keys(items[0] ?? {}), ITEM_KEYS);
});

test('filters find what they say, alone and together', async () => {
  const tunnel = await tunnelOf(ann);
  const other = await tunnelOf(ann);
  const at = (minutes: number) => START + minutes * 60_000;
  const [a, b, c, d] = await report(
    ann,
    tunnel,
    { method: 'GET', target: '/Orders/1', status: 200, at: at(0) },
    { method: 'POST', target: '/orders?debug=1', status: 503, at: at(1) },
    { method: 'GET', target: '/about', status: 404, at: at(2) },
    {
      method: 'GET',
      target: '/',
      status: 0,
      at: at(3),
      trace: { ...recorded().trace, outcome: 'failed', code: 'local_timeout' },
    },
  );
  assert.ok(a !== undefined && b !== undefined && c !== undefined && d !== undefined);
  const [again] = await report(ann, other, { replayOf: a.id, at: at(4) });
  const cases: ReadonlyArray<readonly [string, readonly (InspectedRequest | undefined)[]]> = [
    [`tunnel_id=${tunnel}`, [d, c, b, a]],
    [`tunnel_id=${tunnel}&method=GET`, [d, c, a]],
    [`tunnel_id=${tunnel}&method=get`, [d, c, a]],
    [`method=Post&tunnel_id=${tunnel}`, [b]],
    [`replay_of=${a.id}&method=get`, [again]],
    [`tunnel_id=${tunnel}&status=404`, [c]],
    [`tunnel_id=${tunnel}&outcome=forwarded`, [c, b, a]],
    [`tunnel_id=${tunnel}&outcome=failed`, [d]],
    [`tunnel_id=${tunnel}&status=5xx`, [b]],
    [`tunnel_id=${tunnel}&status=2XX`, [a]],
    [`tunnel_id=${tunnel}&status=0`, [d]],
    [`tunnel_id=${tunnel}&path=orders`, [b, a]],
    [`tunnel_id=${tunnel}&path=${encodeURIComponent('?debug')}&method=POST&status=503`, [b]],
    [`tunnel_id=${tunnel}&path=%25`, []],
    [`tunnel_id=${tunnel}&since=2026-11-21T00:01:00Z&until=2026-11-21T00:03:00Z`, [c, b]],
    [`tunnel_id=${tunnel}&since=${encodeURIComponent('2026-11-21T02:02:00+02:00')}`, [d, c]],
    [`tunnel_id=${tunnel}&before=${c.id}`, [b, a]],
    [`replay_of=${a.id}`, [again]],
  ];
  for (const [query, expected] of cases)
    assert.deepEqual(
      ids(await list(ann.token, `?${query}`)),
      expected.map((one) => one?.id),
      query,
    );
});

test('a filter that makes no sense is refused, and says which', async () => {
  for (const query of [
    'limit=0',
    'limit=501',
    'limit=x',
    'tunnel_id=x',
    'status=600',
    'status=x',
    'method=GE%20T',
    'since=yesterday',
    'before=1',
    'path=',
  ]) {
    const answer = await ann.call('GET', `/inspector?${query}`);
    assert.deepEqual(said(answer), [400, 'invalid_request'], query);
    const [first] = answer.body['details'] as Array<{ path: string }>;
    assert.equal(first?.path, query.split('=')[0]);
  }
});

test('Link leads through all pages, with the same filters', async () => {
  const tunnel = await tunnelOf(ann);
  const made = await report(ann, tunnel, ...Array.from({ length: 7 }, (_, i) => ({ status: i === 3 ? 500 : 200 })));
  const found: unknown[] = [];
  let query = `?tunnel_id=${tunnel}&limit=2&status=2xx`;
  let pages = 0;
  for (; query !== ''; pages++) {
    const answer = await ann.call('GET', `/inspector${query}`);
    found.push(...ids(answer.body as readonly Item[]));
    query = /^<(\?[^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1] ?? '';
  }
  assert.deepEqual(
    found,
    made
      .filter(({ status }) => status === 200)
      .map(({ id }) => id)
      .reverse(),
  );
  assert.ok(pages === 3 || pages === 4, `${pages} pages`);
});

test('one record has everything: heads in both forms, bodies, what the edge decided', async () => {
  const tunnel = await tunnelOf(ann);
  const [made] = await report(ann, tunnel, {
    method: 'POST',
    target: '/x',
    status: 200,
    requestBody: Buffer.from([0, 1, 255]),
    requestBodyTruncated: true,
    requestSize: 70_000,
    requestHead: head('POST /x HTTP/1.1', 'Host: shop.example.test', 'X-A: 1', 'Cookie: a=1', 'x-a: 2', 'Cookie: b=2'),
    responseHead: head('HTTP/1.1 200 OK', 'Set-Cookie: s=1; Path=/', 'Set-Cookie: t=2', 'Vary: a', 'Vary: b'),
    trace: {
      steps: [
        { step: 'deny', index: 0, rule: null, verdict: 'passed', code: null },
        { step: 'rate_limit', index: 2, rule: '60 a minute', verdict: 'would_refuse', code: 'rate_limited' },
        { step: 'basic_gate', index: null, rule: null, verdict: 'passed', code: null },
      ],
      retried: true,
      httpVersion: '2',
    },
  });
  const { status, body, text } = await ann.call('GET', `/inspector/${made?.id}`);
  assert.equal(status, 200, text);
  const { trace, ...rest } = body;
  assert.deepEqual(rest, {
    id: made?.id,
    tunnel_id: tunnel,
    timestamp: new Date(START).toISOString(),
    method: 'POST',
    path: '/x',
    status: 200,
    latency_ms: 12.5,
    request_size: 70_000,
    response_size: 2,
    remote_ip: '203.0.113.7',
    outcome: 'forwarded',
    code: null,
    host: 'shop.example.test',
    http_version: '2',
    request_headers: { host: 'shop.example.test', 'x-a': '1, 2', cookie: 'a=1; b=2' },
    response_headers: { 'set-cookie': 's=1; Path=/\nt=2', vary: 'a, b' },
    request_header_list: [
      { name: 'Host', value: 'shop.example.test' },
      { name: 'X-A', value: '1' },
      { name: 'Cookie', value: 'a=1' },
      { name: 'x-a', value: '2' },
      { name: 'Cookie', value: 'b=2' },
    ],
    response_header_list: [
      { name: 'Set-Cookie', value: 's=1; Path=/' },
      { name: 'Set-Cookie', value: 't=2' },
      { name: 'Vary', value: 'a' },
      { name: 'Vary', value: 'b' },
    ],
    trace_id: null,
    was_blocked: false,
    websocket: null,
    websocket_frames: null,
    masked: [],
    response_trailers: [],
    grpc_status: null,
    request_body: 'AAH/',
    response_body: 'b2s=',
    request_body_truncated: true,
    response_body_truncated: false,
    replay_of: null,
  });
  assert.deepEqual(trace, {
    outcome: 'forwarded',
    code: null,
    scheme: 'http',
    steps: [
      { step: 'deny', index: 0, rule: null, verdict: 'passed', code: null },
      { step: 'rate_limit', index: 2, rule: '60 a minute', verdict: 'would_refuse', code: 'rate_limited' },
      { step: 'basic_gate', index: null, rule: null, verdict: 'passed', code: null },
    ],
    agent_id: '0b7e6f6e-4a0f-4b8e-9c52-1d9b1f0a7c33',
    token_id: '00000000-0000-7000-8000-000000000003',
    connection: 'fresh',
    retried: true,
    policy_ms: 0.25,
    first_byte_ms: 10,
  });
});

test('inspector: a gRPC call shows its status, from the trailers or from the head', async () => {
  const tunnel = await tunnelOf(ann);
  const head = (line: string): Buffer => Buffer.from(`HTTP/1.1 200 OK\r\n${line}\r\n\r\n`);
  const [behind, before, none] = await report(
    ann,
    tunnel,
    {
      responseHead: head('Content-Type: application/grpc'),
      trace: { trailers: 'Grpc-Status: 14\r\ngrpc-message: away\r\n' },
    },
    { responseHead: head('grpc-status: 5') },
    { responseHead: head('grpc-status: none') },
  );
  const shown = async (id: string | undefined): Promise<unknown[]> => {
    const { body } = await ann.call('GET', `/inspector/${id}`);
    return [body['grpc_status'], body['response_trailers']];
  };
  assert.deepEqual(await shown(behind?.id), [
    14,
    [
      { name: 'Grpc-Status', value: '14' },
      { name: 'grpc-message', value: 'away' },
    ],
  ]);
  assert.deepEqual(await shown(before?.id), [5, []]);
  assert.deepEqual(await shown(none?.id), [null, []]);
});

test('a request that the edge refused says why, and has no answer of the service', async () => {
  const tunnel = await tunnelOf(ann);
  const [made] = await report(ann, tunnel, {
    status: 403,
    responseHead: null,
    responseBody: Buffer.alloc(0),
    trace: {
      outcome: 'refused',
      code: 'denied',
      steps: [{ step: 'ip_deny', index: 1, rule: '192.0.2.0/24', verdict: 'refused', code: 'denied' }],
      agentId: null,
      connection: null,
      firstByteMs: null,
    },
  });
  const { body } = await ann.call('GET', `/inspector/${made?.id}`);
  assert.deepEqual([body['response_headers'], body['response_header_list'], body['response_body']], [{}, [], '']);
  const trace = body['trace'] as Item;
  assert.deepEqual([trace['outcome'], trace['code'], trace['first_byte_ms']], ['refused', 'denied', null]);
});

test('a record that a node still has is found by its id', async () => {
  const tunnel = await tunnelOf(ann);
  const late = recorded({ orgId: ann.home, tunnelId: tunnel });
  const detach = plane.control.nodes.attach({
    ...IDLE_NODE,
    flushInspections: () => plane.control.link.inspect({ records: [late], unrecorded: [] }),
  });
  assert.equal((await ann.call('GET', `/inspector/${late.id}`)).status, 200);
  detach();
});

test('a viewer sees no credentials and no cookies, neither of visitors nor of the service; members do', async () => {
  const tunnel = await tunnelOf(ann);
  const [made] = await report(ann, tunnel, {
    requestHead: head(
      'GET / HTTP/1.1',
      'Host: x',
      'authorization: secret-1',
      'COOKIE: secret-2',
      'Proxy-Authorization: secret-3',
      'X-Open: open-1',
    ),
    responseHead: head('HTTP/1.1 200 OK', 'Set-Cookie: secret-4', 'set-cookie: secret-5'),
  });
  const path = `/inspector/${made?.id}`;
  const seen = await api.call('GET', path, { as: viv });
  assert.equal(seen.status, 200);
  assert.ok(!seen.text.includes('secret-') && seen.text.includes('open-1'), seen.text);
  assert.equal((seen.body['request_headers'] as Item)['cookie'], '***');
  assert.equal((seen.body['response_headers'] as Item)['set-cookie'], '***\n***');
  for (const as of [max, ann.token]) {
    const { text } = await api.call('GET', path, { as });
    for (let i = 1; i <= 5; i++) assert.ok(text.includes(`secret-${i}`), text);
  }
  // Exports are passed on: masked unless the caller asks otherwise, and for a viewer who does there is none.
  for (const kind of ['curl', 'har']) {
    for (const as of [viv, max, ann.token]) {
      const { status, text } = await api.call('GET', `${path}/${kind}`, { as });
      assert.equal(status, 200, text);
      assert.ok(!text.includes('secret-') && text.includes('open-1'), text);
    }
    assert.deepEqual(said(await api.call('GET', `${path}/${kind}?secrets=true`, { as: viv })), FORBIDDEN);
    assert.ok((await api.call('GET', `${path}/${kind}?secrets=true`, { as: max })).text.includes('secret-2'));
  }
  const many = `/inspector/har?tunnel_id=${tunnel}`;
  assert.ok(!(await api.call('GET', many, { as: max })).text.includes('secret-'));
  assert.deepEqual(said(await api.call('GET', `${many}&secrets=true`, { as: viv })), FORBIDDEN);
  assert.ok((await api.call('GET', `${many}&secrets=true`, { as: max })).text.includes('secret-5'));
});

test('of another organization nothing is found, by whatever id', async () => {
  const tunnel = await tunnelOf(ann);
  const [made] = await report(ann, tunnel, {});
  await plane.control.link.inspect({ records: [], unrecorded: [{ tunnelId: tunnel, orgId: ann.home, count: 3 }] });
  const paths = [
    `/inspector?tunnel_id=${tunnel}`,
    `/inspector/${made?.id}`,
    `/inspector/${made?.id}/curl`,
    `/inspector/${made?.id}/har`,
    `/inspector/har?tunnel_id=${tunnel}`,
    `/inspector/unrecorded?tunnel_id=${tunnel}`,
  ];
  for (const path of paths) {
    assert.deepEqual(said(await eve.call('GET', path)), NOT_FOUND, path);
    assert.equal((await ann.call('GET', path)).status, 200, path);
  }
  assert.deepEqual(said(await eve.call('DELETE', `/inspector?tunnel_id=${tunnel}`)), NOT_FOUND);
  assert.deepEqual(await list(eve.token), []);
  assert.deepEqual(await list(eve.token, `?before=${uuidv7()}`), []);
  assert.deepEqual((await eve.call('GET', '/inspector/unrecorded')).body, []);
  const archive = (await eve.call('GET', '/inspector/har')).body as unknown as { log: { entries: unknown[] } };
  assert.deepEqual(archive.log.entries, []);
  assert.deepEqual(ids(await list(ann.token, `?tunnel_id=${tunnel}`)), [made?.id]);
});

test('inspector: the API says that requests are recorded, and which agents opt out', async (t) => {
  const quiet = await tunnelOf(ann);
  const session = {
    agentId: randomUUID(),
    tokenId: 't',
    remoteIp: '192.0.2.1',
    hostname: '',
    version: '',
    connectedAt: START,
    networkIds: [],
  };
  t.after(
    plane.control.nodes.attach({
      ...IDLE_NODE,
      connections: () => [
        { ...session, orgId: ann.home, tunnelIds: [quiet, randomUUID()], uninspectedIds: [quiet] },
        { ...session, orgId: eve.home, tunnelIds: [quiet], uninspectedIds: [randomUUID()] },
      ],
    }),
  );
  const { status, body } = await ann.call('GET', '/inspector/recording');
  assert.deepEqual([status, body], [200, { enabled: true, not_recorded: [quiet], replay: true, replay_tunnels: null }]);
});

test('what was not recorded is counted by tunnel', async () => {
  const busy = await tunnelOf(ann);
  const calm = await tunnelOf(ann);
  const lost = (tunnelId: string, count: number) => ({ tunnelId, orgId: ann.home, count });
  await plane.control.link.inspect({ records: [], unrecorded: [lost(busy, 5), lost(calm, 1)] });
  await plane.control.link.inspect({ records: [], unrecorded: [lost(busy, 2)] });
  const window = '?since=2026-11-20T00:00:00Z&until=2026-11-22T00:00:00Z';
  const { body } = await ann.call('GET', `/inspector/unrecorded${window}`);
  const counts = (body as readonly Item[]).filter(({ tunnel_id: id }) => id === busy || id === calm);
  assert.deepEqual(
    counts.map((one) => [one['tunnel_id'], one['count'], one['last_at']]),
    [
      [busy, 7, new Date(START).toISOString()],
      [calm, 1, new Date(START).toISOString()],
    ],
  );
  const early = '?since=2026-11-19T00:00:00Z&until=2026-11-20T00:00:00Z';
  assert.deepEqual((await ann.call('GET', `/inspector/unrecorded${early}`)).body, []);
});

test('inspector: members clear the records of a tunnel, with an audit entry; viewers can not', async () => {
  const tunnel = await tunnelOf(ann);
  const other = await tunnelOf(ann);
  const [made] = await report(ann, tunnel, {});
  const [kept] = await report(ann, other, {});
  assert.deepEqual(said(await api.call('DELETE', `/inspector?tunnel_id=${tunnel}`, { as: viv })), FORBIDDEN);
  assert.deepEqual(said(await api.call('DELETE', '/inspector', { as: max })), [400, 'invalid_request']);
  assert.deepEqual(ids(await list(ann.token, `?tunnel_id=${tunnel}`)), [made?.id]);
  const done = await api.call('DELETE', `/inspector?tunnel_id=${tunnel}`, { as: max });
  assert.deepEqual([done.status, done.body], [200, { success: true }]);
  assert.deepEqual(await list(ann.token, `?tunnel_id=${tunnel}`), []);
  assert.deepEqual(said(await ann.call('GET', `/inspector/${made?.id}`)), NOT_FOUND);
  assert.equal((await ann.call('GET', `/inspector/${kept?.id}`)).status, 200);
  const auditLog = (await ann.call('GET', '/events?action=inspector.clear')).body as readonly Item[];
  assert.deepEqual(
    auditLog.map((one) => [one['userEmail'], one['resourceType']]),
    [['max@example.test', 'tunnel']],
  );
});

test('records of a deleted tunnel are found until they are forgotten', async () => {
  const tunnel = await tunnelOf(ann);
  const [made] = await report(ann, tunnel, {});
  assert.equal((await ann.call('DELETE', `/tunnels/${tunnel}`)).status, 200);
  assert.deepEqual(ids(await list(ann.token, `?tunnel_id=${tunnel}`)), [made?.id]);
});

test('an archive takes the filters of the list, across lists that stop for time, and no parameter that there is not', async (t) => {
  const tunnel = await tunnelOf(ann);
  const statuses = [500, 200, 503, 200, 200, 502, 200];
  await report(ann, tunnel, ...statuses.map((status, i) => ({ status, target: `/${i}`, at: START + i * 60_000 })));
  const { records } = plane.control;
  const real = records.list.bind(records);
  t.mock.method(records, 'list', (...[orgId, filter]: Parameters<typeof real>) => {
    const hurried: Looking = { ...filter, budgetMs: 0 };
    return real(orgId, hurried);
  });
  const cases: ReadonlyArray<readonly [string, readonly string[]]> = [
    ['status=5xx', ['/0', '/2', '/5']],
    ['status=5xx&limit=2', ['/2', '/5']],
    ['status=5xx&since=2026-11-21T00:02:00Z&until=2026-11-21T00:05:00Z', ['/2']],
    ['path=%2F3&method=get', ['/3']],
    ['since=2099-01-01T00:00:00Z', []],
  ];
  for (const [query, expected] of cases) {
    const { status, body, text } = await ann.call('GET', `/inspector/har?tunnel_id=${tunnel}&${query}`);
    assert.equal(status, 200, text);
    const { entries } = (body as unknown as { log: { entries: readonly { request: { url: string } }[] } }).log;
    assert.deepEqual(
      entries.map(({ request }) => new URL(request.url).pathname),
      expected,
      query,
    );
  }
  const refused = await ann.call('GET', '/inspector/har?outcom=refused&stauts=5xx');
  assert.deepEqual(said(refused), [400, 'invalid_request']);
  assert.deepEqual(
    (refused.body['details'] as Array<{ path: string }>).map(({ path }) => path),
    ['outcom', 'stauts'],
  );
});

test('an archive of many ends where it would become too large, and says how many it left out', async () => {
  const tunnel = await tunnelOf(ann);
  const megabyte = Buffer.alloc(1024 * 1024, 'x');
  for (let i = 0; i < 20; i++) await report(ann, tunnel, { responseBody: megabyte, target: `/${i}` });
  const answer = await ann.call('GET', `/inspector/har?tunnel_id=${tunnel}&limit=19`);
  const { log } = answer.body as unknown as { log: { entries: Array<{ request: { url: string } }>; comment: string } };
  // A megabyte of it is 1.4 in base64.
  assert.equal(log.entries.length, 11);
  assert.match(log.comment, /^8 older/);
  assert.match(log.entries.at(-1)?.request.url ?? '', /\/19$/, 'oldest first');
  assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="culvert.har"');
});

test('an organization has one archive made at a time, all have a few; the next one hears so, and gets it when one is done', async (t) => {
  const team = new Team(plane, api);
  const others = await Promise.all([1, 2, 3].map((n) => team.person(`reader-${n}@example.test`)));
  const gate = Promise.withResolvers<void>();
  const allUnderWay = Promise.withResolvers<void>();
  let underWay = 0;
  onFlush = () => {
    underWay += 1;
    if (underWay === 4) allUnderWay.resolve();
    return gate.promise;
  };
  t.after(() => {
    gate.resolve();
    onFlush = async () => {};
  });
  const answers = [ann, ...others].map((person) => person.call('GET', '/inspector/har'));
  await allUnderWay.promise;
  for (const as of [ann.token, max]) {
    const refused = await api.call('GET', '/inspector/har', { as });
    assert.deepEqual(said(refused), [429, 'rate_limited']);
    assert.equal(refused.headers.get('retry-after'), '2');
  }
  assert.deepEqual(said(await eve.call('GET', '/inspector/har')), [503, 'unavailable']);
  gate.resolve();
  for (const { status } of await Promise.all(answers)) assert.equal(status, 200);
  // The places come free when the last bytes have left, which may be after they were read.
  for (const person of [ann, eve]) while ((await person.call('GET', '/inspector/har')).status !== 200);
});

test('an archive has what lies behind much that was forgotten', async (t) => {
  const [kept, cleared] = [await tunnelOf(eve), await tunnelOf(eve)];
  const [made] = await report(eve, kept, { target: '/behind' });
  await report(eve, cleared, ...Array.from({ length: 30 }, () => ({})));
  await plane.control.records.forgetTunnel(eve.home, cleared);
  const { records } = plane.control;
  const real = records.list.bind(records);
  // Its time is up at once: as if there were a million of them.
  const given = t.mock.method(records, 'list', (...[orgId, filter]: Parameters<typeof real>) => {
    const hurried: Looking = { ...filter, budgetMs: 0 };
    return real(orgId, hurried);
  });
  const { body } = await eve.call('GET', '/inspector/har?limit=5');
  const { entries } = (body as unknown as { log: { entries: readonly { request: { url: string } }[] } }).log;
  assert.ok(
    entries.some(({ request }) => request.url.endsWith('/behind')),
    `${entries.length} entries, without ${made?.id}`,
  );
  assert.ok(given.mock.callCount() >= 6, `${given.mock.callCount()} goes`);
});

test('an archive that fails gives its place back', async (t) => {
  onFlush = () => Promise.reject(new AppError('unavailable', 'The node is away.'));
  t.after(() => (onFlush = async () => {}));
  for (let i = 0; i < 6; i++) {
    const failed = await eve.call('GET', '/inspector/har');
    assert.deepEqual([...said(failed), failed.body['message']], [503, 'unavailable', 'The node is away.']);
  }
  onFlush = async () => {};
  assert.equal((await eve.call('GET', '/inspector/har')).status, 200);
});

test('a record is kept for as long as the plan of its organization says, and no longer', async () => {
  const days = { free: 7, pro: 30, team: 90, enterprise: 365 };
  const kept: Record<string, unknown[]> = {};
  const operator: Actor = { kind: 'operator', orgId: null, userId: null, label: 'operator', ipAddress: '' };
  const tunnel = await tunnelOf(ann);
  // From the longest down: what is gone once does not come back.
  for (const [plan, most] of Object.entries(days).reverse()) {
    plane.control.operatorOrgs.setPlan(operator, ann.home, plan as keyof typeof days);
    await report(
      ann,
      tunnel,
      { at: START - most * DAY_MS - 1_000, target: '/old' },
      { at: START - most * DAY_MS + 1_000, target: '/young' },
    );
    await plane.control.recordSweep.run();
    kept[plan] = (await list(ann.token, `?tunnel_id=${tunnel}`)).map(({ path }) => path);
    assert.equal((await ann.call('DELETE', `/inspector?tunnel_id=${tunnel}`)).status, 200);
  }
  for (const plan of Object.keys(days)) assert.deepEqual(kept[plan], ['/young'], plan);
});

test('a body of which only a part was kept makes no command', async () => {
  const [made] = await report(ann, await tunnelOf(ann), { requestBodyTruncated: true });
  assert.deepEqual(said(await ann.call('GET', `/inspector/${made?.id}/curl`)), [409, 'body_truncated']);
});

test('live feed: a request without an upgrade gets an error', async () => {
  assert.deepEqual(said(await ann.call('GET', '/inspector/ws')), [400, 'invalid_request']);
});
