/**
 * A page of a sibling name below the parent domain plants `qnt_refresh` for the API's host: so that a user works in the attacker's session
 * unawares (fixation), or to lock them out. Over https the cookie `__Host-qnt_bind`, which no sibling can set, tells whose cookie counts.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Answer } from '../../src/control/core/testing/harness.ts';
import { Plane } from '../../src/control/core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../src/control/core/testing/plane-api.ts';

const ORIGIN = 'https://culvert.example.com';
const PAGE = { origin: ORIGIN, 'sec-fetch-site': 'same-origin' };

let plane: Plane;
let api: PlaneApi;
const passwords = new Map<string, string>();
before(async () => {
  plane = new Plane();
  api = await servePlane(plane, { publicUrl: () => ORIGIN });
  for (const email of ['victim@example.com', 'attacker@example.com']) {
    const made = await plane.control.accounts.createUser({ email, name: '', plan: 'free', superadmin: false });
    passwords.set(email, made.password.reveal());
  }
});
after(async () => {
  await api.close();
  plane.close();
});

interface Jar {
  readonly refresh: string;
  readonly bind: string;
}

const cookiesOf = (answer: Answer): Map<string, string> =>
  new Map(
    answer.headers.getSetCookie().map((line) => {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=');
      return [name, value];
    }),
  );
const jarOf = (answer: Answer): Jar => {
  const cookies = cookiesOf(answer);
  return { refresh: cookies.get('qnt_refresh') ?? '', bind: cookies.get('__Host-qnt_bind') ?? '' };
};
const login = async (email: string): Promise<Jar> => {
  const answer = await api.call('POST', '/auth/login', { body: { email, password: passwords.get(email) } });
  assert.equal(answer.status, 200, answer.text);
  return jarOf(answer);
};
const send = (path: string, cookie: string, headers: Record<string, string> = PAGE) =>
  api.call('POST', path, { headers: { ...headers, cookie } });
/** As a browser writes them: cookies of longer paths first, so the planted ones. */
const written = (planted: readonly string[], { refresh, bind }: Jar): string =>
  [...planted, refresh].map((value) => `qnt_refresh=${value}`).join('; ') + `; __Host-qnt_bind=${bind}`;
const whoIs = async (answer: Answer): Promise<unknown> => {
  const me = await api.call('GET', '/auth/me', { as: String(answer.body['access_token']) });
  return (me.body['user'] as { email: string }).email;
};

test('planted session: a browser without the companion cookie is not logged in by it', async () => {
  const planted = await login('attacker@example.com');
  for (const headers of [PAGE, { origin: ORIGIN }, { 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'none' }]) {
    const answer = await send('/auth/refresh', `qnt_refresh=${planted.refresh}`, headers);
    assert.equal(answer.status, 401, JSON.stringify(headers));
    assert.equal(answer.body['retry_after_seconds'], undefined);
    assert.equal((await send('/auth/logout', `qnt_refresh=${planted.refresh}`, headers)).status, 401);
  }
  const alone = await send('/auth/refresh', `qnt_refresh=${planted.refresh}`, {});
  assert.equal(alone.status, 200, 'a program sends it alone, as the specification says');
});

test('planted session: neither another session’s companion nor a forged one lets it in', async () => {
  const [mine, planted] = [await login('victim@example.com'), await login('attacker@example.com')];
  const bytes = Buffer.from(mine.bind, 'base64url');
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  for (const bind of [mine.bind, '', 'x', bytes.toString('base64url'), planted.refresh, mine.bind.slice(0, -2)]) {
    const answer = await send('/auth/refresh', `qnt_refresh=${planted.refresh}; __Host-qnt_bind=${bind}`);
    assert.equal(answer.status, 401, bind);
  }
  // The same name behind a blank that browsers leave in it: any host may set such a cookie.
  for (const blank of ['\u00a0', '\u000b', '\u000c', '\u0085'])
    assert.equal(
      (
        await send('/auth/refresh', `qnt_refresh=${planted.refresh}; ${blank}__Host-qnt_bind=${planted.bind}`).catch(
          () => ({ status: 401 }),
        )
      ).status,
      401,
      escape(blank),
    );
});

test('planted session: more live ones than a look-up takes do not lock the user out', async () => {
  const planted: string[] = [];
  for (let i = 0; i < 12; i++) planted.push((await login('attacker@example.com')).refresh);
  let mine = await login('victim@example.com');
  for (let i = 0; i < 3; i++) {
    const answer = await send('/auth/refresh', written(planted, mine));
    assert.equal(answer.status, 200, answer.text);
    assert.equal(await whoIs(answer), 'victim@example.com');
    const next = jarOf(answer);
    assert.equal(next.bind, mine.bind, 'the companion survives the swap');
    assert.notEqual(next.refresh, mine.refresh);
    mine = next;
  }
  const out = await send('/auth/logout', written(planted, mine));
  assert.equal(out.status, 200);
  assert.deepEqual(
    [...cookiesOf(out)],
    [
      ['qnt_refresh', ''],
      ['__Host-qnt_bind', ''],
    ],
  );
  for (const refresh of planted)
    assert.equal((await send('/auth/refresh', `qnt_refresh=${refresh}`, {})).status, 200, 'nor does it end others');
});

test('planted session: the next log-in works while the planted cookie stays in the browser', async () => {
  const planted = await login('attacker@example.com');
  const lost = await send('/auth/refresh', `qnt_refresh=${planted.refresh}`);
  assert.equal(lost.status, 401);
  const again = await login('victim@example.com');
  const answer = await send('/auth/refresh', written([planted.refresh], again));
  assert.equal(await whoIs(answer), 'victim@example.com');
});

test('planted session: the dashboard does not take it for its own', async (t) => {
  const [mine, planted] = [await login('victim@example.com'), await login('attacker@example.com')];
  const page = async (cookie: string) =>
    api.call('GET', '/app/', { headers: { cookie, 'sec-fetch-site': 'none', accept: 'text/html' } });
  if ((await page('')).status === 503) return t.skip('the dashboard is not built');
  const session = async (cookie: string) =>
    /name="culvert-session" content="(\w+)"/.exec((await page(cookie)).text)?.[1];
  assert.equal(await session(`qnt_refresh=${planted.refresh}`), 'none');
  assert.notEqual(await session(written([planted.refresh], mine)), 'none');
});

test('planted session: a page can’t log the browser in as the attacker either', async () => {
  const body = JSON.stringify({ email: 'attacker@example.com', password: passwords.get('attacker@example.com') });
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', ''])
    for (const origin of ['https://shop.example.com', 'null']) {
      const answer = await api.call('POST', '/auth/login', {
        raw: body,
        headers: { origin, 'sec-fetch-site': 'same-site', 'content-type': type },
      });
      assert.equal(answer.status, 400, `${type} ${origin}`);
      assert.deepEqual(answer.headers.getSetCookie(), []);
    }
  const asked = await api.call('OPTIONS', '/auth/login', {
    headers: {
      origin: 'https://shop.example.com',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    },
  });
  assert.equal(asked.headers.get('access-control-allow-origin'), null);
});

test('companion cookie: its flags are those that browsers demand of the prefix, and plain http has none', async () => {
  const answer = await api.call('POST', '/auth/login', {
    body: { email: 'victim@example.com', password: passwords.get('victim@example.com') },
  });
  const line = answer.headers.getSetCookie().find((one) => one.startsWith('__Host-qnt_bind=')) ?? '';
  for (const flag of ['HttpOnly', 'SameSite=Lax', 'Path=/', 'Secure', 'Max-Age=2592000'])
    assert.ok(line.includes(flag), line);
  assert.doesNotMatch(line, /domain/i);
  const plain = await servePlane(plane);
  try {
    const open = await plain.call('POST', '/auth/login', {
      body: { email: 'victim@example.com', password: passwords.get('victim@example.com') },
    });
    assert.deepEqual([...cookiesOf(open).keys()], ['qnt_refresh']);
  } finally {
    await plain.close();
  }
});
