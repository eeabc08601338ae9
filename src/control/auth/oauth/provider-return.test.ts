/** From a page of the dashboard to an identity provider and back: what is secret in the page's address stands in no other. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { openKept, sealKept, setAside } from './kept-secrets.ts';
import { Sealer } from '../../core/secrets/sealing.ts';
import { Browser } from '../../../../test/harness/browser.ts';
import { inReverse } from '../../../../test/harness/ends.ts';
import { type Github, githubPerson, startGithub } from '../../../../test/harness/github.ts';
import { type Harness, LOOSE, startHarness } from '../../core/testing/harness.ts';

const SECRET = 'q3zVw0Yl9pXr7uT2mKc5bN8dHf1sJg4aEo6iLyRtPvQ';
let h: Harness;
let github: Github;
const ends = inReverse({ after });
before(async () => {
  github = await startGithub(ends);
  h = await startHarness(`${LOOSE}\n${github.settings}`);
  ends.after(() => h.close());
  github.current = githubPerson(7, 'octo@example.test');
});

const at = (path: string): string => h.server.apiUrl + path;
const isLanding = (url: URL): boolean => url.origin === h.server.apiUrl && !url.pathname.startsWith('/auth/');

interface Journey {
  readonly browser: Browser;
  /** Where the browser comes back to. */
  readonly landing: URL;
  /** Every address on the way. */
  readonly addresses: readonly string[];
}

/** As a page goes there by itself, and back. */
async function travel(returnTo: string): Promise<Journey> {
  const browser = new Browser();
  const addresses = [at('/auth/oauth/github/start')];
  const begun = await h.call('POST', '/auth/oauth/github/start', { body: { return_to: returnTo } });
  assert.equal(begun.status, 200, begun.text);
  for (const line of begun.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    browser.setCookie(h.server.apiUrl, name, value);
  }
  const until = (next: URL): boolean => {
    addresses.push(next.href);
    return isLanding(next);
  };
  const { url: landing } = await browser.open(String(begun.body['url']), until);
  addresses.push(String(begun.body['url']));
  assert.ok(landing.searchParams.has('oauth_token'), landing.href);
  return { browser, landing, addresses };
}
const keptOn = (text: string): string | undefined => /name="culvert-kept" content="([^"]*)"/.exec(text)?.[1];

for (const [page, name] of [
  ['invite', 'token'],
  ['cli', 'device_code'],
] as const)
  test(`/app/${page} has its ${name} again, once, and no address on the way has it`, async () => {
    const { browser, landing, addresses } = await travel(`/app/${page}?${name}=${SECRET}&x=1`);
    assert.ok(addresses.length >= 4, addresses.join('\n'));
    for (const address of addresses) assert.ok(!decodeURIComponent(address).includes(SECRET), address);
    assert.equal(landing.pathname, `/app/${page}`);
    assert.deepEqual([...landing.searchParams.keys()], ['x', 'oauth_token']);

    const elsewhere = await browser.open(at('/app/account'));
    assert.equal(keptOn(elsewhere.text), undefined, 'another page has no business with it');
    const first = await browser.open(landing);
    assert.equal(keptOn(first.text), `${name}=${SECRET}`);
    assert.equal(first.headers.get('cache-control'), 'no-store');
    assert.equal(keptOn((await browser.open(landing)).text), undefined);
  });

test('the way in by GET keeps them apart too', async () => {
  const browser = new Browser();
  const returnTo = encodeURIComponent(`/app/cli?device_code=${SECRET}`);
  const { url } = await browser.open(at(`/auth/oauth/github/start?return_to=${returnTo}`), isLanding);
  assert.ok(!url.href.includes(SECRET), url.href);
  assert.equal(keptOn((await browser.open(url)).text), `device_code=${SECRET}`);
});

test('what is no secret of a page comes back in the address, and no cookie is set for it', async () => {
  const { browser, landing } = await travel('/app/tunnels?state=up&tokens=3#live');
  assert.deepEqual(
    [landing.pathname, landing.searchParams.get('state'), landing.searchParams.get('tokens'), landing.hash],
    ['/app/tunnels', 'up', '3', '#live'],
  );
  assert.deepEqual([...browser.cookies(h.server.apiUrl).keys()], ['qnt_refresh']);
  assert.equal((await travel('//evil.test/app/invite?token=x')).landing.pathname, '/app/');
});

test('what the server has not sealed is on no page', async () => {
  for (const cookie of ['culvert_kept=token=x', 'culvert_kept=s1.AAAA', `culvert_kept="><b>`]) {
    const { status, text } = await h.call('GET', '/app/invite', { headers: { cookie } });
    assert.deepEqual([status, keptOn(text)], [200, undefined]);
  }
});

test('it is good for a minute, for its page and for this purpose', () => {
  const sealer = new Sealer(randomBytes(32));
  const kept = { page: 'invite', query: `token=${SECRET}` };
  const sealed = sealKept(sealer, kept, 1000);
  assert.ok(!sealed.includes(SECRET));
  assert.equal(openKept(sealer, { sealed, page: 'invite' }, 60_999), kept.query);
  assert.equal(openKept(sealer, { sealed, page: 'invite' }, 61_000), undefined);
  assert.equal(openKept(sealer, { sealed, page: 'cli' }, 1000), undefined);
  assert.equal(openKept(new Sealer(randomBytes(32)), { sealed, page: 'invite' }, 1000), undefined);
  const other = sealer.seal('oauth_state', Buffer.from(JSON.stringify({ ...kept, expiresAt: 1e15 })));
  assert.equal(openKept(sealer, { sealed: other, page: 'invite' }, 1000), undefined);
});

test('secrets are set aside for pages of the dashboard alone, and are text in a document', () => {
  assert.deepEqual(setAside('/app/invite?token=a&token=b'), {
    place: '/app/invite',
    kept: { page: 'invite', query: 'token=a' },
  });
  assert.deepEqual(setAside('/app/cli?a=1&device_code=x&token=%22%3E%3Cb%3E#z'), {
    place: '/app/cli?a=1#z',
    kept: { page: 'cli', query: 'token=%22%3E%3Cb%3E&device_code=x' },
  });
  for (const place of ['/', '/app/', '/app/tunnels?x=1', '/other?token=a', '/app?token=a'])
    assert.deepEqual(setAside(place), { place });
});
