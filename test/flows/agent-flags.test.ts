/** Access control that an agent sets by flags, on the whole product: it acts beside that of the API, is shown, and ends with the agent. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AskedNarrowing } from '../../src/wire/narrowing.ts';
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

suite('agent flags: refusals', () => {
  const refused = [
    [{ allow_cidr: ['10.0.0.0/33'] }, /--allow-cidr: "10\.0\.0\.0\/33" is no IP address and no network such as 10/],
    [{ deny_cidr: [] }, /--deny-cidr: /],
  ] as const;
  for (const [narrow, message] of refused) {
    test(`${JSON.stringify(narrow)} is refused for good, and no visitor gets in`, async (t) => {
      const { culvert, publish } = await fixture(t);
      await assert.rejects(publish(narrow as unknown as AskedNarrowing), message);
      assert.notEqual((await culvert.get('http://shop.localhost/')).status, 200);
    });
  }
});
