/**
 * A tunnel that asks who its visitors are, on the whole product: server, agent and local service, with an OpenID provider and with GitHub.
 */
import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { type Culvert, startCulvert, startOrigin } from '../harness.ts';
import { inReverse } from '../harness/ends.ts';
import { githubPerson, startGithub } from '../harness/github.ts';
import { type Oidc, startOidc } from '../harness/oidc.ts';
import { VisitorBrowser } from '../harness/visitor-browser.ts';

const WITHIN = { timeout: 60_000 };

interface World {
  readonly culvert: Culvert;
  readonly oidc: Oidc;
  /** Public address of `shop`, and the paths of its gate in the API. */
  readonly url: string;
  readonly gate: string;
  /** What the local service got, newest last. */
  readonly asked: Array<Record<string, string | string[] | undefined>>;
  put(lists: { allowed_domains?: string[]; allowed_emails?: string[] }): Promise<void>;
  idOf(subdomain: string): Promise<string>;
}

async function world(context: TestContext, toml = ''): Promise<World> {
  const t = inReverse(context);
  const oidc = await startOidc(t);
  const culvert = await startCulvert(t, `${oidc.settings}${toml}`);
  oidc.register(`${culvert.server.apiUrl}/edge-auth/callback`);
  const asked: World['asked'] = [];
  const origin = await startOrigin(t, (request, response) => {
    asked.push({ ...request.headers, ':path': request.url });
    response.end(`hello from ${request.url}`);
  });
  const { url } = await culvert.publish('http', origin.port, { subdomain: 'shop' });
  const idOf = async (subdomain: string): Promise<string> => {
    const all = (await culvert.account.call('GET', '/tunnels')).body as unknown as Array<Record<string, string>>;
    return all.find((one) => one['subdomain'] === subdomain)?.['id'] ?? assert.fail(subdomain);
  };
  const gate = `/tunnels/${await idOf('shop')}/edge-auth`;
  const put: World['put'] = async (lists) => {
    const { status, body } = await culvert.account.call('PUT', gate, lists);
    assert.equal(status, 200, JSON.stringify(body));
  };
  oidc.people.set('ann', { email: 'Ann@Example.com', email_verified: true });
  oidc.people.set('bob', { email: 'bob@elsewhere.example', email_verified: true });
  oidc.people.set('eve', { email: 'eve@example.com', email_verified: false });
  return { culvert, oidc, url, gate, asked, put, idOf };
}

/** Opens an address, logs in at the provider as `login`, and goes on to where that leads. */
async function visit({ oidc }: World, browser: VisitorBrowser, url: string, login: string) {
  return browser.open(await oidc.logIn(browser, url, login));
}

suite('visitor identity', () => {
  test(
    'a browser signs in and comes back to where it wanted to go; the service learns who it is',
    WITHIN,
    async (t) => {
      const w = await world(t);
      await w.put({ allowed_domains: ['example.com'] });
      const browser = new VisitorBrowser();
      const page = await visit(w, browser, `${w.url}/orders?open=1&q=a%20b`, 'ann');
      assert.deepEqual(
        [page.status, page.text, page.url.href],
        [200, 'hello from /orders?open=1&q=a%20b', `${w.url}/orders?open=1&q=a%20b`],
      );
      assert.equal(w.asked.length, 1);
      assert.equal(w.asked[0]?.['culvert-visitor-email'], 'ann@example.com');
      assert.equal(w.asked[0]?.['cookie'], undefined);
    },
  );
});
