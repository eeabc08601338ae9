/** Recorded requests that are sent again on the whole product: a real server, a real agent, a real service, and the API that its people use. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:http2';
import { buffer } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { Account, type Culvert, startCulvert, startOrigin } from '../harness.ts';

const WITHIN = { timeout: 120_000 };
const ON = '[inspector]\nreplay = true\nmax_body_bytes = 4096';
const BODY = Buffer.from(Array.from({ length: 300 }, (_, i) => i % 256));

interface Got {
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface Fixture {
  readonly culvert: Culvert;
  readonly url: string;
  readonly tunnelId: string;
  /** What the service got. */
  readonly got: Got[];
  /** Emits `got`. */
  readonly origin: Awaited<ReturnType<typeof startOrigin>>;
  /** Of the newest record. */
  newest(): Promise<Record<string, unknown>>;
  replay(id: unknown, edits?: object, by?: Account): Promise<{ status: number; body: Record<string, unknown> }>;
}

/** A tunnel `shop` whose service answers all but `/silent`. */
async function fixture(t: TestContext): Promise<Fixture> {
  const culvert = await startCulvert(t, ON);
  const { account } = culvert;
  const got: Got[] = [];
  const origin = await startOrigin(t, (incoming, response) => {
    void buffer(incoming).then((body) => {
      got.push({ line: `${incoming.method} ${incoming.url}`, headers: incoming.headers, body });
      origin.server.emit('got');
      if (incoming.url !== '/silent') response.writeHead(201).end('made');
    });
  });
  const { url } = await culvert.publish('http', origin.port, { subdomain: 'shop' });
  const [tunnel] = (await account.call('GET', '/tunnels')).body as unknown as Array<{ id: string }>;
  return {
    culvert,
    url,
    tunnelId: tunnel?.id ?? '',
    got,
    origin,
    newest: async () =>
      ((await account.call('GET', '/inspector?limit=1')).body as unknown as [Record<string, unknown>])[0],
    replay: (id, edits, by = account) => by.call('POST', `/inspector/${String(id)}/replay`, edits),
  };
}

/** A request of a visitor; its status. */
async function visit(
  { culvert, url }: Fixture,
  path: string,
  of: { method?: string; body?: Buffer; headers?: object } = {},
) {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const outgoing = request({
    host: '127.0.0.1',
    port: culvert.httpPort,
    method: of.method ?? 'GET',
    path,
    headers: { host: new URL(url).host, ...of.headers },
    agent: false,
  });
  outgoing.on('error', reject);
  outgoing.on('response', (response) => {
    response.resume().on('end', () => resolve(response.statusCode ?? 0));
  });
  outgoing.end(of.body);
  return promise;
}

test('the service gets the request once more, with the same body and the id of the record', WITHIN, async (t) => {
  const at = await fixture(t);
  const headers = { 'content-type': 'text/plain', 'X-Two': ['1', '2'], cookie: 'a=1', 'Culvert-Replay': 'me' };
  assert.equal(await visit(at, '/orders?a=%20b', { method: 'POST', body: BODY, headers }), 201);
  const { id } = await at.newest();
  const { status, body } = await at.replay(id);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual([body['status'], body['code']], [201, undefined]);
  assert.ok(Number(body['latency_ms']) > 0);

  const [first, again] = at.got;
  assert.ok(first !== undefined && again !== undefined && at.got.length === 2);
  assert.equal(again.line, first.line);
  assert.deepEqual(again.body, BODY);
  assert.equal(first.headers['culvert-replay'], undefined, 'visitors can not pretend');
  const { 'culvert-replay': mark, connection: _connection, ...rest } = again.headers;
  assert.equal(mark, id);
  const { connection: _first, 'transfer-encoding': _coding, ...before } = first.headers;
  assert.deepEqual(rest, { ...before, 'content-length': String(BODY.length) });

  const detail = (await at.culvert.account.call('GET', `/inspector/${String(body['id'])}`)).body;
  assert.deepEqual([detail['replay_of'], detail['status'], detail['path']], [id, 201, '/orders?a=%20b']);
  assert.equal(detail['request_body'], BODY.toString('base64'));
  // And once more of that one: the mark is the new record's.
  await at.replay(body['id']);
  assert.equal(at.got[2]?.headers['culvert-replay'], body['id']);
});

test('changed before it is sent; and what the edge would not take is refused', WITHIN, async (t) => {
  const at = await fixture(t);
  await visit(at, '/orders', { headers: { 'X-A': '1' } });
  const { id } = await at.newest();
  const edits = { method: 'PUT', path: '/other', headers: { 'x-a': '2' }, body: BODY.toString('base64') };
  assert.equal((await at.replay(id, edits)).body['status'], 201);
  const last = at.got.at(-1);
  assert.deepEqual([last?.line, last?.headers['x-a'], last?.body.equals(BODY)], ['PUT /other', '2', true]);
  assert.equal((await at.replay(id, { headers: { Host: 'evil.test' } })).status, 400);
  assert.equal((await at.replay(id, { path: '/ HTTP/1.1\r\nX: y' })).status, 400);
  const long = (await at.replay(id, { path: `/${'a'.repeat(20_000)}` })).body;
  assert.deepEqual([long['status'], long['code']], [414, 'uri_too_long']);
  assert.equal(at.got.length, 2);
});

test('the policy of now refuses it, gates let it pass', WITHIN, async (t) => {
  const at = await fixture(t);
  const { account } = at.culvert;
  await visit(at, '/orders');
  const { id } = await at.newest();
  const policy = { actions: [{ kind: 'deny', path_prefix: '/orders' }] };
  assert.equal((await account.call('PUT', `/tunnels/${at.tunnelId}/policy`, policy)).status, 200);
  const denied = (await at.replay(id)).body;
  assert.deepEqual([denied['status'], denied['code']], [403, 'denied']);
  const refused = await at.newest();
  assert.equal(refused['id'], denied['id']);
  const again = (await at.replay(refused['id'])).body;
  assert.deepEqual([again['status'], again['code'], again['was_blocked']], [403, 'denied', true]);
  assert.equal((await account.call('DELETE', `/tunnels/${at.tunnelId}/policy`)).status, 200);
  const passed = (await at.replay(refused['id'])).body;
  assert.deepEqual([passed['status'], passed['was_blocked']], [201, true]);
  const detail = (await account.call('GET', `/inspector/${String(passed['id'])}`)).body;
  assert.deepEqual([detail['replay_of'], detail['was_blocked']], [refused['id'], true]);
  const gate = { username: 'ann', password: 'open sesame' };
  assert.equal((await account.call('PUT', `/tunnels/${at.tunnelId}/auth`, gate)).status, 200);
  assert.equal(await visit(at, '/orders'), 401);
  assert.equal((await at.replay(id)).body['status'], 201);
  assert.equal(at.got.length, 3);
});

test('replay: it is the owner’s alone, and no one’s when recording is off', WITHIN, async (t) => {
  const at = await fixture(t);
  await visit(at, '/orders');
  const { id } = await at.newest();
  const { account } = at.culvert;
  const made = await account.call('POST', '/superadmin/users', { email: 'bob@example.test' });
  const bob = await Account.logIn(account.apiUrl, 'bob@example.test', String(made.body['password']));
  assert.deepEqual((await at.replay(id, undefined, bob)).status, 404);
  assert.equal(at.got.length, 1);

  const off = await startCulvert(t);
  const { url } = await off.publish('http', at.origin.port, { subdomain: 'shop' });
  await visit({ ...at, culvert: off, url }, '/orders');
  const [record] = (await off.account.call('GET', '/inspector')).body as unknown as Array<{ id: string }>;
  const refused = await off.account.call('POST', `/inspector/${record?.id}/replay`);
  assert.deepEqual([refused.status, refused.body['error']], [501, 'not_implemented']);
  assert.equal(at.got.length, 2);
});

test('of a body that was cut in the record nothing is sent', WITHIN, async (t) => {
  const at = await fixture(t);
  await visit(at, '/orders', { method: 'POST', body: Buffer.alloc(4_097) });
  const cut = await at.newest();
  const refused = await at.replay(cut['id']);
  assert.deepEqual([refused.status, refused.body['error']], [409, 'body_truncated']);
  assert.equal(at.got.length, 1);
  await visit(at, '/orders', { method: 'POST', body: Buffer.alloc(4_096) });
  assert.equal((await at.replay((await at.newest())['id'])).body['status'], 201);
  assert.equal(at.got.at(-1)?.body.length, 4_096);
});

test('the agent that serves the tunnel now gets it; without one it is 503', WITHIN, async (t) => {
  const at = await fixture(t);
  await visit(at, '/orders');
  const { id } = await at.newest();
  const heirs: string[] = [];
  const heir = await startOrigin(t, (incoming, response) => {
    heirs.push(incoming.url ?? '');
    response.end();
  });
  const { agent } = await at.culvert.publish('http', heir.port, { subdomain: 'shop' });
  assert.equal((await at.replay(id)).body['status'], 200);
  assert.deepEqual([heirs, at.got.length], [['/orders'], 1]);
  agent.destroy();
  await agent.done;
  for (;;) {
    const { status, body } = await at.replay(id);
    if (status === 200 && body['code'] === 'agent_lost') continue;
    assert.deepEqual([status, body['error']], [503, 'tunnel_offline']);
    break;
  }
});

test('a tunnel that is stopped while its service is silent', WITHIN, async (t) => {
  const at = await fixture(t);
  await visit(at, '/orders');
  const { id } = await at.newest();
  const asked = once(at.origin.server, 'got');
  const underWay = at.replay(id, { path: '/silent' });
  await asked;
  assert.equal((await at.culvert.account.call('POST', `/tunnels/${at.tunnelId}/stop`)).status, 200);
  const stopped = (await underWay).body;
  assert.deepEqual([stopped['status'], stopped['code']], [503, 'tunnel_offline']);
  const { status, body } = await at.replay(id);
  assert.deepEqual([status, body['error']], [503, 'tunnel_offline']);
});

test('what came over HTTP/2 is sent again as the service got it', WITHIN, async (t) => {
  const at = await fixture(t);
  const session = connect(`https://127.0.0.1:${at.culvert.httpsPort}`, {
    rejectUnauthorized: false,
    servername: 'shop.localhost',
  });
  t.after(() => session.destroy());
  const stream = session.request({
    ':method': 'PUT',
    ':path': '/orders',
    ':authority': 'shop.localhost',
    cookie: ['a=1', 'b=2'],
    'x-a': '1',
  });
  // No length is said: it goes on in chunks.
  stream.write(BODY.subarray(0, 100));
  stream.end(BODY.subarray(100));
  const [answered] = (await once(stream, 'response')) as [Record<string, unknown>];
  assert.equal(answered[':status'], 201);
  await once(stream.resume(), 'end');
  const { id } = await at.newest();
  assert.equal((await at.replay(id)).body['status'], 201);
  const [first, again] = at.got;
  assert.deepEqual([first?.line, first?.body, first?.headers['transfer-encoding']], ['PUT /orders', BODY, 'chunked']);
  assert.deepEqual([again?.line, again?.body, again?.headers['content-length']], ['PUT /orders', BODY, '300']);
  for (const name of ['cookie', 'x-a', 'host', 'x-forwarded-for', 'x-forwarded-proto'])
    assert.equal(again?.headers[name], first?.headers[name], name);
});
