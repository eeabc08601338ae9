/**
 * A tunnel that asks who its visitors are, on the whole product: server, agent and service, with an OpenID provider and with GitHub.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startDns } from '../harness/dns.ts';
import { inReverse } from '../harness/ends.ts';
import { githubPerson, startGithub } from '../harness/github.ts';
import { VisitorBrowser } from '../harness/visitor-browser.ts';
import { HTTPS, oidcFixture, visitorFixture } from './visitor-fixture.ts';

const WITHIN = { timeout: 60_000 };

const errorOf = ({ text }: { text: string }): unknown => (JSON.parse(text) as { error: string }).error;
const passOf = (browser: VisitorBrowser, url: string) => browser.cookies(url).get('culvert_visitor');

suite('visitor identity', () => {
  test('a browser logs in and comes back to where it wanted to go; the service learns who it is', WITHIN, async (t) => {
    const w = await oidcFixture(t);
    await w.put({ allowed_domains: ['example.com'] });
    const browser = new VisitorBrowser();
    const wanted = `${w.url}/orders?open=1&q=a%20b`;
    const page = await browser.open(await w.oidc.logIn(browser, wanted, 'ann'));
    assert.deepEqual([page.status, page.url.href, page.text], [200, wanted, 'hello from /orders?open=1&q=a%20b']);
    browser.setCookie(w.url, 'session', '1');
    browser.headers['culvert-visitor-email'] = 'eve@evil.test';
    assert.equal((await browser.open(w.url)).status, 200);
    assert.equal(w.asked.length, 2);
    for (const headers of w.asked) assert.equal(headers['culvert-visitor-email'], 'ann@example.com');
    assert.deepEqual([w.asked[0]?.['cookie'], w.asked[1]?.['cookie']], [undefined, 'session=1']);

    // Out, and in again without a word to the provider's log-in page, where the person still is.
    const signOut = `${w.url}/.culvert/sign-out`;
    assert.match((await browser.open(signOut)).text, /Do you want to log out of this site\?/);
    browser.headers['origin'] = new URL(w.url).origin;
    assert.match((await browser.open(signOut, undefined, new URLSearchParams())).text, /You have logged out/);
    delete browser.headers['origin'];
    assert.equal(passOf(browser, w.url), undefined);
    assert.equal((await browser.open(await w.oidc.logIn(browser, w.url, 'ann'))).status, 200);
  });

  test('who is on no list, or has no verified address, gets no cookie; neither does a program', WITHIN, async (t) => {
    const w = await oidcFixture(t);
    await w.put({ allowed_domains: ['example.com'] });
    for (const [login, says] of [
      ['bob', /bob@elsewhere\.example, but this address is not on the access list of shop\.localhost:\d+/],
      ['eve', /has no verified email address of yours/],
    ] as const) {
      const browser = new VisitorBrowser();
      const page = await browser.open(await w.oidc.logIn(browser, w.url, login));
      assert.equal(page.status, 403, login);
      assert.match(page.text, says);
      assert.equal(passOf(browser, w.url), undefined, login);
    }
    const program = await w.culvert.get(w.url);
    assert.deepEqual([program.status, program.code], [401, 'unauthorized']);
    assert.match(program.body, /in a browser and log in/);
    assert.deepEqual(w.asked, []);
  });

  test(
    'a start that no browser asked for at the tunnel goes round once more, and ends logged in',
    WITHIN,
    async (t) => {
      const w = await oidcFixture(t);
      await w.put({ allowed_emails: ['ANN@example.com'] });
      const browser = new VisitorBrowser();
      const id = (await w.gateOf('shop')).split('/')[2];
      const start = `${w.culvert.server.apiUrl}/edge-auth/start?tunnel_id=${id}&return_to=/from-a-link`;
      const first = await w.oidc.logIn(browser, start, 'ann');
      const again = await browser.open(first, (next) => next.pathname === '/edge-auth/start');
      assert.equal(again.url.searchParams.get('again'), '1');
      const page = await browser.open(again.url);
      assert.deepEqual([page.status, page.url.href], [200, `${w.url}/from-a-link`]);

      // A stranger's link logs this browser in as its own user alone.
      const other = new VisitorBrowser();
      const link = await browser.open(start, (next) => next.pathname === '/.culvert/visitor');
      const met = await other.open(link.url, (next) => next.pathname === '/edge-auth/start');
      assert.equal(met.url.pathname, '/edge-auth/start');
      assert.equal(passOf(other, w.url), undefined);
    },
  );

  test(
    'the cookie of one tunnel is none of another; a changed gate asks anew; a removed gate asks no visitor',
    WITHIN,
    async (t) => {
      const w = await oidcFixture(t);
      const shed = await w.publish('shed');
      for (const name of ['shop', 'shed']) await w.put({ allowed_domains: ['example.com'] }, name);
      const browser = new VisitorBrowser();
      await browser.open(await w.oidc.logIn(browser, w.url, 'ann'));
      const pass = passOf(browser, w.url) ?? '';
      const program = new VisitorBrowser();
      program.headers['accept'] = 'application/json';
      program.setCookie(w.url, 'culvert_visitor', pass);
      program.setCookie(shed, 'culvert_visitor', pass);
      assert.equal((await program.open(w.url)).status, 200);
      const refused = await program.open(shed);
      assert.deepEqual([refused.status, errorOf(refused)], [401, 'unauthorized']);
      // The same lists: every visitor logs in again all the same.
      await w.put({ allowed_domains: ['example.com'] });
      assert.equal((await program.open(w.url)).status, 401);
      assert.equal((await w.culvert.account.call('DELETE', await w.gateOf('shop'))).status, 200);
      assert.equal((await program.open(w.url)).status, 200);
      assert.equal(w.asked.at(-1)?.['culvert-visitor-email'], undefined);
    },
  );

  test('over https all of its cookies are Secure, and plain http leads there first', WITHIN, async (t) => {
    const w = await oidcFixture(t, HTTPS);
    assert.match(w.url, /^https:/);
    await w.put({ allowed_domains: ['example.com'] });
    const browser = new VisitorBrowser();
    const plain = `http://shop.localhost:${w.culvert.httpPort}/orders`;
    const set: string[] = [];
    browser.onCookie = (line) => void set.push(line);
    const page = await browser.open(await w.oidc.logIn(browser, plain, 'ann'));
    assert.deepEqual([page.status, page.url.href], [200, `${w.url}/orders`]);
    const ours = set.filter((line) => /culvert_(visitor|nonce)=/.test(line));
    assert.equal(ours.length, 2, set.join('\n'));
    for (const line of ours) assert.match(line, /; HttpOnly; SameSite=Lax; Secure$/);
    assert.match(ours[0] ?? '', /^__Host-culvert_nonce=/);
    assert.equal((await w.culvert.get(plain)).status, 401);
  });

  test('the same with GitHub', WITHIN, async (context) => {
    const t = inReverse(context);
    const github = await startGithub(t);
    const w = await visitorFixture(t, `${github.settings}[edge_auth]\nprovider = "github"\n`);
    await w.put({ allowed_emails: ['octo@example.test'] });
    github.current = githubPerson(7, 'Octo@Example.test');
    const page = await new VisitorBrowser().open(`${w.url}/a`);
    assert.deepEqual([page.status, page.text], [200, 'hello from /a']);
    assert.equal(w.asked[0]?.['culvert-visitor-email'], 'octo@example.test');
    github.current = githubPerson(8, 'other@example.test');
    const refused = await new VisitorBrowser().open(w.url);
    assert.equal(refused.status, 403);
    assert.match(refused.text, /GitHub reports only your primary address/);
  });

  test('a custom domain comes back to itself, with a cookie of its own', WITHIN, async (context) => {
    const t = inReverse(context);
    const dns = await startDns(t);
    const github = await startGithub(t);
    const w = await visitorFixture(
      t,
      `${github.settings}[edge_auth]\nprovider = "github"\n[dns]\nresolvers = ["${dns.address}"]\n`,
    );
    await w.put({ allowed_emails: ['octo@example.test'] });
    const { account, httpPort } = w.culvert;
    const { body } = await account.call('POST', '/domains', { domain: 'shop.example.net' });
    const { name, value } = body['dnsRecord'] as { name: string; value: string };
    dns.txt.set(name, [[value]]);
    const tunnel_id = (await w.gateOf('shop')).split('/')[2];
    assert.equal((await account.call('POST', `/domains/${String(body['id'])}/verify`)).status, 200);
    assert.equal((await account.call('PUT', `/domains/${String(body['id'])}/bind`, { tunnel_id })).status, 200);
    github.current = githubPerson(7, 'octo@example.test');
    const own = `http://shop.example.net:${httpPort}/a`;
    const browser = new VisitorBrowser();
    const page = await browser.open(own);
    assert.deepEqual([page.status, page.url.href], [200, own]);
    const copy = new VisitorBrowser();
    copy.headers['accept'] = '*/*';
    copy.setCookie(w.url, 'culvert_visitor', passOf(browser, own) ?? '');
    assert.equal((await copy.open(w.url)).status, 401);
  });
});
