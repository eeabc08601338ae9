// alone: it counts the sockets of its process
/** Names, domains and keys on a real server: no route gives another organization's, former or reserved ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dial, TestAgent } from '../../src/data/fixtures/agent.ts';
import { until } from '../../src/data/fixtures/gateway.ts';
import type { Account } from '../harness.ts';
import { type DnsServer, startDns } from '../harness/dns.ts';
import { answersIn, type Ask, request, serverFixture } from './fixture.ts';
import { OwnClock } from '../harness/own-clock.ts';

const WITHIN = { timeout: 30_000 };
let dns: DnsServer;
const fixture = serverFixture(async (ends) => {
  dns = await startDns(ends);
  return `[dns]\nresolvers = ["${dns.address}"]\n`;
});
const ask: Ask = (...asked) => fixture().ask(...asked);

/** Status and code of a call. */
async function called(by: Account, method: string, path: string, body?: object): Promise<unknown[]> {
  const answer = await by.call(method, path, body);
  return answer.status < 400 ? [answer.status] : [answer.status, answer.body['error']];
}
/** The port that agents dial. */
async function agentsPort(): Promise<number> {
  const { agent_address: at } = (await (await ask('GET', '/.well-known/culvert')).json()) as { agent_address: string };
  return Number(at.split(':').at(-1));
}
async function minted(by: Account, input: object = {}): Promise<{ key: string; nonce: string }> {
  const { status, body } = await by.call('POST', '/tokens', { name: 'test', tunnelQuota: 20, ...input });
  assert.equal(status, 200, JSON.stringify(body['error']));
  return { key: String(body['apiKey']), nonce: String(body['nonce']) };
}
/** `bound`, or the code of the refusal, for a claim of a session. */
async function claimed(agent: TestAgent, subdomain: string, over: object = {}): Promise<string> {
  agent.claim(subdomain, over);
  while (!agent.heard.some(isAnswer)) await new Promise((resolve) => setTimeout(resolve, 5));
  const at = agent.heard.findIndex(isAnswer);
  const [answer] = agent.heard.splice(at, 1);
  return answer?.type === 'refused' ? answer.code : (answer?.type ?? '');
}
const isAnswer = ({ type }: { type: string }): boolean => type === 'bound' || type === 'refused';
/** The first word of the server to an agent with this key: `welcome` or `bye`. */
async function entered(key: string): Promise<string> {
  const agent = await TestAgent.connect(await agentsPort());
  agent.hello(key);
  const said = await new Promise<string>((resolve) => {
    const look = (): void => {
      const [first] = agent.heard;
      if (first !== undefined) resolve(first.type);
      else setTimeout(look, 5);
    };
    look();
    void agent.closed.then(() => resolve(agent.heard[0]?.type ?? 'closed'));
  });
  agent.destroy();
  return said;
}

const TAKEN = [409, 'duplicate_name'];

test('class 3 name takeover: a deleted, reserved or system name can not be taken', WITHIN, async () => {
  const { ann, eve } = fixture();
  const lost = String((await ann.call('POST', '/tunnels', { localPort: 1, subdomain: 'lost' })).body['id']);
  assert.deepEqual(await called(eve, 'POST', '/tunnels', { localPort: 1, subdomain: 'lost' }), TAKEN);
  await ann.call('DELETE', `/tunnels/${lost}`);
  assert.deepEqual(await called(eve, 'POST', '/tunnels', { localPort: 1, subdomain: 'lost' }), TAKEN, 'it rests');
  const kept = String((await ann.call('POST', '/reserved-subdomains', { subdomain: 'kept' })).body['id']);
  assert.deepEqual(await called(eve, 'POST', '/tunnels', { localPort: 1, subdomain: 'kept' }), TAKEN);
  await ann.call('DELETE', `/reserved-subdomains/${kept}`);
  for (const name of ['www', 'api', 'admin', 'login', 'mail', 'app', 'auth', 'xn--shp-hoa', 'autodiscover', 'wpad'])
    assert.deepEqual(await called(eve, 'POST', '/tunnels', { localPort: 1, subdomain: name }), TAKEN, name);
  for (const name of [
    '_dmarc',
    '_acme-challenge',
    'a.b',
    'a/b',
    'Shop',
    '-a',
    'a-',
    '',
    '*',
    'sh\u043ep',
    'shop\0',
    'shop ',
  ])
    assert.deepEqual(
      await called(eve, 'POST', '/tunnels', { localPort: 1, subdomain: name }),
      [400, 'invalid_request'],
      name,
    );
});

test('class 3 name takeover: the suffix of a project is not forged from outside of it', WITHIN, async () => {
  const { ann, eve } = fixture();
  assert.deepEqual(await called(ann, 'POST', '/projects', { slug: 'b-c', name: 'BC' }), [201]);
  assert.deepEqual(await called(ann, 'POST', '/tunnels', { localPort: 1, subdomain: 'a', projectSlug: 'b-c' }), [201]);
  assert.deepEqual(await called(eve, 'POST', '/tunnels', { localPort: 1, subdomain: 'a-b-c' }), TAKEN);
  assert.deepEqual(await called(eve, 'POST', '/projects', { slug: 'c', name: 'C' }), [201]);
  assert.deepEqual(await called(eve, 'POST', '/tunnels', { localPort: 1, subdomain: 'a-b', projectSlug: 'c' }), TAKEN);
  assert.deepEqual(
    await called(ann, 'POST', '/tunnels', { localPort: 1, subdomain: 'x-b-c' }),
    TAKEN,
    'that is a name of the project',
  );
});

test(
  'class 3 name takeover: a domain is its verifier’s, also while it is unbound, deleted or written otherwise',
  WITHIN,
  async () => {
    const { ann, eve, tunnelOf, say, take } = fixture();
    const name = 'shop.example.net';
    const added = (await ann.call('POST', '/domains', { domain: name })).body;
    const early = String((await eve.call('POST', '/domains', { domain: name })).body['id']);
    const record = added['dnsRecord'] as { name: string; value: string };
    dns.txt.set(record.name, [[record.value]]);
    assert.deepEqual(
      await called(eve, 'POST', `/domains/${early}/verify`),
      [400, 'invalid_request'],
      'the record is ann’s',
    );
    const id = String(added['id']);
    assert.deepEqual(await called(ann, 'POST', `/domains/${id}/verify`), [200]);
    assert.notDeepEqual(await called(eve, 'POST', `/domains/${early}/verify`), [200]);
    for (const again of [name, 'SHOP.example.NET', `${name}.`, '\uff53hop.example.net', 'shop\u3002example\u3002net'])
      assert.deepEqual(await called(eve, 'POST', '/domains', { domain: again }), TAKEN, again);
    assert.deepEqual(await called(ann, 'PUT', `/domains/${id}/bind`, { tunnel_id: await tunnelOf(eve, 'shed') }), [
      404,
      'not_found',
    ]);
    assert.deepEqual(
      await called(ann, 'PUT', `/domains/${id}/bind`, { tunnel_id: await tunnelOf(ann, 'shop') }),
      [200],
    );
    take();
    for (const host of [name, 'SHOP.example.net', `${name}.`, `${name}:80`]) {
      assert.deepEqual(answersIn(await say(request('GET /', `Host: ${host}`))), ['200'], host);
      assert.equal(take()[0]?.service, 'shop');
    }
    for (const host of [`x.${name}`, 'example.net', `${name}.localhost`])
      assert.deepEqual(answersIn(await say(request('GET /', `Host: ${host}`))), ['404 tunnel_not_found'], host);
    assert.deepEqual(await called(ann, 'DELETE', `/domains/${id}`), [200]);
    assert.deepEqual(
      answersIn(await say(request('GET /', `Host: ${name}`))),
      ['404 tunnel_not_found'],
      'no bind is left behind',
    );
    assert.deepEqual(await called(eve, 'POST', '/domains', { domain: name }), TAKEN, 'it rests');
  },
);

test('class 3 name takeover: no domain is a host of this server, an address or less than a name', WITHIN, async () => {
  const { eve } = fixture();
  for (const domain of [
    'localhost',
    'shop.localhost',
    'x.y.localhost',
    '127.0.0.1',
    '[::1]',
    '2130706433',
    '0x7f.1',
    'com',
    '*.example.org',
    'a b.example.org',
    'a_b.example.org',
    'a..b',
    '',
    '.',
    `${'a'.repeat(64)}.example.org`,
    `${'a.'.repeat(130)}org`,
    'example.org/x',
    'x@example.org',
    'example.org:80',
    'example%2eorg',
  ])
    assert.deepEqual(await called(eve, 'POST', '/domains', { domain }), [400, 'invalid_domain'], domain);
});

test(
  'headscale #2642: a key serves the tunnels of its own organization, whatever its agent says it served',
  WITHIN,
  async () => {
    const { ann, eve, tunnelOf } = fixture();
    const { key } = await minted(eve);
    const shop = await tunnelOf(ann, 'shop');
    const agent = await TestAgent.enter(await agentsPort(), key);
    assert.equal(await claimed(agent, 'shop'), 'duplicate_name');
    assert.equal(
      await claimed(agent, 'shop', { previousTunnelId: shop, tunnelId: shop, expiredTunnelId: shop }),
      'duplicate_name',
    );
    assert.equal(await claimed(agent, 'shed'), 'bound', 'its own it takes over');
    agent.destroy();
  },
);

test(
  'chisel 44310b6: the scope of a key is asked at each claim of a session, not at its beginning alone',
  WITHIN,
  async () => {
    const { ann } = fixture();
    const { key, nonce } = await minted(ann, { allowedSubdomains: ['one', 'pre-*'], tunnelQuota: 2 });
    const agent = await TestAgent.enter(await agentsPort(), key);
    assert.equal(await claimed(agent, 'two'), 'subdomain_not_allowed');
    assert.equal(await claimed(agent, 'one'), 'bound');
    for (const name of ['two', 'shop', 'pre', 'one-x', 'xpre-a', 'pre-*', 'ONE'])
      assert.notEqual(await claimed(agent, name), 'bound', name);
    assert.equal(await claimed(agent, 'pre-a'), 'bound');
    assert.equal(await claimed(agent, 'pre-b'), 'quota_exceeded');
    assert.deepEqual(await called(ann, 'DELETE', `/tokens/${nonce}`), [200]);
    await agent.closed;
    assert.equal(await entered(key), 'bye');
  },
);

test('class 8 tokens: what a key is not, it does not do', WITHIN, async () => {
  const { ann, culvert } = fixture();
  const master = (await ann.call('POST', '/tokens/master', { name: 'm' })).body;
  const { key } = await minted(ann);
  const masterKey = String(master['apiKey']);
  assert.match(masterKey, /^mtk_master_/);
  assert.match(key, /^mtk_(?!master_)/);
  assert.notEqual(await entered(masterKey), 'welcome', 'a master key opens no tunnel');
  for (const forged of [
    masterKey.replace('master_', ''),
    key.replace('mtk_', 'mtk_master_'),
    `${key} `,
    key.slice(0, -1),
    `${key}x`,
    key.toUpperCase(),
    '',
    'mtk_',
    ann.bearer,
    `Bearer ${key}`,
  ])
    assert.notEqual(await entered(forged), 'welcome', forged.slice(0, 12));
  for (const bearer of [key, masterKey, culvert.token]) {
    for (const path of ['/tunnels', '/tokens', '/auth/me', '/superadmin/users'])
      assert.equal((await ask('GET', path, undefined, { authorization: `Bearer ${bearer}` })).status, 401, path);
    const budget = await ask(
      'PUT',
      `/tokens/${String(master['nonce'])}/budget`,
      { monthlyBudgetUsdCents: null },
      { authorization: `Bearer ${bearer}` },
    );
    assert.ok(budget.status === 401 || budget.status === 403, 'a holder raises no budget');
  }
});

test('class 8 tokens: a budget of 0 lets nothing in, and one that is none is refused', WITHIN, async () => {
  const { ann } = fixture();
  const { key, nonce } = await minted(ann);
  for (const cents of [-1, 0.5, '5', 1e16, Number.MAX_SAFE_INTEGER + 2, true, [], {}])
    assert.deepEqual(
      await called(ann, 'PUT', `/tokens/${nonce}/budget`, { monthlyBudgetUsdCents: cents }),
      [400, 'invalid_request'],
      String(cents),
    );
  assert.deepEqual(await called(ann, 'PUT', `/tokens/${nonce}/budget`, { monthlyBudgetUsdCents: 0 }), [200]);
  const agent = await TestAgent.enter(await agentsPort(), key);
  assert.equal(await claimed(agent, 'broke'), 'budget_exhausted');
  agent.destroy();
});

test('class 8 tokens: a key that is revoked ends what it carries at once', WITHIN, async () => {
  const { ann, culvert, say } = fixture();
  const { key, nonce } = await minted(ann);
  const agent = await TestAgent.enter(await agentsPort(), key);
  assert.equal(await claimed(agent, 'brief'), 'bound');
  assert.notDeepEqual(answersIn(await say(request('GET /', 'Host: brief.localhost'))), ['503 tunnel_offline']);
  const own = new OwnClock();
  assert.deepEqual(await called(ann, 'DELETE', `/tokens/${nonce}`), [200]);
  await agent.closed;
  assert.ok(own.ms < 1_000, `${own.ms} ms`);
  assert.deepEqual(answersIn(await say(request('GET /', 'Host: brief.localhost'))), ['503 tunnel_offline']);
  assert.ok(culvert.server.apiUrl !== '');
});

test('frp 0.70.1 #5424: a session that takes over from another leaves nothing of it behind', WITHIN, async () => {
  const { ann } = fixture();
  const { key } = await minted(ann);
  const port = await agentsPort();
  const held = (): number => process.getActiveResourcesInfo().filter((name) => /TCP|TLS/.test(name)).length;
  let last = await TestAgent.enter(port, key);
  assert.equal(await claimed(last, 'again'), 'bound');
  const before = held();
  for (let i = 0; i < 30; i++) {
    const next = await TestAgent.enter(port, key);
    assert.equal(await claimed(next, 'again'), 'bound');
    await Promise.race([last.closed, new Promise((resolve) => setTimeout(resolve, 5))]);
    last.destroy();
    await last.closed;
    last = next;
  }
  await until(() => held() <= before + 4);
  const connections = (await ann.call('GET', '/connections')).body as unknown as unknown[];
  assert.ok(connections.length <= 4, `${connections.length} connections`);
  last.destroy();
});

test('frp 0.70.1 #5428: nonsense on the agents’ port ends that connection and no other', WITHIN, async () => {
  const { say } = fixture();
  const port = await agentsPort();
  const pieces = [
    '',
    '\0',
    '\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00',
    '\x01',
    '\xff'.repeat(12),
    '\x00\x02\x00\x01\xff\xff\xff\xff\x00\x00\x00\x00',
    'GET / HTTP/1.1\r\n\r\n',
    '{}\n',
    '\x00\x00\x00\x01\x00\x00\x00\x01\x7f\xff\xff\xff',
    '\x00\x03\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff',
  ];
  const throwAt = async (text: string): Promise<void> => {
    const socket = await dial(port);
    socket.on('error', () => {});
    socket.end(text, 'latin1');
    await new Promise((resolve) => {
      socket.once('close', resolve);
      setTimeout(() => resolve(socket.destroy()), 200);
    });
  };
  await Promise.all(pieces.flatMap((piece) => [piece, piece.repeat(500)]).map(throwAt));
  for (const lines of [
    '{"type":"hello"}',
    '{"type":"claim"}',
    'null',
    '[]',
    `{"type":"${'x'.repeat(100_000)}"}`,
    '{"__proto__":{}}',
    '['.repeat(50_000),
  ]) {
    const agent = await TestAgent.connect(port);
    agent.control.write(Buffer.from(`${lines}\n`));
    await Promise.race([agent.closed, new Promise((resolve) => setTimeout(resolve, 60))]);
    agent.destroy();
  }
  assert.deepEqual(answersIn(await say(request('GET /', 'Host: shop.localhost'))), ['200']);
});
