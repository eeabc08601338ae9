/** Links to recorded requests: what their readers see, and how links end. */
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { inspectorShares } from '../../db/schema.ts';
import { said, startNeighbours } from '../../core/testing/team.ts';
import { head, recorded } from '../testing.ts';

const LINK = /^http:\/\/[^/]+\/inspector\/shared\/([A-Za-z0-9_-]{43})$/;
const HOUR = { expires_in_seconds: 3_600 };

const { plane, api, ann, eve, viv, close } = await startNeighbours();
after(close);
let record: string;

beforeEach(async () => {
  const { body } = await ann.call('POST', '/tunnels', { localPort: 3000 });
  const fields = [
    'Authorization: Bearer s3cret',
    'cookie: a=s3cret',
    'X-Api-Key: s3cret',
    'X-Forwarded-For: 203.0.113.7',
  ];
  const one = recorded({
    ...{ orgId: ann.home, tunnelId: String(body['id']), method: 'POST', target: '/pay?access_token=s3cret&page=2' },
    requestHead: head(
      'POST /pay?access_token=s3cret&page=2 HTTP/1.1',
      'Host: shop',
      'X-Own: 1',
      ...fields,
      'Content-Type: application/json',
    ),
    requestBody: Buffer.from('{"user":"ann","auth":{"password":"s3cret"}}'),
    responseHead: head('HTTP/1.1 200 OK', 'Set-Cookie: sid=s3cret; Path=/'),
  });
  await plane.control.link.inspect({ records: [one], unrecorded: [] });
  record = one.id;
});

async function shared(body: object = HOUR): Promise<{ id: string; token: string }> {
  const made = await ann.call('POST', `/inspector/${record}/share`, body);
  assert.equal(made.status, 200, made.text);
  const token = LINK.exec(String(made.body['url']))?.[1];
  assert.ok(token !== undefined, made.text);
  return { id: String(made.body['id']), token };
}

const read = (token: string) => api.call('GET', `/inspector/shared/${token}`);

test('share: a reader without an account sees the request, without credentials and addresses', async () => {
  const { token } = await shared();
  const { status, body, text } = await read(token);
  assert.equal(status, 200, text);
  const bodies = ['request_body', 'response_body'].map((name) => Buffer.from(String(body[name]), 'base64').toString());
  assert.doesNotMatch([text, ...bodies].join('\n'), /s3cret|203\.0\.113/);
  assert.deepEqual([body['method'], body['path'], body['status']], ['POST', '/pay?access_token=***&page=2', 200]);
  assert.equal(bodies[0], '{"user":"ann","auth":{"password":"***"}}');
  assert.ok(
    (body['request_headers'] as { name: string; value: string }[]).some(
      ({ name, value }) => name === 'X-Own' && value === '1',
    ),
  );
  // The record itself is as it was.
  assert.match((await ann.call('GET', `/inspector/${record}`)).text, /s3cret/);
});

test('share: a browser is sent to the page, and the token is stored as a hash', async () => {
  const { token } = await shared();
  const answer = await fetch(`http://127.0.0.1:${api.port}/inspector/shared/${token}`, {
    redirect: 'manual',
    headers: { accept: 'text/html,*/*' },
  });
  assert.equal(answer.status, 302);
  assert.equal(answer.headers.get('location'), `/app/shared/${token}`);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const stored = JSON.stringify(plane.control.store.db.select().from(inspectorShares).all());
  assert.ok(!stored.includes(token));
});

test('share: a link ends by itself, by revocation and with its record', async () => {
  const [revoked, forgotten, old] = [await shared(), await shared(), await shared({ expires_in_seconds: 60 })];
  assert.equal((await read(revoked.token)).status, 200);
  assert.deepEqual(said(await eve.call('DELETE', `/inspector/shares/${revoked.id}`)), [404, 'not_found']);
  assert.deepEqual(said(await ann.call('DELETE', `/inspector/shares/${revoked.id}`)), [200]);
  assert.deepEqual(said(await read(revoked.token)), [404, 'not_found']);
  plane.now += 61_000;
  assert.deepEqual(said(await read(old.token)), [404, 'not_found']);
  assert.equal((await read(forgotten.token)).status, 200);
  const tunnel = (await ann.call('GET', `/inspector/${record}`)).body['tunnel_id'];
  await ann.call('DELETE', `/inspector?tunnel_id=${String(tunnel)}`);
  assert.deepEqual(said(await read(forgotten.token)), [404, 'not_found']);
  assert.deepEqual(said(await read('x'.repeat(43))), [404, 'not_found']);
  const rows = (): readonly string[] =>
    plane.control.store.db
      .select()
      .from(inspectorShares)
      .all()
      .map(({ id }) => id);
  plane.control.retention.sweep();
  assert.ok(!rows().includes(old.id) && rows().includes(forgotten.id));
});

test('share: links are listed without tokens, and are in the audit log', async () => {
  const { id, token } = await shared();
  const list = await api.call('GET', '/inspector/shares', { as: viv });
  assert.ok(!list.text.includes(token));
  const [newest] = list.body as unknown as readonly Record<string, unknown>[];
  assert.deepEqual([newest?.['id'], newest?.['request_id'], newest?.['created_by']], [id, record, 'ann@example.test']);
  await ann.call('DELETE', `/inspector/shares/${id}`);
  const events = (await ann.call('GET', '/events')).body as unknown as readonly Record<string, unknown>[];
  const own = events
    .filter(({ details }) => (details as Record<string, unknown> | null)?.['share'] === id)
    .map(({ action }) => action);
  assert.deepEqual(own.toSorted(), ['inspector.share', 'inspector.unshare']);
});

test('share: other roles, other organizations and times that are none are refused', async () => {
  const path = `/inspector/${record}/share`;
  assert.deepEqual(said(await api.call('POST', path, { as: viv, body: HOUR })), [403, 'forbidden']);
  assert.deepEqual(said(await eve.call('POST', path, HOUR)), [404, 'not_found']);
  for (const body of [{}, { expires_in_seconds: 59 }, { expires_in_seconds: 2_592_001 }, { ...HOUR, until: 1 }])
    assert.deepEqual(said(await ann.call('POST', path, body)), [400, 'invalid_request']);
});

test('share: an organization has at most 200 links at a time', async () => {
  const before = (await ann.call('GET', '/inspector/shares')).body as unknown as readonly unknown[];
  for (let n = before.length; n < 200; n++) await shared();
  const refused = await ann.call('POST', `/inspector/${record}/share`, HOUR);
  assert.deepEqual(said(refused), [409, 'conflict']);
  const [newest] = (await ann.call('GET', '/inspector/shares')).body as unknown as readonly { readonly id: string }[];
  await ann.call('DELETE', `/inspector/shares/${newest?.id}`);
  assert.equal((await shared()).token.length, 43);
});

test('share: a reader that opens too many links is slowed down', async () => {
  const answers = await Promise.all(Array.from({ length: 70 }, () => read('y'.repeat(43))));
  assert.ok(answers.some((answer) => said(answer)[1] === 'rate_limited'));
  plane.now += 60_000;
  assert.deepEqual(said(await read('y'.repeat(43))), [404, 'not_found']);
});
