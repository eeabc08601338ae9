import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Harness, startHarness } from '../core/testing/harness.ts';

type Event = Readonly<
  Record<
    'id' | 'timestamp' | 'action' | 'resourceType' | 'resourceId' | 'userEmail' | 'actorType' | 'ipAddress',
    string
  >
>;

let h: Harness;
let stranger = '';
const at: string[] = [];
before(async () => {
  h = await startHarness();
  stranger = await h.stranger('other_one@example.test');
  for (const subdomain of ['first', 'second', 'third']) {
    const made = await h.call('POST', '/tunnels', { as: h.owner, body: { localPort: 1, subdomain } });
    at.push(String(made.body['id']));
    await new Promise((resolve) => setTimeout(resolve, 5)); // instants that differ
  }
  await h.call('POST', '/tokens', { as: h.owner, body: { name: 'ci' } });
});
after(() => h.close());

async function events(query = '', as = h.owner, path = '/events'): Promise<readonly Event[]> {
  const answer = await h.call('GET', path + query, { as });
  assert.equal(answer.status, 200, answer.text);
  return answer.body as unknown as readonly Event[];
}

test('events: each names action, resource, actor and address, newest first', async () => {
  const [mint, third] = await events();
  assert.deepEqual([mint?.action, mint?.resourceType], ['token.mint', 'token']);
  assert.deepEqual(Object.keys(third ?? {}).sort(), [
    'action',
    'actorType',
    'changes',
    'details',
    'id',
    'ipAddress',
    'resourceId',
    'resourceName',
    'resourceType',
    'timestamp',
    'userEmail',
  ]);
  assert.deepEqual(
    [third?.action, third?.resourceType, third?.resourceId, third?.userEmail, third?.actorType, third?.ipAddress],
    ['tunnel.create', 'tunnel', at[2], 'admin@localhost', 'user', '127.0.0.1'],
  );
  assert.ok(Math.abs(Date.parse(third?.timestamp ?? '') - Date.now()) < 60_000);
});

test('filters: limit, action, actor, start_time, end_time, and the page before an event', async () => {
  assert.equal((await events('?limit=1')).length, 1);
  const created = await events('?action=tunnel.create');
  assert.deepEqual(
    created.map(({ resourceId }) => resourceId),
    [...at].reverse(),
  );
  assert.equal((await events('?actor=ADMIN%40localhost&action=tunnel.create')).length, 3);
  assert.equal((await events('?actor=absent')).length, 0);
  assert.equal((await events('?actor=%25')).length, 0, 'a wildcard is a character');
  const second = created[1];
  const since = await events(`?action=tunnel.create&start_time=${second?.timestamp}`);
  assert.deepEqual(
    since.map(({ resourceId }) => resourceId),
    [at[2], at[1]],
    'the instant itself is in',
  );
  const until = await events(`?action=tunnel.create&end_time=${second?.timestamp}`);
  assert.deepEqual(
    until.map(({ resourceId }) => resourceId),
    [at[0]],
    'the instant itself is not in',
  );
  const shifted = new Date(Date.parse(second?.timestamp ?? '') + 3_600_000).toISOString().replace('Z', '+01:00');
  assert.equal((await events(`?action=tunnel.create&start_time=${encodeURIComponent(shifted)}`)).length, 2);
  const older = await events(`?action=tunnel.create&before=${second?.id}`);
  assert.deepEqual(
    older.map(({ resourceId }) => resourceId),
    [at[0]],
  );
});

test('a date, an offset that was not encoded, and an action of a later version are filters too', async () => {
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  assert.ok((await events(`?start_time=${day}`)).length > 3);
  const plain = `${new Date(Date.now() - 3_600_000).toISOString().slice(0, 19)}+00:00`;
  assert.ok((await events(`?start_time=${plain}`)).length > 3);
  assert.equal((await events('?action=network.create')).length, 0);
});

test('what is no filter is refused by its name', async () => {
  for (const query of [
    'limit=0',
    'limit=1001',
    'limit=x',
    'limit=1.5',
    'start_time=yesterday',
    'end_time=x',
    'before=1',
    'actor=',
  ]) {
    const answer = await h.call('GET', `/events?${query}`, { as: h.owner });
    assert.deepEqual([answer.status, answer.body['error']], [400, 'invalid_request'], query);
    const [detail] = answer.body['details'] as Array<{ path: string }>;
    assert.equal(detail?.path, query.split('=')[0]);
  }
});

test('events: an organization sees its own audit log, and none is public', async () => {
  const theirs = await events('', stranger);
  assert.ok(theirs.length > 0);
  // The operator who made the account is in its audit log, with that action alone, and not by name.
  assert.ok(theirs.every(({ userEmail }) => userEmail !== 'admin@localhost'));
  const operators = theirs.filter(({ actorType }) => actorType === 'operator');
  assert.deepEqual(
    operators.map(({ action, userEmail, ipAddress }) => [action, userEmail, ipAddress]),
    [['user.create', 'operator', '']],
  );
  assert.deepEqual(await events('?actor=operator', stranger), operators);
  assert.deepEqual(await events('?actor=admin@localhost', stranger), [], 'nor is the name found by guessing');
  for (const path of ['/events', '/me/events']) assert.equal((await h.call('GET', path)).status, 401);
});

test('the personal feed holds log-ins, failed ones too, and nothing of the work', async () => {
  await h.call('POST', '/auth/login', { body: { email: 'other_one@example.test', password: 'wrong' } });
  const [failed, ...rest] = await events('', stranger, '/me/events');
  assert.equal(failed?.action, 'auth.login_failed');
  assert.ok(rest.some(({ action }) => action === 'auth.login'));
  const mine = await events('', h.owner, '/me/events');
  assert.ok(mine.length > 0 && mine.every(({ action }) => !action.startsWith('tunnel.')));
  assert.ok(mine.every(({ userEmail }) => userEmail !== 'other_one@example.test'));
  assert.equal((await events('?limit=1', stranger, '/me/events')).length, 1);
});
