import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MintedToken, Token } from '../../src/dashboard/api/types.ts';
import { commandsFor, scrapeConfig } from '../../src/dashboard/pages/keys/key-commands.ts';
import { limitChanges, lowersLimits } from '../../src/dashboard/pages/keys/limit-values.ts';
import {
  buysText,
  childrenOf,
  EVERYTHING_LIVE,
  filtered,
  filterIn,
  limitsText,
  paramsOf,
  servingText,
  spentPart,
  stateOf,
  successorsIn,
  tellingName,
} from '../../src/dashboard/pages/keys/key-state.ts';
import {
  agentBody,
  emptyKey,
  masterBody,
  namesIn,
  OTHER,
  projectBody,
} from '../../src/dashboard/pages/keys/new-key-values.ts';
import { centsOf, dollarsOf } from '../../src/dashboard/parts/forms/dollars.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;
const NOW = 1_800_000_000;

function token(more: Partial<Token> = {}): Token {
  return {
    id: 'id',
    name: 'ci',
    nonce: 'a'.repeat(32),
    kind: 'agent',
    version: 1,
    tunnelQuota: 5,
    bandwidthLimitMbps: 100,
    allowedSubdomains: ['*'],
    projectSlug: null,
    parentNonce: null,
    issuedAt: NOW - DAY,
    expiresAt: NOW + 90 * DAY,
    graceEndsAt: null,
    replacedBy: null,
    revoked: false,
    monthlyBudgetUsdCents: null,
    spentUsdCents: 0,
    lastUsedAt: null,
    lastUsedIp: null,
    serving: { sessions: 0, tunnels: 0, networks: 0 },
    wireBytesLen: 262,
    ...more,
  };
}

function minted(more: Partial<Token>): MintedToken {
  return { ...token(more), apiKey: 'mtk_abc', wireBytes: '', subject: '', signature: '' };
}

test('budget: dollars become cents without floats, and an invalid amount is refused', () => {
  const read = ['0.29', '12.5', '$1,000', '1,234.56', '0', '', ' 7 ', '10000000', '1.005', '12,5', '-1', '1e3', 'a'];
  const cents = [29, 1250, 100_000, 123_456, 0, null, 700, 1_000_000_000];
  assert.deepEqual(read.map(centsOf), [...cents, ...Array<undefined>(5).fill(undefined)]);
  assert.equal(centsOf('10000000.01'), undefined);
  for (const amount of [0, 5, 29, 100, 123_456, 1_000_000_000]) assert.equal(centsOf(dollarsOf(amount)), amount);
});

test('key state: expiring soon, but not from the first minute', () => {
  assert.equal(stateOf(token(), NOW), 'live');
  assert.equal(stateOf(token({ expiresAt: NOW + 2 * DAY, issuedAt: NOW - 88 * DAY }), NOW), 'ending');
  assert.equal(stateOf(token({ expiresAt: NOW + 6 * DAY, issuedAt: NOW - 24 * DAY }), NOW), 'ending');
  assert.equal(stateOf(token({ expiresAt: NOW + 8 * DAY, issuedAt: NOW - 24 * DAY }), NOW), 'live');
  assert.equal(stateOf(token({ expiresAt: NOW + 6 * DAY, issuedAt: NOW - DAY }), NOW), 'live');
  assert.equal(stateOf(token({ issuedAt: NOW - 60, expiresAt: NOW + HOUR }), NOW), 'live');
  assert.equal(stateOf(token({ issuedAt: NOW - 0.9 * HOUR, expiresAt: NOW + 0.1 * HOUR }), NOW), 'ending');
  assert.equal(stateOf(token({ expiresAt: NOW }), NOW), 'expired');
  assert.equal(stateOf(token({ graceEndsAt: NOW + 1 }), NOW), 'replaced');
  assert.equal(stateOf(token({ graceEndsAt: NOW }), NOW), 'revoked');
  assert.equal(stateOf(token({ revoked: true }), NOW), 'revoked');
});

test('key name: two keys with one name differ by id', () => {
  const next = token({ nonce: '3'.repeat(32) });
  const old = token({ nonce: '1'.repeat(32), graceEndsAt: NOW + HOUR, replacedBy: next.nonce });
  const gone = token({ nonce: '2'.repeat(32), revoked: true, replacedBy: old.nonce });
  const elsewhere = token({ nonce: '4'.repeat(32), name: 'laptop' });
  const all = [next, elsewhere, old, gone];
  assert.deepEqual([...successorsIn(all)], [next.nonce], 'what replaced one that has ended is the only one');
  assert.deepEqual([tellingName(next, all), tellingName(elsewhere, all)], ['ci (33333333)', 'laptop']);
});

test('key filter: in the address; unknown values are ignored', () => {
  const filter = { text: 'ci', kind: 'master', state: 'revoked' } as const;
  assert.deepEqual(filterIn(paramsOf(filter)), filter);
  assert.equal(paramsOf(EVERYTHING_LIVE).size, 0);
  assert.deepEqual(filterIn(new URLSearchParams('kind=toString&state=x')), EVERYTHING_LIVE);
});

test('key filters: state, kind and text; ended keys are hidden by default', () => {
  const tokens = [
    token({ nonce: '1'.repeat(32), name: 'Laptop', allowedSubdomains: ['shop', 'pr-*'] }),
    token({ nonce: '2'.repeat(32), name: 'old', revoked: true }),
    token({ nonce: '3'.repeat(32), name: 'run', kind: 'project', projectSlug: 'web', graceEndsAt: NOW + 9 }),
    token({ nonce: '4'.repeat(32), name: 'gone', expiresAt: NOW - 1 }),
  ];
  const found = (more: Partial<typeof EVERYTHING_LIVE>): string =>
    filtered(tokens, { ...EVERYTHING_LIVE, ...more }, NOW)
      .map(({ name }) => name)
      .join(' ');
  assert.equal(found({}), 'Laptop run');
  assert.equal(found({ state: 'all' }), 'Laptop old run gone');
  assert.equal(found({ state: 'revoked' }), 'old');
  assert.equal(found({ state: 'expired' }), 'gone');
  assert.equal(found({ kind: 'project' }), 'run');
  assert.equal(found({ text: ' LAP ' }), 'Laptop');
  assert.equal(found({ text: 'pr-' }), 'Laptop');
  assert.equal(found({ text: 'web' }), 'run');
  assert.equal(found({ text: '333' }), 'run');
  assert.equal(found({ text: '33x' }), '');
});

test('master key: revoking it ends only its live keys', () => {
  const master = token({ kind: 'master', nonce: 'f'.repeat(32) });
  const child = { kind: 'project' as const, parentNonce: master.nonce };
  const tokens = [
    master,
    token(child),
    token({ ...child, revoked: true }),
    token({ ...child, expiresAt: NOW }),
    token(),
  ];
  assert.equal(childrenOf(master, tokens, NOW).length, 1);
});

test('budget bar: at most full, and absent without a budget', () => {
  assert.equal(spentPart(token({ monthlyBudgetUsdCents: 200, spentUsdCents: 50 })), 25);
  assert.equal(spentPart(token({ monthlyBudgetUsdCents: 200, spentUsdCents: 900 })), 100);
  assert.equal(spentPart(token({ monthlyBudgetUsdCents: 0 })), undefined);
  assert.equal(spentPart(token()), undefined);
  assert.equal(limitsText(token({ tunnelQuota: 1, bandwidthLimitMbps: 10_000 })), '1 tunnel');
});

test('new key: the request body follows the form and the route', () => {
  const values = { ...emptyKey('agent', 'default'), name: ' ci ', names: ['pr-*'], budget: '2.50', lifetime: '24' };
  const limits = { name: 'ci', tunnelQuota: 5, bandwidthLimitMbps: 100, monthlyBudgetUsdCents: 250 };
  assert.deepEqual(agentBody(values), { ...limits, ttlHours: 24, allowedSubdomains: ['pr-*'] });
  assert.deepEqual(agentBody({ ...values, names: [], budget: '' }), {
    ...limits,
    monthlyBudgetUsdCents: null,
    ttlHours: 24,
    allowedSubdomains: ['*'],
  });
  assert.deepEqual(projectBody({ ...values, lifetime: OTHER, days: 3 }), {
    ...limits,
    ttl_hours: 72,
    allowed_subdomains: ['pr-*'],
  });
  assert.deepEqual(masterBody({ ...values, lifetime: '8760', budget: '0' }), {
    name: 'ci',
    monthlyBudgetUsdCents: 0,
    ttl_days: 365,
  });
});

test('new key: pasted names are split', () => {
  assert.deepEqual(namesIn(['pr-*,', 'a b,a', ' ']), ['pr-*', 'a', 'b']);
});

test('key commands: use a name that the key allows', () => {
  const server = new URL('https://culvert.example.com/api/');
  const of = (more: Partial<Token>): string => commandsFor(minted(more), server).environment;
  assert.equal(of({}), 'CULVERT_TOKEN=mtk_abc culvert http 3000 --server https://culvert.example.com/api');
  assert.match(of({ allowedSubdomains: ['pr-*', 'x'] }), /--subdomain pr-1 /);
  assert.match(of({ allowedSubdomains: ['shop'] }), /--subdomain shop /);
  assert.match(of({ kind: 'project', projectSlug: 'web' }), /http 3000 --project web --server/);
  assert.doesNotMatch(of({ kind: 'project', projectSlug: 'default' }), /--project/);
  assert.match(of({ kind: 'master' }), /^export CULVERT_SERVER=\S+ CULVERT_TOKEN=mtk_abc\nculvert tokens mint /);
  for (const kind of ['agent', 'master'] as const) {
    const { store, use } = commandsFor(minted({ kind }), server);
    assert.doesNotMatch(store + use, /mtk_/, 'the file is filled by hand');
    assert.ok(use.includes(store.slice(store.indexOf('> ') + 2, -1)), 'and is the one that is used');
  }
});

test('scrape config: points at this server', () => {
  const settings = scrapeConfig(new URL('http://127.0.0.1:9090/api/'));
  assert.match(settings, /scheme: http\n/);
  assert.match(settings, /metrics_path: \/api\/metrics\/prometheus\n/);
  assert.match(settings, /targets: \["127\.0\.0\.1:9090"\]/);
});

test('budget: what it buys at the price of the server, and nothing where traffic has none', () => {
  assert.equal(buysText(500, 10), '≈ 50 GB at 10 ¢/GB');
  assert.equal(buysText(100_000, 10), '≈ 10 TB at 10 ¢/GB');
  assert.equal(buysText(5, 10), '≈ 500 MB at 10 ¢/GB');
  assert.equal(buysText(1000, 1.5), '≈ 667 GB at 1.5 ¢/GB');
  assert.equal(buysText(500, null), undefined);
  assert.equal(buysText(0, 10), undefined);
});

test('limits: only what changed is sent; lower ones may end sessions', () => {
  const key = token({ allowedSubdomains: ['pr-*'] });
  const same = { name: 'ci', names: ['pr-*'], quota: 5, mbps: 100 };
  assert.deepEqual(limitChanges(key, same), {});
  assert.deepEqual(limitChanges(key, { ...same, name: ' web ', names: [], quota: '7' }), {
    name: 'web',
    allowedSubdomains: ['*'],
    tunnelQuota: 7,
  });
  assert.deepEqual(limitChanges(token({ kind: 'master' }), { ...same, name: 'jobs' }), { name: 'jobs' });
  assert.equal(lowersLimits(key, { ...same, names: [], mbps: 1 }), false);
  assert.equal(lowersLimits(key, { ...same, quota: 4 }), true);
  assert.equal(lowersLimits(key, { ...same, names: ['pr-a'] }), true);
});

test('key: what it serves now', () => {
  const serving = (sessions: number, tunnels: number, networks: number) =>
    servingText({ serving: { sessions, tunnels, networks } });
  assert.deepEqual(
    [serving(0, 0, 0), serving(1, 0, 0), serving(1, 1, 0), serving(2, 3, 1)],
    [undefined, 'No tunnel', '1 tunnel', '3 tunnels, 1 network'],
  );
});
