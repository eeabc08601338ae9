/**
 * More refresh cookies than one in a request: a page of a sibling host can plant its own beside the visitor's; and the ends of a cookie.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Answer, type Harness, startHarness } from '../../core/testing/harness.ts';

interface Login {
  readonly cookie: string;
  readonly as: string;
}

let h: Harness;
let victim: { email: string; password: string };
let attacker: { email: string; password: string };
before(async () => {
  h = await startHarness();
  const make = async (email: string) => ({ email, password: (await h.account(email)).password });
  victim = await make('victim@example.com');
  attacker = await make('attacker@example.com');
});
after(() => h.close());

const cookieOf = (answer: Answer): string =>
  /qnt_refresh=([^;]*)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '';
const login = async (body: { email: string; password: string }): Promise<Login> => {
  const answer = await h.call('POST', '/auth/login', { body });
  assert.equal(answer.status, 200);
  return { cookie: cookieOf(answer), as: String(answer.body['access_token']) };
};
const send = (path: string, cookies: readonly string[], as?: string): Promise<Answer> =>
  h.call('POST', path, {
    headers: { cookie: cookies.map((value) => `qnt_refresh=${value}`).join('; ') },
    ...(as === undefined ? {} : { as }),
  });
const isAlive = async ({ as }: Login): Promise<boolean> => (await h.call('GET', '/auth/me', { as })).status === 200;
const isCleared = (answer: Answer): boolean => answer.headers.get('set-cookie')?.startsWith('qnt_refresh=;') === true;
const personOf = async (answer: Answer): Promise<unknown> => {
  const me = await h.call('GET', '/auth/me', { as: String(answer.body['access_token']) });
  return (me.body['user'] as { email: string }).email;
};

test('planted cookies: two live cookies neither refresh nor log out a session, whichever comes first', async () => {
  for (const isFirst of [true, false]) {
    const [mine, planted] = [await login(victim), await login(attacker)];
    const both = isFirst ? [planted.cookie, mine.cookie] : [mine.cookie, planted.cookie];
    for (const path of ['/auth/refresh', '/auth/logout']) {
      const answer = await send(path, both);
      assert.equal(answer.status, 401, path);
      assert.equal(answer.headers.get('set-cookie'), null, 'without the own one, the planted one would count');
    }
    assert.ok((await isAlive(mine)) && (await isAlive(planted)));
  }
});

test('the only live cookie counts, wherever dead ones stand', async () => {
  const dead = await login(attacker);
  assert.equal((await send('/auth/logout', [dead.cookie])).status, 200);
  for (const planted of [dead.cookie, 'rubbish', '', `${'A'.repeat(22)}.${'A'.repeat(43)}`]) {
    for (const isFirst of [true, false]) {
      const { cookie } = await login(victim);
      const answer = await send('/auth/refresh', isFirst ? [planted, cookie] : [cookie, planted]);
      assert.equal(answer.status, 200, planted);
      assert.equal(await personOf(answer), victim.email);
    }
  }
});

test('a swapped cookie beside a live one does not end its session', async () => {
  const mine = await login(victim);
  const next = await send('/auth/refresh', [mine.cookie]);
  const last = await send('/auth/refresh', [cookieOf(next)]);
  assert.equal(last.status, 200);
  const answer = await send('/auth/refresh', [mine.cookie, cookieOf(last)]);
  assert.equal(answer.status, 200);
  assert.equal(await personOf(answer), victim.email);
  assert.equal((await send('/auth/refresh', [cookieOf(next), mine.cookie])).status, 401, 'none is live');
  assert.ok(await isAlive(mine), 'nor is anything revoked then');
});

test('the same value twice is one cookie', async () => {
  const { cookie } = await login(victim);
  assert.equal((await send('/auth/refresh', [cookie, cookie])).status, 200);
});

test('a cookie of a session that is over is cleared', async () => {
  const { cookie } = await login(victim);
  assert.equal((await send('/auth/logout', [cookie])).status, 200);
  for (const dead of [cookie, 'rubbish']) {
    const answer = await send('/auth/refresh', [dead]);
    assert.equal(answer.status, 401);
    assert.ok(isCleared(answer));
  }
  const without = await h.call('POST', '/auth/refresh');
  assert.equal(without.status, 401);
  assert.equal(without.headers.get('set-cookie'), null);
});

test('a log-out by bearer ends the session of the cookie too when both are one person’s', async () => {
  const [one, two] = [await login(victim), await login(victim)];
  const answer = await send('/auth/logout', [two.cookie], one.as);
  assert.equal(answer.status, 200);
  assert.ok(isCleared(answer));
  assert.ok(!(await isAlive(one)) && !(await isAlive(two)));
});

test('a log-out by bearer leaves the session and the cookie of another user alone', async () => {
  const [mine, other] = [await login(victim), await login(attacker)];
  const answer = await send('/auth/logout', [other.cookie], mine.as);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('set-cookie'), null);
  assert.ok(!(await isAlive(mine)) && (await isAlive(other)));
  const third = await login(victim);
  const planted = await send('/auth/logout', [other.cookie, third.cookie], third.as);
  assert.ok(isCleared(planted));
  assert.ok(!(await isAlive(third)) && (await isAlive(other)));
});
