/** Access control that an agent sets by flags, on the whole product: it acts beside that of the API, is shown, and ends with the agent. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AskedNarrowing } from '../../src/wire/narrowing.ts';
import { VisitorBrowser } from '../harness/visitor-browser.ts';
import { oidcFixture } from './visitor-fixture.ts';
import { type Culvert, type LocalTunnel, startCulvert, startOrigin } from '../harness.ts';

interface Shown {
  readonly id: string;
  readonly agentFlagsEnabled?: boolean;
  readonly setByAgent: Readonly<Record<string, unknown>> | null;
}

/** A server, and a service that answers `hello`. */
async function fixture(t: TestContext) {
  const culvert = await startCulvert(t);
  const origin = await startOrigin(t, (_request, response) => response.end('hello'));
  return { culvert, publish: (narrow?: AskedNarrowing) => publish(culvert, origin.port, narrow) };
}

function publish(culvert: Culvert, port: number, narrow: AskedNarrowing | undefined) {
  return culvert.publish('http', port, { subdomain: 'shop', ...(narrow === undefined ? {} : { narrow }) });
}

async function shown({ account }: Culvert): Promise<Shown> {
  const [tunnel] = (await account.call('GET', '/tunnels')).body as unknown as Shown[];
  return (await account.call('GET', `/tunnels/${tunnel?.id}`)).body as unknown as Shown;
}

async function audited({ account }: Culvert): Promise<unknown[]> {
  const { body } = await account.call('GET', '/events?action=tunnel.agent_flags');
  return (body as unknown as Array<{ details: unknown }>).map(({ details }) => details);
}

/** The agent leaves in order: no visitor waits for it. */
async function leave(culvert: Culvert, { agent, url }: LocalTunnel): Promise<void> {
  agent.drain(0);
  await agent.done;
  while ((await culvert.get(url)).code !== 'tunnel_offline') await sleep(20);
}

/** Whether the public port answers a visitor of this machine. */
async function answers(url: string): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
  socket.on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nHost: raw\r\nConnection: close\r\n\r\n');
  const chunks: Uint8Array[] = [];
  socket.on('data', (bytes) => chunks.push(Buffer.from(bytes)));
  await new Promise((resolve) => socket.on('close', resolve));
  return Buffer.concat(chunks).includes('hello');
}

suite('agent flags: networks', () => {
  test('allow and deny networks apply beside the policy of the API, which stays', async (t) => {
    const { culvert, publish } = await fixture(t);
    const first = await publish({ deny_cidr: ['127.0.0.0/8', '::1'] });
    const { url } = first;
    const refused = await culvert.get(url);
    assert.deepEqual([refused.status, refused.code], [403, 'denied']);
    const { id, agentFlagsEnabled, setByAgent } = await shown(culvert);
    assert.deepEqual([agentFlagsEnabled, setByAgent], [true, { deny_cidr: ['127.0.0.0/8', '::1'] }]);

    // A policy that allows the visitor does not loosen the flag.
    const allow = { actions: [{ kind: 'ip_allow', networks: ['127.0.0.0/8', '::1'] }] };
    await culvert.account.call('PUT', `/tunnels/${id}/policy`, allow);
    assert.equal((await culvert.get(url)).code, 'denied');

    // Nor does the flag loosen a policy that blocks the visitor.
    await leave(culvert, first);
    await publish({ allow_cidr: ['127.0.0.0/8', '::1'] });
    assert.equal((await culvert.get(url)).status, 200);
    const deny = { actions: [{ kind: 'ip_deny', networks: ['127.0.0.0/8', '::1'] }] };
    await culvert.account.call('PUT', `/tunnels/${id}/policy`, deny);
    assert.equal((await culvert.get(url)).code, 'denied');
  });

  test('they end with the agent, and its entry is in the audit log once', async (t) => {
    const { culvert, publish } = await fixture(t);
    const narrow = { allow_cidr: ['192.0.2.0/24'] };
    const first = await publish(narrow);
    assert.equal((await culvert.get(first.url)).code, 'denied');
    await leave(culvert, first);
    assert.equal((await shown(culvert)).setByAgent, null);
    // It comes back with the same: no news.
    const second = await publish(narrow);
    assert.equal((await culvert.get(first.url)).code, 'denied');
    assert.deepEqual(await audited(culvert), [{ allow_cidr: '192.0.2.0/24' }]);
    await leave(culvert, second);
    await publish();
    assert.equal((await culvert.get(first.url)).body, 'hello');
    assert.deepEqual(await audited(culvert), [{ flags: 'none' }, { allow_cidr: '192.0.2.0/24' }]);
  });

  test('an agent that takes over brings its own flags, and those of the other go with it', async (t) => {
    const { culvert, publish } = await fixture(t);
    const { url } = await publish({ deny_cidr: ['127.0.0.0/8', '::1'] });
    assert.equal((await culvert.get(url)).code, 'denied');
    await publish({ deny_cidr: ['192.0.2.7'] });
    assert.equal((await culvert.get(url)).status, 200);
    assert.deepEqual((await shown(culvert)).setByAgent, { deny_cidr: ['192.0.2.7'] });
    await publish({ allow_cidr: ['192.0.2.7'] });
    assert.equal((await culvert.get(url)).code, 'denied');
  });

  test('a tcp tunnel closes connections from other networks', async (t) => {
    const { culvert } = await fixture(t);
    const origin = await startOrigin(t, (_request, response) => response.end('hello'));
    const open = await culvert.publish('tcp', origin.port, { subdomain: 'raw', narrow: { deny_cidr: ['192.0.2.7'] } });
    assert.equal(await answers(open.url), true);
    await culvert.publish('tcp', origin.port, { subdomain: 'raw', narrow: { allow_cidr: ['192.0.2.7'] } });
    assert.equal(await answers(open.url), false);
  });
});

suite('agent flags: password', () => {
  const basic = (username: string, password: string) => ({ basic_auth: { username, password } });

  test('visitors need it, the service never sees it, and nothing keeps it in clear text', async (t) => {
    const culvert = await startCulvert(t);
    const origin = await startOrigin(t, (request, response) => response.end(String(request.headers.authorization)));
    const narrow = basic('ann', 'correct-horse');
    const { url } = await culvert.publish('http', origin.port, { subdomain: 'shop', narrow });
    assert.deepEqual([(await culvert.get(url)).status, (await culvert.get(url)).code], [401, 'unauthorized']);
    assert.equal((await culvert.get(url.replace('//', '//ann:wrong@'))).status, 401);
    assert.equal((await culvert.get(url.replace('//', '//ann:correct-horse@'))).body, 'undefined');
    assert.deepEqual((await shown(culvert)).setByAgent, { basic_auth: 'ann' });
    assert.deepEqual(await audited(culvert), [{ basic_auth: 'ann' }]);
    const { account } = culvert;
    for (const path of ['/tunnels', '/connections', '/events'])
      assert.doesNotMatch(JSON.stringify((await account.call('GET', path)).body), /correct-horse/);
  });

  test('that of the API must fit too', async (t) => {
    const { culvert, publish } = await fixture(t);
    const { url } = await publish(basic('ann', 'one'));
    const { id } = await shown(culvert);
    const put = (password: string) => culvert.account.call('PUT', `/tunnels/${id}/auth`, { username: 'ann', password });
    const visit = async (password: string) => (await culvert.get(url.replace('//', `//ann:${password}@`))).status;
    await put('two');
    assert.deepEqual([await visit('one'), await visit('two')], [401, 401]);
    await put('one');
    assert.equal(await visit('one'), 200);
  });
});

suite('agent flags: policy', () => {
  test('its actions apply besides those of the API, whose headers win', async (t) => {
    const culvert = await startCulvert(t);
    const origin = await startOrigin(t, (request, response) => response.end(String(request.headers['x-tenant'])));
    const policy = {
      actions: [
        { kind: 'deny', path_prefix: '/admin' },
        { kind: 'header_set', name: 'X-Tenant', value: 'agent' },
        { kind: 'rate_limit', requests_per_minute: 4 },
      ],
    };
    const { url } = await culvert.publish('http', origin.port, { subdomain: 'shop', narrow: { policy } });
    assert.equal((await culvert.get(`${url}/admin`)).code, 'denied');
    assert.equal((await culvert.get(`${url}/`)).body, 'agent');
    const { id, setByAgent } = await shown(culvert);
    assert.deepEqual(setByAgent, { policy: ['deny', 'header_set', 'rate_limit'] });
    const own = {
      actions: [
        { kind: 'deny', path_prefix: '/secret' },
        { kind: 'header_set', name: 'x-tenant', value: 'owner' },
      ],
    };
    await culvert.account.call('PUT', `/tunnels/${id}/policy`, own);
    const codes = ['/admin', '/secret'].map(async (path) => (await culvert.get(url + path)).code);
    assert.deepEqual(await Promise.all(codes), ['denied', 'denied']);
    assert.equal((await culvert.get(`${url}/`)).body, 'owner');
    // The windows of its rate went on: four have passed, or none has.
    const left = [await culvert.get(url), await culvert.get(url), await culvert.get(url)];
    assert.deepEqual(
      left.map(({ status }) => status),
      [200, 200, 429],
    );
    // And that of the agent stays when the owner's goes.
    await culvert.account.call('DELETE', `/tunnels/${id}/policy`);
    assert.equal((await culvert.get(`${url}/admin`)).code, 'denied');
  });
});

suite('agent flags: time', () => {
  test('the tunnel ends after --ttl, and its agent with 4', async (t) => {
    const { culvert, publish } = await fixture(t);
    const { url, agent } = await publish({ ttl: { seconds: 2 } });
    assert.equal((await culvert.get(url)).status, 200);
    const endsAt = Date.parse(String((await shown(culvert)).setByAgent?.['ends_at']));
    assert.ok(Math.abs(endsAt - Date.now() - 2_000) < 2_000);
    assert.equal(agent.view().tunnels[0]?.expiresAt, endsAt);
    const reason = await agent.done;
    assert.ok(Date.now() >= endsAt);
    assert.deepEqual([reason.code, reason.message.split('.')[0]], [4, 'The time of --ttl is over']);
    assert.equal((await culvert.get(url)).code, 'tunnel_offline');
  });

  test('a reconnect begins no new time', async (t) => {
    const { culvert, publish } = await fixture(t);
    const { agent, events } = await publish({ ttl: { seconds: 600 } });
    const first = agent.view().tunnels[0]?.expiresAt;
    const [connection] = (await culvert.account.call('GET', '/connections')).body as unknown as Array<{
      agent_id: string;
    }>;
    await sleep(20);
    await culvert.account.call('DELETE', `/connections/${connection?.agent_id}`);
    while (!events.some(({ kind }) => kind === 'offline')) await sleep(20);
    agent.retryNow();
    while (agent.view().tunnels[0]?.state !== 'online') await sleep(20);
    assert.equal(agent.view().tunnels[0]?.expiresAt, first);
  });
});

suite('agent flags: visitor login', () => {
  test('a visitor must be on the lists of the agent and on those of the API', async (t) => {
    const w = await oidcFixture(t);
    const url = await w.publish('shop', { visitor_login: ['example.com', 'bob@elsewhere.example'] });
    const visit = async (who: string) => {
      const browser = new VisitorBrowser();
      return (await browser.open(await w.oidc.logIn(browser, url, who))).status;
    };
    assert.equal((await w.culvert.get(url)).status, 401);
    assert.deepEqual([await visit('ann'), await visit('bob')], [200, 200]);
    assert.equal(w.asked[0]?.['culvert-visitor-email'], 'ann@example.com');
    assert.deepEqual((await shown(w.culvert)).setByAgent, { visitor_login: ['example.com', 'bob@elsewhere.example'] });

    await w.put({ allowed_domains: ['example.com'] });
    assert.deepEqual([await visit('ann'), await visit('bob')], [200, 403]);
    await w.put({ allowed_emails: ['bob@elsewhere.example'] });
    assert.deepEqual([await visit('ann'), await visit('bob')], [403, 200]);
    // The lists of the API alone, once another agent has come without flags.
    await w.publish('shop');
    assert.deepEqual([await visit('ann'), await visit('bob')], [403, 200]);
  });
});

suite('agent flags: refusals', () => {
  const refused = [
    [{ allow_cidr: ['10.0.0.0/33'] }, /--allow-cidr: "10\.0\.0\.0\/33" is no IP address and no network such as 10/],
    [{ deny_cidr: [] }, /--deny-cidr: /],
    [{ basic_auth: { username: 'a:b', password: 'c' } }, /--basic-auth: /],
    [{ basic_auth: { username: 'a', password: '' } }, /--basic-auth: /],
    [{ policy: { actions: [{ kind: 'magic' }] } }, /--policy: The policy is invalid: actions\.0/],
    [
      { policy: { actions: [{ kind: 'deny', path_prefix: '/', enforce: false }] } },
      /--policy: has an action with "enforce": false/,
    ],
    [{ visitor_login: ['example.com'] }, /--visitor-login: Visitors cannot log in: this server has no identity/],
    [{ visitor_login: ['@'] }, /--visitor-login: "@" is no email address/],
    [{ ttl: { seconds: 0 } }, /--ttl: /],
    [{ ttl: { seconds: 60, ends_at: 1 } }, /The time of --ttl is over/],
  ] as const;
  for (const [narrow, message] of refused) {
    test(`${JSON.stringify(narrow)} is refused for good, and no visitor gets in`, async (t) => {
      const { culvert, publish } = await fixture(t);
      await assert.rejects(publish(narrow as unknown as AskedNarrowing), message);
      assert.notEqual((await culvert.get('http://shop.localhost/')).status, 200);
    });
  }
});
