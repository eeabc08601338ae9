/** Visitors of a tunnel at the identity provider and back: who gets a ticket, for where, and what strangers try. */
import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, test } from 'node:test';
import { Secret } from '../../../base/secret.ts';
import { domains, spentOnce, users } from '../../db/schema.ts';
import { openTicket, TICKET_MS, type VisitorTicket } from '../../../plane/visitor-tokens.ts';
import { Browser } from '../../../../test/harness/browser.ts';
import { inReverse } from '../../../../test/harness/ends.ts';
import { type Github, githubPerson, startGithub } from '../../../../test/harness/github.ts';
import { Plane } from '../../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../core/testing/plane-api.ts';
import { said } from '../../core/testing/team.ts';

const ends = inReverse({ after });
const NONCE_HASH = 'n'.repeat(43);
let github: Github;
let plane: Plane;
let api: PlaneApi;
let url = '';
let tunnelId: string;
let other: string;
let actor: Awaited<ReturnType<Plane['person']>>;
beforeEach(async () => {
  github = await startGithub(ends);
  plane = new Plane(undefined, {
    apiUrl: () => url,
    visitorProvider: 'github',
    oauth: {
      google: null,
      github: {
        clientId: 'Iv1.test',
        clientSecret: new Secret('github-secret-0123'),
        authorizeUrl: `${github.url}/login/oauth/authorize`,
        tokenUrl: `${github.url}/login/oauth/access_token`,
        apiUrl: `${github.url}/api`,
      },
    },
  });
  api = await servePlane(plane, { publicUrl: () => url });
  url = `http://127.0.0.1:${api.port}`;
  actor = await plane.person('owner@example.test', 'pro');
  tunnelId = plane.create(actor, { subdomain: 'shop' }).row.id;
  other = plane.create(actor, { subdomain: 'shed' }).row.id;
  put({ allowedDomains: ['example.com'], allowedEmails: ['ann@partner.test'] });
  github.current = githubPerson(1, 'ann@example.com');
});
afterEach(async () => {
  await api.close();
  await github.close();
  plane.close();
});

const put = (lists: { allowedDomains: string[]; allowedEmails: string[] }) =>
  plane.control.visitorGates.put(actor, tunnelId, lists);
const startUrl = (query: Record<string, string> = {}): string =>
  `${url}/edge-auth/start?${new URLSearchParams({ tunnel_id: tunnelId, nonce: NONCE_HASH, ...query })}`;
const isCallback = (to: URL): boolean => to.pathname.endsWith('/edge-auth/callback');
const isLanding = (to: URL): boolean => to.pathname === '/.culvert/visitor';

/** The address that the provider sends the browser back to. */
const upToCallback = async (browser: Browser, query: Record<string, string> = {}): Promise<URL> =>
  (await browser.open(startUrl(query), isCallback)).url;

async function ticketIn(to: URL): Promise<VisitorTicket> {
  const { visitorKey } = await plane.control.link.snapshot();
  const ticket = openTicket(Buffer.from(visitorKey, 'base64url'), to.searchParams.get('ticket') ?? '');
  assert.ok(ticket !== undefined, to.href);
  return ticket;
}
/** The whole way: where it leads, and with what. */
async function landed(query: Record<string, string> = {}): Promise<{ to: URL; ticket: VisitorTicket }> {
  const { url: to, status, text } = await new Browser().open(startUrl(query), isLanding);
  assert.ok(isLanding(to), `${status} ${text}`);
  return { to, ticket: await ticketIn(to) };
}
/** An answer that must not lead to the tunnel. */
async function refused(browser: Browser, at: URL | string): Promise<[number, unknown]> {
  const page = await browser.open(at, isLanding);
  assert.ok(!isLanding(page.url), `admitted: ${page.url.href}`);
  return [page.status, (JSON.parse(page.text) as { error: string }).error];
}

test('visitor login: a listed visitor of the provider gets a ticket for the tunnel’s own host', async () => {
  const { to, ticket } = await landed({ return_to: 'http://shop.localhost:8080/orders?open=1' });
  assert.equal(to.origin, 'http://shop.localhost');
  const { id, version, ...rest } = ticket;
  assert.deepEqual(rest, {
    tunnelId,
    host: 'shop.localhost',
    email: 'ann@example.com',
    expiresAt: plane.now + TICKET_MS,
    nonceHash: NONCE_HASH,
    again: false,
    path: '/orders?open=1',
  });
  assert.equal(
    (await plane.control.link.snapshot()).routes.find((r) => r.tunnelId === tunnelId)?.visitorGate?.version,
    version,
  );
  assert.notEqual((await landed()).ticket.id, id);
  // Visitors have no accounts.
  assert.equal(plane.control.store.db.select().from(users).all().length, 1);
});

test('without a nonce, or with one that is none, the ticket is tied to no browser: its host asks for another', async () => {
  for (const nonce of ['', 'short', 'n'.repeat(44), `${'n'.repeat(42)}=`])
    assert.equal((await landed({ nonce })).ticket.nonceHash, '');
  assert.equal((await landed({ again: '1' })).ticket.again, true);
});

// biome-ignore format: a table
const RETURNS: ReadonlyArray<readonly [asked: string, origin: string, path: string]> = [
  ['/a?b=1', 'http://shop.localhost', '/a?b=1'],
  ['http://shop.localhost/a', 'http://shop.localhost', '/a'],
  ['https://SHOP.localhost.:9999/a', 'http://shop.localhost', '/a'],
  ['http://custom.test/a', 'http://custom.test', '/a'],
  ['https://custom.test:444/a', 'http://custom.test', '/a'],
  ['http://unverified.test/a', 'http://shop.localhost', '/'],
  ['http://elsewhere.test/a', 'http://shop.localhost', '/'],
  ['http://shed.localhost/a', 'http://shop.localhost', '/'],
  ['https://evil.example/', 'http://shop.localhost', '/'],
  ['http://shop.localhost.evil.example/', 'http://shop.localhost', '/'],
  ['http://evil.example/shop.localhost', 'http://shop.localhost', '/'],
  ['http://shop.localhost@evil.example/', 'http://shop.localhost', '/'],
  ['http://shop.localhost:x@evil.example/', 'http://shop.localhost', '/'],
  ['http://evil@shop.localhost/a', 'http://shop.localhost', '/'],
  ['http://shop.localhost\\@evil.example/', 'http://shop.localhost', '/@evil.example/'],
  ['http://shop.localhost//evil.example', 'http://shop.localhost', '/'],
  ['http://shop.localhost/\\evil.example', 'http://shop.localhost', '/'],
  ['//evil.example/', 'http://shop.localhost', '/'],
  ['/\\evil.example/', 'http://shop.localhost', '/'],
  ['\\\\evil.example', 'http://shop.localhost', '/'],
  ['/a\r\nLocation: http://evil.example', 'http://shop.localhost', '/'],
  ['/\t/evil.example', 'http://shop.localhost', '/'],
  ['javascript:alert(1)', 'http://shop.localhost', '/'],
  ['data:text/html,x', 'http://shop.localhost', '/'],
  ['http:evil.example', 'http://shop.localhost', '/'],
  ['evil.example', 'http://shop.localhost', '/'],
  ['', 'http://shop.localhost', '/'],
];

test('a sign-in leads to a host of this tunnel, and nowhere else', async () => {
  const { store } = plane.control;
  const row = { orgId: actor.orgId, createdAt: plane.now, verificationToken: 'x' };
  store.db
    .insert(domains)
    .values([
      { ...row, id: 'd1', domain: 'custom.test', tunnelId, verifiedAt: plane.now },
      { ...row, id: 'd2', domain: 'unverified.test', tunnelId, verifiedAt: null },
      { ...row, id: 'd3', domain: 'elsewhere.test', tunnelId: other, verifiedAt: plane.now },
    ])
    .run();
  for (const [asked, origin, path] of RETURNS) {
    const { to, ticket } = await landed({ return_to: asked });
    assert.deepEqual([to.origin, ticket.host, ticket.path], [origin, new URL(origin).hostname, path], asked);
  }
});

// biome-ignore format: a table
const PEOPLE: ReadonlyArray<readonly [email: string, isIn: boolean]> = [
  ['ANN@Example.COM', true],
  ['Ann@Partner.Test', true],
  ['bob@partner.test', false],
  ['ann@evil-example.com', false],
  ['ann@example.com.evil.test', false],
  ['ann@sub.example.com', false],
  ['ann@example.co', false],
  ['ann@com', false],
  ['ann@evil.test@example.com', false],
  ['ann@partner.test@evil.test', false],
];

test('an address is on the lists itself, or its domain is, exactly; case does not count', async () => {
  for (const [email, isIn] of PEOPLE) {
    github.current = githubPerson(1, email);
    const page = await new Browser().open(startUrl(), isLanding);
    assert.equal(isLanding(page.url), isIn, email);
    if (isIn) assert.equal((await ticketIn(page.url)).email, email.toLowerCase());
    else assert.equal(page.status, 403, email);
  }
});

test('visitor login: a visitor on no list gets a page with a link to another account', async () => {
  github.current = githubPerson(1, 'eve@evil.test');
  const browser = new Browser();
  const callback = await upToCallback(browser, { return_to: '/orders' });
  const jar = [...browser.cookies(url)].map(([name, value]) => `${name}=${value}`).join('; ');
  const page = await fetch(callback, { redirect: 'manual', headers: { cookie: jar, accept: 'text/html' } });
  const text = await page.text();
  assert.equal(page.status, 403);
  assert.match(
    text,
    /You are logged in as eve@evil\.test, but this address is not on the access list of shop\.localhost/,
  );
  assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  assert.ok(!page.headers.getSetCookie().some((line) => line.startsWith('culvert_visitor=')));
  const retry = new URL((/href="([^"]*edge-auth[^"]*)"/.exec(text)?.[1] ?? '').replaceAll('&amp;', '&'));
  assert.equal(retry.searchParams.get('prompt'), 'select_account');
  const asked = await fetch(retry, { redirect: 'manual' });
  assert.equal(new URL(asked.headers.get('location') ?? '').searchParams.get('prompt'), 'select_account');
  // And from there with the right one to where it wanted to go.
  github.current = githubPerson(2, 'ann@partner.test');
  const { url: to } = await browser.open(retry, isLanding);
  assert.deepEqual([(await ticketIn(to)).path, (await ticketIn(to)).nonceHash], ['/orders', NONCE_HASH]);

  github.current = githubPerson(1, 'eve@evil.test');
  assert.deepEqual(await refused(new Browser(), startUrl()), [403, 'forbidden']);
});

test('visitor login: an unverified or missing address is refused', async () => {
  const email = { email: 'ann@example.com', primary: true, verified: false, visibility: null };
  for (const emails of [[email], []]) {
    github.current = githubPerson(1, 'x', { emails });
    assert.deepEqual(await refused(new Browser(), startUrl()), [403, 'email_not_verified']);
  }
  github.current = null;
  assert.deepEqual(await refused(new Browser(), startUrl()), [400, 'invalid_request']);
});

test('an answer without state, with an empty, a foreign or a used one, or in another browser, is refused', async () => {
  const browser = new Browser();
  const callback = await upToCallback(browser);
  for (const state of [undefined, '', 'x', 'A'.repeat(43), '__proto__', 'A'.repeat(5_000)]) {
    const forged = new URL(callback);
    if (state === undefined) forged.searchParams.delete('state');
    else forged.searchParams.set('state', state);
    assert.deepEqual(await refused(browser, forged), [400, 'invalid_request'], String(state));
  }
  assert.deepEqual(await refused(new Browser(), callback), [400, 'invalid_request']);
  const busy = new Browser();
  await upToCallback(busy);
  assert.deepEqual(await refused(busy, callback), [400, 'invalid_request']);
  const copy = new Browser();
  for (const [name, value] of browser.cookies(url)) copy.setCookie(url, name, value);
  assert.ok(isLanding((await browser.open(callback, isLanding)).url));
  assert.deepEqual(await refused(copy, callback), [400, 'invalid_request']);
});

test('an answer is good once, also when its repeats race; one whose state only begins alike uses nothing up', async () => {
  const browser = new Browser();
  const callback = await upToCallback(browser);
  const cookie = [...browser.cookies(url)].map(([name, value]) => `${name}=${value}`).join('; ');
  const state = callback.searchParams.get('state') ?? '';
  const alike = `${state.slice(0, 8)}${Buffer.from(state.slice(8)).reverse().toString()}`;
  const ask = (to: string) => fetch(to, { redirect: 'manual', headers: { cookie } });
  assert.equal((await ask(callback.href.replace(state, alike))).status, 400);
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(callback.href)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [302, ...Array<number>(7).fill(400)]);
  assert.equal(github.asked.filter((path) => path.endsWith('access_token')).length, 1);
});

test('a state of ten minutes ago, and one of a log-in with an account, are none', async () => {
  const late = new Browser();
  const callback = await upToCallback(late);
  plane.now += 600_000;
  assert.deepEqual(await refused(late, callback), [400, 'invalid_request']);

  const person = new Browser();
  const { url: theirs } = await person.open(`${url}/auth/oauth/github/start`, (to) =>
    to.pathname.endsWith('/callback'),
  );
  const here = new URL(theirs.href.replace('/auth/oauth/github/', '/edge-auth/'));
  for (const [name, value] of person.cookies(url)) person.setCookie(url, name.replace('_login_', '_visit_'), value);
  assert.deepEqual(await refused(person, here), [400, 'invalid_request']);
});

test('a page of a refusal leads back to the site that the browser began at, also when it comes late; a bare address says what it is', async () => {
  const pageAt = async (browser: Browser, to: URL | string): Promise<string> => {
    const cookie = [...browser.cookies(url)].map(([name, value]) => `${name}=${value}`).join('; ');
    return (await fetch(to, { redirect: 'manual', headers: { cookie, accept: 'text/html' } })).text();
  };
  const wanted = { return_to: 'http://shop.localhost/orders?a=1&b=2' };
  const back = /<a class="button" href="http:\/\/shop\.localhost\/orders\?a=1&amp;b=2">Start over at shop\.localhost</;
  const cancelled = new Browser();
  const callback = await upToCallback(cancelled, wanted);
  callback.searchParams.delete('code');
  callback.searchParams.set('error', 'access_denied');
  assert.match(await pageAt(cancelled, callback), back);

  const unverified = new Browser();
  github.current = { ...githubPerson(1, 'ann@example.com'), emails: [] };
  const refused = await upToCallback(unverified, wanted);
  assert.match(await pageAt(unverified, refused), back);

  const late = new Browser();
  const stale = await upToCallback(late, wanted);
  plane.now += 3_600_000;
  const page = await pageAt(late, stale);
  assert.match(page, back);
  assert.match(page, /took too long/);
  const stranger = await pageAt(new Browser(), stale);
  assert.doesNotMatch(stranger, /shop\.localhost|<a /, 'nothing of another browser is shown');

  for (const path of ['callback', 'start'])
    assert.match(await pageAt(new Browser(), `${url}/edge-auth/${path}`), /is incomplete\. Open the URL of the site/);
});

test('a tunnel that is not there, is gone or has no gate is 404, in a page to a browser; nothing is stored for a start', async () => {
  for (const id of ['', 'x', other, '00000000-0000-7000-8000-000000000000', "'--", 'a'.repeat(5_000)])
    assert.deepEqual(said(await api.call('GET', `/edge-auth/start?tunnel_id=${id}`)), [404, 'not_found'], id);
  assert.deepEqual(said(await api.call('GET', '/edge-auth/start')), [400, 'invalid_request']);
  const headers = { accept: 'text/html' };
  const page = await api.call('GET', `/edge-auth/start?tunnel_id=${other}`, { headers });
  assert.equal(page.status, 404);
  assert.match(page.text, /<h1>You are not logged in<\/h1>/);
  assert.doesNotMatch(page.text, /\/app\/"/);
  for (let i = 0; i < 3; i++) await api.call('GET', `/edge-auth/start?tunnel_id=${tunnelId}`);
  assert.deepEqual(plane.control.store.db.select().from(spentOnce).all(), []);
  plane.control.tunnels.delete(actor, tunnelId);
  assert.deepEqual(said(await api.call('GET', `/edge-auth/start?tunnel_id=${tunnelId}`)), [404, 'not_found']);
});

test('visitor login: lists and gates that change during the login count as they are then', async () => {
  const browser = new Browser();
  const first = await upToCallback(browser);
  put({ allowedDomains: ['other.test'], allowedEmails: [] });
  assert.deepEqual(await refused(browser, first), [403, 'forbidden']);
  const second = await upToCallback(browser);
  put({ allowedDomains: ['example.com'], allowedEmails: [] });
  const { url: to } = await browser.open(second, isLanding);
  const { version } = await ticketIn(to);
  assert.equal(
    (await plane.control.link.snapshot()).routes.find((r) => r.tunnelId === tunnelId)?.visitorGate?.version,
    version,
  );
  const third = await upToCallback(browser);
  plane.control.visitorGates.remove(actor, tunnelId);
  assert.deepEqual(await refused(browser, third), [404, 'not_found']);
});

test('where no provider is set up it says what to do', async () => {
  // A gate that was put while there was one.
  plane.control.close();
  const bare = new Plane(plane.dataDir);
  const bareApi = await servePlane(bare);
  for (const path of [`start?tunnel_id=${tunnelId}`, 'callback?state=x&code=y']) {
    const answer = await bareApi.call('GET', `/edge-auth/${path}`);
    assert.deepEqual(said(answer), [503, 'not_configured']);
    assert.match(String(answer.body['message']), /oauth\.google\.client_id/);
  }
  await bareApi.close();
  bare.control.close();
});

test('the same is served under /api, and sets cookies of this host alone', async () => {
  const answer = await api.call('GET', `/api/edge-auth/start?tunnel_id=${tunnelId}`);
  assert.equal(answer.status, 302);
  const to = new URL(answer.headers.get('location') ?? '');
  assert.equal(to.searchParams.get('redirect_uri'), `${url}/edge-auth/callback`);
  assert.equal(to.searchParams.get('code_challenge_method'), 'S256');
  const [cookie = ''] = answer.headers.getSetCookie();
  assert.match(cookie, /^culvert_visit_[\w-]{8}=s1\.[\w-]+; Max-Age=86400; Path=\/; HttpOnly; SameSite=Lax$/);
});

test('an address has a limit of its own on sign-ins', async () => {
  const from = (address: string) =>
    api.call('GET', '/edge-auth/start?tunnel_id=x', { headers: { 'x-forwarded-for': address } });
  for (let i = 0; i < 300; i++) assert.equal((await from('192.0.2.1')).status, 404);
  const answer = await from('192.0.2.1');
  assert.deepEqual(said(answer), [429, 'rate_limited']);
  assert.equal(answer.headers.get('retry-after'), '1');
  assert.equal((await from('192.0.2.2')).status, 404);
  plane.now += 1_000;
  for (let i = 0; i < 5; i++) assert.equal((await from('192.0.2.1')).status, 404);
  assert.equal((await from('192.0.2.1')).status, 429);
});
