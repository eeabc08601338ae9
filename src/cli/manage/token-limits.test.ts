/** `culvert tokens limit` and `show`: what they ask a server, and what they print. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { start } from '../fixtures/in-process.ts';
import { loggedInAt, playServer, refreshWith } from '../fixtures/played-server.ts';

const WITHIN = { timeout: 120_000 };
const NOW = Math.floor(Date.now() / 1000);
const KEY = {
  ...{ name: 'ci', nonce: '5f2b1c9e8d7a4f60b3c2d1e0f9a8b7c6', kind: 'agent', tunnelQuota: 5, bandwidthLimitMbps: 100 },
  ...{ allowedSubdomains: ['*'], projectSlug: null, issuedAt: NOW - 86_400 * 20, expiresAt: NOW + 86_400 * 3 + 3_600 },
  ...{ graceEndsAt: null, replacedBy: null, revoked: false, monthlyBudgetUsdCents: 500, spentUsdCents: 120 },
  ...{ lastUsedAt: 1_795_260_000, lastUsedIp: '198.51.100.20', sessions: [] },
};
const PATH = `/tokens/${KEY.nonce}`;

async function asking(t: TestContext, words: readonly string[]) {
  const server = await playServer(t);
  const { home } = loggedInAt(t, server.url);
  const program = start(t, ['tokens', ...words], { home });
  refreshWith(await server.next(), 'cookie-1');
  const expect = async (what: string, answer: unknown): Promise<unknown> => {
    const request = await server.next();
    assert.equal(request.what, what);
    request.answer(200, answer);
    return request.body;
  };
  return { program, expect, server };
}

test('limit: sends what is given alone, and prints what holds now', WITHIN, async (t) => {
  const { program, expect } = await asking(t, ['limit', 'ci', '--quota', '1', '--subdomains', 'pr-*,shop']);
  await expect('GET /tokens', [KEY]);
  const changed = { ...KEY, tunnelQuota: 1, allowedSubdomains: ['pr-*', 'shop'] };
  const body = await expect(`PATCH ${PATH}`, changed);
  assert.deepEqual(body, { tunnelQuota: 1, allowedSubdomains: ['pr-*', 'shop'] });
  assert.equal(await program.exit, 0, program.stderr);
  assert.match(program.stdout, /^ci: 1 tunnel, 100 Mbit\/s, names pr-\*, shop$/m);
});

test('limit: without a limit nothing is asked', WITHIN, async (t) => {
  const server = await playServer(t);
  const { home } = loggedInAt(t, server.url);
  const program = start(t, ['tokens', 'limit', 'ci'], { home });
  assert.equal(await program.exit, 2);
  assert.equal(server.count, 0);
  assert.match(program.stderr, /needs --subdomains, --quota, --mbps or --name/);
});

test('show: limits, what the budget buys, last use, what it serves, and that it ends soon', WITHIN, async (t) => {
  const { program, expect } = await asking(t, ['show', 'ci']);
  await expect('GET /tokens', [KEY]);
  const session = { hostname: 'laptop', remoteIp: '198.51.100.20', connectedAt: 1_795_260_000, networks: [] };
  await expect(`GET ${PATH}`, {
    ...KEY,
    sessions: [{ ...session, tunnels: [{ subdomain: 'shop' }, { subdomain: 'api' }] }],
  });
  await expect('GET /tokens/pricing', { usdCentsPerGb: 10, usdCentsPerMillionRequests: null });
  assert.equal(await program.exit, 0, program.stderr);
  assert.match(program.stdout, /^limits +5 tunnels, 100 Mbit\/s, names \*$/m);
  assert.match(program.stdout, /^budget +\$1\.20 of \$5\.00 this month \(≈ 50 GB at 10 ¢\/GB\)$/m);
  assert.match(program.stdout, /^expires +\S+ \S+ UTC \(ends in 3 days\)$/m);
  assert.match(program.stdout, /^last used +2026-11-21 \d\d:\d\d UTC from 198\.51\.100\.20$/m);
  assert.match(program.stdout, /^serves +shop, api: laptop at 198\.51\.100\.20, since 2026-11-21 /m);
});

test('list: a key of more than two days that ends within a week says so', WITHIN, async (t) => {
  const { program, expect } = await asking(t, ['list']);
  const short = { ...KEY, name: 'short', issuedAt: NOW - 60, expiresAt: NOW + 86_400 };
  await expect('GET /tokens', [KEY, short]);
  assert.equal(await program.exit, 0, program.stderr);
  assert.match(program.stdout, /^ci .* ends in 3 days +5f2b/m);
  assert.match(program.stdout, /^short .* live +5f2b/m);
});
