/** Requests that the control plane sends down a tunnel: what the service gets, what the policy says to them, and how each of them ends. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { hashSync } from '@node-rs/argon2';
import type { TunnelRequest } from '../../../plane/inspection.ts';
import type { PolicyAction } from '../../../plane/policy.ts';
import { idOf, testGrant } from '../../fixtures/link.ts';
import { until } from '../../fixtures/gateway.ts';
import { NO_RESPONSES } from '../testing/hostile-responses.ts';
import { httpOrigin, perHead, rawOrigin, Rig, type RigOptions } from '../testing/rig.ts';
import { REST_MS } from '../exchange/upstream.ts';

const WITHIN = { timeout: 120_000 };
const RECORD = '01890a5d-ac96-774b-bcce-b302099a8057';
const OFFLINE = { ok: false, code: 'tunnel_offline' };
const MANY_BYTES = Buffer.alloc(5 << 20, 'abcdefghijk');

const GET: TunnelRequest = {
  tunnelId: idOf('shop'),
  method: 'GET',
  target: '/orders?open=1',
  fields: [['Accept', 'text/html']],
  host: 'shop.example.test',
  body: Buffer.alloc(0),
  clientIp: '203.0.113.9',
  scheme: 'https',
  replayOf: RECORD,
  timeoutMs: 15_000,
};

/** A tunnel `shop`, and another one, in front of a service that keeps what it got. */
async function served(t: TestContext, options: RigOptions = {}) {
  const rig = await Rig.start(t, options);
  const got: Array<{ line: string; raw: string[]; body: Buffer }> = [];
  const origin = await httpOrigin(t, (request, response) => {
    void request.toArray().then((chunks) => {
      got.push({ line: `${request.method} ${request.url}`, raw: request.rawHeaders, body: Buffer.concat(chunks) });
      response.statusCode = Number(/status=(\d+)/.exec(request.url ?? '')?.[1] ?? 200);
      response.end('answer');
    });
  });
  await rig.serve('shop', origin.port);
  await rig.serve('shed', origin.port);
  const send = (over: Partial<TunnelRequest> = {}) => rig.node.send({ ...GET, ...over });
  return { rig, origin, got, send };
}

/** `status code` of an answer, or the code of one that is none. */
async function told(answer: ReturnType<Rig['node']['send']>): Promise<string> {
  const said = await answer;
  return said.ok ? `${said.status} ${said.code ?? ''}`.trim() : said.code;
}

const policyOf = (...actions: PolicyAction[]) => ({ policy: { setAt: 1, actions } });

test('the service gets the head in its order, what the edge says, and which record it is', WITHIN, async (t) => {
  const { got, send } = await served(t);
  const fields = [
    ['X-B', '1'],
    ['x-a', ' 2 '],
    ['X-B', 'caf\u00e9'],
    ['Cookie', 'a=1'],
  ] as const;
  const answer = await send({ fields, target: '/a%20b?status=201' });
  assert.ok(answer.ok);
  assert.deepEqual([answer.status, answer.code], [201, null]);
  assert.match(answer.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/);
  assert.ok(answer.latencyMs > 0 && answer.latencyMs < 10_000);
  assert.equal(got[0]?.line, 'GET /a%20b?status=201');
  assert.deepEqual(got[0]?.raw, [
    ...['Host', 'shop.example.test', 'X-B', '1', 'x-a', '2', 'X-B', 'caf\u00e9', 'Cookie', 'a=1'],
    ...['X-Forwarded-For', '203.0.113.9', 'X-Forwarded-Proto', 'https', 'X-Forwarded-Host', 'shop.example.test'],
    ...['X-Real-IP', '203.0.113.9', 'Culvert-Replay', RECORD],
  ]);
});

test('a body comes through byte for byte, however long it is', WITHIN, async (t) => {
  const { got, send } = await served(t);
  const every = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
  for (const body of [every, MANY_BYTES, Buffer.alloc(0)]) {
    assert.equal(await told(send({ method: 'POST', body })), '200');
    const last = got.at(-1) ?? assert.fail();
    assert.ok(last.body.equals(body), `${body.length} bytes`);
    assert.equal(last.raw[last.raw.indexOf('Content-Length') + 1], String(body.length));
  }
  assert.equal(await told(send({ method: 'DELETE', body: every })), '200');
  assert.ok(got.at(-1)?.body.equals(every));
  assert.equal(await told(send({ method: 'DELETE' })), '200');
  assert.equal(got.at(-1)?.raw.includes('Content-Length'), false);
});

test('no record, no mark; what is no id and no address is not said', WITHIN, async (t) => {
  const { got, send } = await served(t, { trustedProxies: ['127.0.0.1', '203.0.113.9'] });
  await send({ replayOf: null });
  assert.equal(got.at(-1)?.raw.includes('Culvert-Replay'), false);
  await send({ replayOf: 'x\r\nX-Evil: 1', clientIp: '1.2.3.4\r\nX-Evil: 1' });
  const { raw = [] } = got.at(-1) ?? {};
  assert.equal(raw.includes('Culvert-Replay') || raw.includes('X-Evil'), false);
  assert.equal(raw[raw.indexOf('X-Real-IP') + 1], 'unknown');
  // Nor does an address of a trusted proxy make what the request says about visitors count.
  await send({
    fields: [
      ['X-Forwarded-For', '9.9.9.9'],
      ['Culvert-Replay', 'me'],
      ['Culvert-Visitor-Email', 'a@b.c'],
    ],
  });
  const last = got.at(-1)?.raw ?? [];
  assert.equal(last[last.indexOf('X-Forwarded-For') + 1], '203.0.113.9');
  assert.equal(last.filter((word) => word === 'Culvert-Replay' || word === 'me').length, 1);
  assert.equal(last.includes('Culvert-Visitor-Email'), false);
});

test(
  'the start of the response comes with the answer where it is asked for, without the framing of chunks',
  WITHIN,
  async (t) => {
    const rig = await Rig.start(t);
    const origin = await httpOrigin(t, (request, response) => {
      request.resume();
      if (request.url === '/none') response.writeHead(204).end();
      else if (request.url === '/long') response.end(MANY_BYTES);
      else {
        response.setHeader('content-type', 'text/plain; charset=utf-8');
        response.write('abc');
        // In a piece of its own.
        setTimeout(() => response.end('defgh'), 20);
      }
    });
    await rig.serve('shop', origin.port);
    const kept = async (target: string, keepBytes?: number) => {
      const answer = await rig.node.send({ ...GET, target, ...(keepBytes === undefined ? {} : { keepBytes }) });
      assert.ok(answer.ok);
      const { response } = answer;
      return response === undefined ? undefined : { ...response, body: Buffer.from(response.body).toString() };
    };
    const contentType = 'text/plain; charset=utf-8';
    assert.equal(await kept('/'), undefined);
    assert.deepEqual(await kept('/', 100), { contentType, body: 'abcdefgh', size: 8 });
    assert.deepEqual(await kept('/', 5), { contentType, body: 'abcde', size: 8 });
    assert.deepEqual(await kept('/none', 5), { contentType: null, body: '', size: 0 });
    assert.deepEqual(await kept('/long', 12), { contentType: null, body: 'abcdefghijka', size: MANY_BYTES.length });
    origin.close();
    origin.closeAllConnections();
    assert.equal(await kept('/', 5), undefined, 'no response came');
  },
);

test('what a webhook is marked with comes through, as one line each', WITHIN, async (t) => {
  const { got, send } = await served(t);
  await send({
    replayOf: null,
    fields: [
      ['Culvert-Webhook-Delivery', '7'],
      ['X-A', '1'],
      ['Culvert-Webhook-Attempt', '1\r\nX-Evil: 1'],
      ['culvert_webhook_receiver', '7'],
    ],
  });
  assert.equal(got.length, 0, 'a line break is none');
  await send({
    fields: [
      ['Culvert-Webhook-Delivery', '7'],
      ['Culvert-Webhook-Test', '1'],
      ['X-A', '1'],
      ['culvert_webhook_receiver', '7'],
    ],
  });
  const { raw = [] } = got.at(-1) ?? {};
  const marks = ['Culvert-Replay', RECORD, 'Culvert-Webhook-Delivery', '7', 'Culvert-Webhook-Test', '1'];
  assert.deepEqual(raw.slice(-6), marks);
  assert.equal(raw.includes('culvert_webhook_receiver'), false);
});

test('a visitor can not pretend to be a replay, or a webhook', WITHIN, async (t) => {
  const { rig, got } = await served(t);
  const wire = await rig.visit();
  for (const spoof of [
    [`Culvert-Replay: ${RECORD}`],
    [`culvert_replay: ${RECORD}`, `CULVERT-REPLAY: ${RECORD}`],
    [`Culvert-Replay: ${RECORD}`, 'Connection: Culvert-Replay'],
    ['Culvert-Webhook-Delivery: 7', 'culvert_webhook_receiver: 7', 'CULVERT-WEBHOOK-ATTEMPT: 7'],
  ]) {
    wire.ask('GET /', ...spoof);
    assert.equal((await wire.response()).status, 200);
    assert.doesNotMatch(got.at(-1)?.raw.join() ?? '', /culvert/i);
  }
});

// biome-ignore format: a table
const NO_REQUESTS: ReadonlyArray<readonly [string, Partial<TunnelRequest>, string?]> = [
  ['a second host', { fields: [['Host', 'shop.example.test']] }],
  ['a length', { fields: [['Content-Length', '0']] }],
  ['a length of its own', { fields: [['content-length', '3']], body: Buffer.from('abc') }],
  ['a coding', { fields: [['Transfer-Encoding', 'chunked']] }],
  ['a hop', { fields: [['Connection', 'close']] }],
  ['an upgrade', { fields: [['Connection', 'Upgrade'], ['Upgrade', 'websocket']] }],
  ['an upgrade alone', { fields: [['Upgrade', 'websocket']] }],
  ['a line break in a value', { fields: [['X', 'a\r\nX-Evil: 1']] }],
  ['a request in a value', { fields: [['X', 'a\r\n\r\nGET /evil HTTP/1.1\r\nHost: shop.example.test']] }],
  ['a character that is a line break as a byte', { fields: [['X', 'a\u010d\u010aX-Evil: 1']] }],
  ['a character that is another one as a byte', { fields: [['X', 'a\u0141']] }],
  ['a name that ends at its colon', { fields: [['X:y', 'a']] }],
  ['NUL', { fields: [['X', 'a\0']] }],
  ['a name with a line break', { fields: [['X\r\nY', 'a']] }],
  ['a name that hides a length', { fields: [['Content-Length:5', 'a']] }],
  ['a name with a space', { fields: [['X ', 'a']] }],
  ['no name', { fields: [['', 'a']] }],
  ['a target with a space', { target: '/ HTTP/1.1' }],
  ['a target with lines', { target: '/ HTTP/1.1\r\nX-Evil: 1\r\nX: ' }],
  ['a target that is a character beyond', { target: '/\u0120x' }],
  ['no target', { target: '' }],
  ['a fragment', { target: '/#a' }],
  ['another host in the target', { target: 'http://evil.test/' }],
  ['a target with its host', { target: 'http://shop.example.test/' }],
  ['CONNECT', { method: 'CONNECT', target: 'shop.example.test:443' }],
  ['a method with a space', { method: 'GET /evil' }],
  ['no method', { method: '' }],
  ['a host with lines', { host: 'shop.example.test\r\nX-Evil: 1' }],
  ['the host of another tunnel', { host: 'shed.example.test' }, 'tunnel_offline'],
  ['a host without a tunnel', { host: 'none.example.test' }, 'tunnel_offline'],
  ['an expectation', { fields: [['Expect', 'x']] }],
  ['a long target', { target: `/${'a'.repeat(20_000)}` }, '414 uri_too_long'],
  ['a long head', { fields: [['X', 'a'.repeat(40_000)]] }, '431 head_too_large'],
  ['many fields', { fields: Array.from({ length: 200 }, (_, i) => [`X-${i}`, '1'] as const) }, '431 head_too_large'],
];

test('what is not exactly one request for this tunnel goes nowhere', WITHIN, async (t) => {
  const { got, send } = await served(t);
  for (const [what, over, said] of NO_REQUESTS) assert.equal(await told(send(over)), said ?? '400 bad_request', what);
  assert.deepEqual(got, []);
});

test('the policy of the tunnel decides, as it is now; its gates are not asked', WITHIN, async (t) => {
  const { rig, got, send } = await served(t);
  const enforce = true;
  const cases: ReadonlyArray<readonly [Parameters<Rig['route']>[1] & object, string]> = [
    [policyOf({ kind: 'deny', pathPrefix: '/orders', enforce }), '403 denied'],
    [policyOf({ kind: 'ip_deny', networks: ['203.0.113.0/24'], enforce }), '403 denied'],
    [policyOf({ kind: 'ip_allow', networks: ['198.51.100.0/24'], enforce }), '403 denied'],
    [{ maintenance: 'later' }, '503 maintenance'],
    [{ gate: { username: 'ann', passwordHash: hashSync('x', { memoryCost: 1_024 }), version: '1' } }, '200'],
    [{ visitorGate: { version: '1', signInUrl: 'http://api.test/edge-auth/start' } }, '200'],
    [policyOf({ kind: 'ip_allow', networks: ['203.0.113.0/24'], enforce }), '200'],
    [policyOf({ kind: 'deny', pathPrefix: '/orders', enforce: false }), '200'],
  ];
  for (const [over, said] of cases) {
    got.length = 0;
    rig.route('shop', over);
    assert.equal(await told(send()), said, JSON.stringify(over));
    assert.equal(got.length, said === '200' ? 1 : 0);
  }
  rig.route('shop', policyOf({ kind: 'header_set', name: 'X-Tenant', value: 'a', enforce }));
  await send({ fields: [['x-tenant', 'evil']] });
  assert.deepEqual(
    got.at(-1)?.raw.filter((word) => /tenant|evil/i.test(word)),
    ['X-Tenant'],
  );
  rig.route('shop', policyOf({ kind: 'rate_limit', requestsPerMinute: 1, perClientIp: true, enforce }));
  assert.deepEqual([await told(send()), await told(send())], ['200', '429 rate_limited']);
});

test('a policy that decides later is waited for, and forgets the request when it has changed', WITHIN, async (t) => {
  const { rig, got, send } = await served(t);
  // Its keys can't be fetched: private addresses are not asked.
  const jwt = { kind: 'jwt_validation', enforce: true, allowedIssuers: [], allowedAudiences: [] } as const;
  rig.route('shop', policyOf({ ...jwt, jwksUrl: 'https://127.0.0.1:1/jwks' }));
  assert.equal(await told(send()), '401 invalid_token');
  const token = `${Buffer.from('{"alg":"EdDSA","kid":"a"}').toString('base64url')}.e30.AA`;
  assert.match(
    await told(send({ fields: [['Authorization', `Bearer ${token}`]] })),
    /^(503 policy_failed|401 invalid_token)$/,
  );
  assert.deepEqual(got, []);
});

test('a spent budget refuses, and what is sent is paid for', WITHIN, async (t) => {
  const { rig, send } = await served(t);
  const entered = rig.link.batches.length;
  assert.equal(await told(send({ method: 'POST', body: Buffer.alloc(100_000) })), '200');
  const metered = (): { requests: number; bytesIn: number; bytesOut: number } => {
    const sum = { requests: 0, bytesIn: 0, bytesOut: 0 };
    for (const { events } of rig.link.batches.slice(entered))
      for (const event of events) {
        if (event.kind !== 'usage') continue;
        sum.requests += event.requests;
        sum.bytesIn += event.bytesIn;
        sum.bytesOut += event.bytesOut;
      }
    return sum;
  };
  await until(() => metered().requests > 0);
  const { requests, bytesIn, bytesOut } = metered();
  assert.equal(requests, 1);
  assert.ok(bytesIn > 100_000 && bytesIn < 101_000, String(bytesIn));
  assert.ok(bytesOut > 50 && bytesOut < 1_000, String(bytesOut));
  const budget = { accountId: 'a', month: new Date().toISOString().slice(0, 7), spentCents: 0, capCents: 0 };
  rig.link.grants.set('good', testGrant('token-1', { tunnelQuota: 50, budgets: [budget] }));
  await rig.serve('shop', 9);
  assert.equal(await told(send()), '503 budget_exhausted');
});

test('without an agent there is no answer but that', WITHIN, async (t) => {
  const { rig, send } = await served(t);
  rig.route('alone');
  assert.deepEqual(await send({ tunnelId: idOf('alone'), host: 'alone.example.test' }), OFFLINE);
  assert.deepEqual(await send({ tunnelId: idOf('none') }), OFFLINE);
  rig.route('shop', { stopped: true });
  assert.deepEqual(await send(), OFFLINE);
  rig.remove('shop');
  assert.deepEqual(await send(), OFFLINE);
});

test('a service that can not be reached, says nothing, or nonsense', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  await rig.serve('shop', 9);
  const send = () => told(rig.node.send(GET));
  assert.equal(await send(), '502 local_unreachable');
  let answer = '';
  const origin = await rawOrigin(
    t,
    perHead((socket) => socket.end(answer)),
  );
  await rig.serve('shop', origin.port);
  assert.equal(await send(), '502 local_closed');
  for (const [what, text] of NO_RESPONSES) {
    answer = text;
    assert.equal(await send(), '502 local_bad_response', what);
  }
  answer = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf';
  assert.equal(await send(), '200 local_closed');
  answer = 'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\nuntil the end';
  assert.equal(await send(), '404');
});

test('a kept connection that is closed at that moment: a GET is sent once more, a POST never', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const counts = new Map<unknown, number>();
  const origin = await rawOrigin(
    t,
    perHead((socket) => {
      const count = (counts.get(socket) ?? 0) + 1;
      counts.set(socket, count);
      if (count === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      else socket.end();
    }),
  );
  await rig.serve('shop', origin.port);
  const said: string[] = [];
  for (const method of ['GET', 'GET', 'POST']) {
    said.push(await told(rig.node.send({ ...GET, method })));
    await pause(REST_MS + 50);
  }
  assert.deepEqual(said, ['200', '200', '502 local_closed']);
  assert.equal(origin.sockets.length, 2);
});

for (const [what, limits, timeoutMs, said] of [
  ['that never answers', { localTimeoutSeconds: 1 }, 15_000, '504 local_timeout'],
  ['that never answers, in the time of the request', {}, 500, '504 local_timeout'],
  ['that never ends its answer', {}, 500, '200 local_timeout'],
] as const) {
  test(`a service ${what}`, WITHIN, async (t) => {
    const rig = await Rig.start(t, { limits });
    const origin = await rawOrigin(t, (socket) => {
      if (said.startsWith('200')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx');
    });
    await rig.serve('shop', origin.port);
    assert.equal(await told(rig.node.send({ ...GET, timeoutMs })), said);
    await until(() => origin.sockets.every((socket) => socket.readableEnded || socket.destroyed));
  });
}

test('a service that takes nothing of the body is not waited for for ever', WITHIN, async (t) => {
  const rig = await Rig.start(t, { limits: { localTimeoutSeconds: 1 } });
  const origin = await rawOrigin(t, (socket) => socket.pause());
  await rig.serve('shop', origin.port);
  const body = Buffer.alloc(32 << 20);
  assert.equal(await told(rig.node.send({ ...GET, method: 'POST', body })), '504 local_timeout');
});

test('a long answer is read to its end, and nothing of it is kept', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (_request, response) => response.end(MANY_BYTES));
  await rig.serve('shop', origin.port);
  assert.equal(await told(rig.node.send(GET)), '200');
  assert.equal(await told(rig.node.send({ ...GET, method: 'HEAD' })), '200');
});

test('an answer before the body is complete ends it', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(t, (socket) => {
    socket.pause();
    socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n');
  });
  await rig.serve('shop', origin.port);
  const body = Buffer.alloc(32 << 20);
  assert.equal(await told(rig.node.send({ ...GET, method: 'POST', body })), '413');
});

test('eight at a time go to one tunnel, the others hear at once that it is too much', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const waiting: Array<() => void> = [];
  const origin = await httpOrigin(t, (_request, response) => {
    waiting.push(() => response.end());
    origin.emit('asked');
  });
  await rig.serve('shop', origin.port);
  await rig.serve('shed', origin.port);
  const sent = Array.from({ length: 8 }, () => told(rig.node.send(GET)));
  while (waiting.length < 8) await once(origin, 'asked');
  assert.equal(rig.node.stats().connections.http, 0, 'they are no connections');
  for (let i = 0; i < 5; i++) assert.deepEqual(await rig.node.send(GET), { ok: false, code: 'overloaded' });
  assert.equal(rig.node.stats().answered['overloaded'], 5);
  const other = told(rig.node.send({ ...GET, tunnelId: idOf('shed'), host: 'shed.example.test', replayOf: null }));
  while (waiting.length < 9) await once(origin, 'asked');
  for (const answer of waiting.splice(0)) answer();
  assert.deepEqual(new Set(await Promise.all([...sent, other])), new Set(['200']));
  const again = told(rig.node.send(GET));
  while (waiting.length < 1) await once(origin, 'asked');
  waiting[0]?.();
  assert.equal(await again, '200');
});

test('a tunnel that is stopped, an agent that goes, a node that drains and closes', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(t, () => undefined);
  const agent = await rig.serve('shop', origin.port);
  /** Under way: the service has it. */
  const underWay = async (index: number): Promise<{ said: Promise<string> }> => {
    const said = told(rig.node.send(GET));
    await origin.arrived(/\r\n\r\n/, index);
    return { said };
  };
  const lost = await underWay(0);
  agent.destroy();
  assert.equal(await lost.said, '502 agent_lost');
  assert.deepEqual(await rig.node.send(GET), OFFLINE);

  await rig.serve('shop', origin.port);
  const superseded = await underWay(1);
  const heir = await rig.serve('shop', origin.port);
  origin.sockets[1]?.write('HTTP/1.1 204 No Content\r\n\r\n');
  assert.equal(await superseded.said, '204');

  const stopped = await underWay(2);
  rig.route('shop', { stopped: true });
  assert.equal(await stopped.said, '503 tunnel_offline');
  heir.destroy();

  rig.route('shop');
  await rig.serve('shop', origin.port);
  const cut = await underWay(3);
  const drained = rig.node.drain(200);
  assert.deepEqual(await rig.node.send(GET), OFFLINE);
  await drained;
  await rig.node.close();
  assert.match(await cut.said, /^(502 agent_lost|503 tunnel_offline)$/);
});

test('it is recorded with the id of the answer, and of a replay with what it repeats', WITHIN, async (t) => {
  const { rig, got, send } = await served(t);
  const body = Buffer.from('{"n":1}');
  const answer = await send({ method: 'POST', body, target: '/orders?status=201' });
  assert.ok(answer.ok);
  // Without asking for it: the record was stored before the answer came.
  const [record] = rig.link.inspections.flatMap((batch) => batch.records);
  assert.ok(record !== undefined);
  assert.deepEqual([record.id, record.replayOf, record.tunnelId], [answer.id, RECORD, idOf('shop')]);
  assert.deepEqual([record.method, record.target, record.status], ['POST', '/orders?status=201', 201]);
  assert.deepEqual([record.remoteIp, record.trace.scheme, record.trace.outcome], ['203.0.113.9', 'https', 'forwarded']);
  assert.deepEqual([Buffer.from(record.requestBody), record.requestBodyTruncated], [body, false]);
  assert.equal(Buffer.from(record.responseBody).toString(), 'answer');
  assert.match(Buffer.from(record.requestHead).toString(), new RegExp(`\r\nCulvert-Replay: ${RECORD}\r\n`));
  assert.equal(got.length, 1);

  rig.route('shop', policyOf({ kind: 'deny', pathPrefix: '/', enforce: true }));
  const refused = await send();
  const last = rig.link.inspections.at(-1)?.records.at(-1);
  assert.ok(refused.ok && last !== undefined);
  assert.deepEqual([last.id, last.status, last.trace.outcome, last.trace.code], [refused.id, 403, 'refused', 'denied']);
});
