import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import type { ApiEnv } from '../../core/http/context.ts';
import { accountCookies, keptCookie } from './login-cookie.ts';

const STATE = 'abcdefgh-0123456789_abcdefghijklmnopqrstuvw';
const HTTPS = 'https://api.example.com';

function serve(publicUrl: string) {
  const app = new Hono<ApiEnv>();
  app.get('/give', (c) => {
    accountCookies.give(c, { state: STATE, sealed: 's1.sealed' }, publicUrl);
    return c.text('');
  });
  app.get('/take', (c) => c.text(accountCookies.take(c, c.req.query('state') ?? '', publicUrl)));
  app.get('/keep', (c) => {
    keptCookie.give(c, 's1.kept', publicUrl);
    return c.text('');
  });
  app.get('/kept', (c) => {
    keptCookie.forget(c, publicUrl);
    return c.text(keptCookie.read(c, publicUrl));
  });
  return async (path: string, cookie = '') => {
    const response = await app.request(path, { headers: { cookie } });
    return { cookies: response.headers.getSetCookie(), text: await response.text() };
  };
}

test('over https no other host of the same domain can set the cookie', async () => {
  const { cookies } = await serve(HTTPS)('/give');
  assert.deepEqual(cookies, [
    '__Host-culvert_login_abcdefgh=s1.sealed; Max-Age=600; Path=/; HttpOnly; Secure; SameSite=Lax',
  ]);
  // What a neighbour can set, a name without the prefix, is not looked at.
  const planted = await serve(HTTPS)(`/take?state=${STATE}`, 'culvert_login_abcdefgh=planted');
  assert.equal(planted.text, '');
});

test('the cookie of a state is read once and taken away; others stay', async () => {
  const cookie = '__Host-culvert_login_abcdefgh=mine; __Host-culvert_login_other123=theirs';
  const { text, cookies } = await serve(HTTPS)(`/take?state=${STATE}`, cookie);
  assert.equal(text, 'mine');
  assert.deepEqual(cookies, ['__Host-culvert_login_abcdefgh=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax']);
});

test('a state that can be none has no cookie', async () => {
  for (const state of ['', 'short', 'a b', '%0d%0aX', 'x'.repeat(129)]) {
    const { text, cookies } = await serve('http://127.0.0.1:9090')(`/take?state=${state}`, 'culvert_login_=planted');
    assert.deepEqual([text, cookies.join().includes('\n')], ['', false]);
  }
});

test('the sixth start makes the browser forget the five before it', async () => {
  const known = (count: number): string =>
    Array.from({ length: count }, (_, i) => `culvert_login_number_${i}=x`).join('; ');
  const { cookies } = await serve('http://127.0.0.1:9090')('/give', `${known(5)}; qnt_refresh=stays`);
  assert.equal(cookies.filter((line) => line.includes('Max-Age=0')).length, 5);
  assert.ok(!cookies.some((line) => line.startsWith('qnt_refresh')));
  assert.equal((await serve('http://127.0.0.1:9090')('/give', known(4))).cookies.length, 1);
});

test('what a page gets back lives for a minute, and no neighbour can plant it', async () => {
  const app = serve(HTTPS);
  const flags = 'Path=/; HttpOnly; Secure; SameSite=Lax';
  assert.deepEqual((await app('/keep')).cookies, [`__Host-culvert_kept=s1.kept; Max-Age=60; ${flags}`]);
  const { text, cookies } = await app('/kept', 'culvert_kept=planted; __Host-culvert_kept=mine');
  assert.deepEqual([text, cookies], ['mine', [`__Host-culvert_kept=; Max-Age=0; ${flags}`]]);
});
