/** The rows of the table of limits about capability tokens, master keys, keys of projects, and budgets. */
import type { Plan } from '../../../src/control/core/rules/plans.ts';
import type { Answer } from '../../../src/control/core/testing/harness.ts';
import { elsewhere, met, type Row } from './row.ts';
import { type LimitFixture, valueIn } from './fixture.ts';
import { said } from '../../../src/control/core/testing/team.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const INVALID = [400, 'invalid_request'];
const UPGRADE = [402, 'upgrade_required'];
const UNAUTHORIZED = [401, 'unauthorized'];
/** Spent by 10^9 bytes at the prices of a Plane. */
const CENTS_PER_GB = 10;

const mint = async (w: LimitFixture, body: object = {}) => w.caller().call('POST', '/tokens', body);
const mintMaster = async (w: LimitFixture, ttl_days?: number, plan?: Plan) =>
  w.caller(plan).call('POST', '/tokens/master', { name: 'master', ttl_days });
const child = { name: 'child' };
const asKey = (w: LimitFixture, key: unknown, body: object) =>
  w.send('POST', '/projects/default/tokens', { as: String(key), body });
const mintKey = async (w: LimitFixture, ttl_hours?: number) =>
  w.caller().done('POST', '/projects/default/tokens', { ...child, ttl_hours });
const setBudget = async (w: LimitFixture, nonce: unknown, monthlyBudgetUsdCents: unknown) =>
  w.caller().call('PUT', `/tokens/${String(nonce)}/budget`, { monthlyBudgetUsdCents });

const secondsOf = ({ issuedAt, expiresAt }: Record<string, unknown>) => Number(expiresAt) - Number(issuedAt);
const hours = (answer: Answer) => valueIn(answer, (body) => secondsOf(body) / 3600);
const days = (answer: Answer) => valueIn(answer, (body) => secondsOf(body) / 86_400);

/** A whole number of at least one, of a token. */
const atLeastOne = (field: 'bandwidthLimitMbps' | 'tunnelQuota', standard: number): Row =>
  met<number | undefined>({
    limit: `Key \`${field}\``,
    value: `1 to 1,000,000, default ${standard}`,
    meet: async (w, value) => valueIn(await mint(w, { [field]: value }), (body) => body[field]),
    below: [
      [0, INVALID],
      [0.5, INVALID],
    ],
    at: [
      [1, 1],
      [1_000_000, 1_000_000],
    ],
    above: [
      [1_000_001, INVALID],
      [Number.MAX_SAFE_INTEGER, INVALID],
    ],
    leftOut: standard,
  });

export const tokenLimits = (): readonly Row[] => [
  met<number | undefined>({
    limit: 'Key `ttlHours`',
    value: '1 to 2160, default 24; larger values are reduced',
    meet: async (w, ttlHours) => hours(await mint(w, { ttlHours })),
    below: [
      [0, INVALID],
      [-1, INVALID],
    ],
    at: [
      [1, 1],
      [2160, 2160],
    ],
    above: [
      [2161, 2160],
      [Number.MAX_SAFE_INTEGER, 2160],
    ],
    leftOut: 24,
  }),
  met<number>({
    limit: 'Token expiry',
    value: 'to the millisecond by the clock',
    meet: async (w, ageMs) => {
      const { apiKey } = (await mint(w, { ttlHours: 1 })).body;
      w.at(ageMs);
      return w.admitted(apiKey);
    },
    below: [[HOUR - 1, 'ok']],
    at: [[HOUR, 'unauthorized']],
    above: [[HOUR + 1, 'unauthorized']],
  }),
  atLeastOne('bandwidthLimitMbps', 100),
  atLeastOne('tunnelQuota', 5),
  met<number>({
    limit: 'Tunnels of one token at once',
    value: 'its `tunnelQuota`',
    meet: async (w, nth) => {
      const { id } = (await mint(w, { tunnelQuota: 2 })).body;
      const served = Array.from({ length: nth - 1 }, (_, i) => `00000000-0000-4000-8000-00000000000${i}`);
      return w.claimed(id, 'shop', served);
    },
    below: [[1, 'ok']],
    at: [[2, 'ok']],
    above: [[3, 'quota_exceeded']],
  }),
  met<number>({
    limit: 'Key `allowedSubdomains`',
    value: '1 to 100 patterns',
    meet: async (w, count) => {
      const allowedSubdomains = Array.from({ length: count }, (_, i) => `name-${i}`);
      return valueIn(await mint(w, { allowedSubdomains }), (body) => (body['allowedSubdomains'] as string[]).length);
    },
    below: [[0, INVALID]],
    at: [
      [1, 1],
      [100, 100],
    ],
    above: [[101, INVALID]],
  }),
  met<number | undefined>({
    limit: 'Master key `ttl_days`',
    value: '1 to 365, default 90',
    meet: async (w, ttl_days) => days(await mintMaster(w, ttl_days)),
    below: [[0, INVALID]],
    at: [
      [1, 1],
      [365, 365],
    ],
    above: [[366, INVALID]],
    leftOut: 90,
  }),
  met<Plan>({
    limit: 'Master keys by plan',
    value: 'from Pro on',
    meet: async (w, plan) => said(await mintMaster(w, 1, plan)),
    below: [['free', UPGRADE]],
    at: [['pro', [200]]],
    above: [
      ['team', [200]],
      ['enterprise', [200]],
    ],
  }),
  met<number>({
    limit: 'Master key expiry',
    value: 'it mints no more, to the millisecond',
    meet: async (w, ageMs) => {
      const { apiKey } = (await mintMaster(w, 1)).body;
      w.at(ageMs);
      return said(await asKey(w, apiKey, child));
    },
    below: [[DAY - 1, [200]]],
    at: [[DAY, UNAUTHORIZED]],
    above: [[DAY + 1, UNAUTHORIZED]],
  }),
  met<string>({
    limit: 'Tunnels of a master key',
    value: 'none',
    meet: async (w, kind) => {
      const asked = { name: 'master', ...(kind === 'master' ? {} : { tunnelQuota: 5 }) };
      const minted = kind === 'child' ? await mintKey(w) : await w.caller().done('POST', '/tokens/master', asked);
      return [minted['tunnelQuota'], await w.admitted(minted['apiKey']), await w.claimed(minted['id'], 'shop')];
    },
    below: [['child', [5, 'ok', 'ok']]],
    at: [['master', [0, 'forbidden', 'forbidden']]],
    above: [['master that asks for five', [0, 'forbidden', 'forbidden']]],
  }),
  met<number | undefined>({
    limit: 'Project key `ttl_hours`, by a master key',
    value: '1 to 2160, default 1; larger values are reduced',
    meet: async (w, ttl_hours) => hours(await asKey(w, (await mintMaster(w)).body['apiKey'], { ...child, ttl_hours })),
    below: [[0, INVALID]],
    at: [
      [1, 1],
      [2160, 2160],
    ],
    above: [[2161, 2160]],
    leftOut: 1,
  }),
  met<number | undefined>({
    limit: 'Project key `ttl_hours`, by a user',
    value: '1 to 2160, default 24; larger values are reduced',
    meet: async (w, ttl_hours) =>
      hours(await w.caller().call('POST', '/projects/default/tokens', { ...child, ttl_hours })),
    below: [[0, INVALID]],
    at: [
      [1, 1],
      [2160, 2160],
    ],
    above: [[2161, 2160]],
    leftOut: 24,
  }),
  met<number>({
    limit: 'Project key of a master key',
    value: 'ends with the master key',
    meet: async (w, ttl_hours) =>
      hours(await asKey(w, (await mintMaster(w, 1)).body['apiKey'], { ...child, ttl_hours })),
    below: [[23, 23]],
    at: [[24, 24]],
    above: [[25, 24]],
  }),
  met<number | undefined>({
    limit: 'Rotation `graceHours`',
    value: '0 to 720, default 0',
    meet: async (w, graceHours) => {
      const { call } = w.caller();
      const { apiKey, nonce } = await mintKey(w, 2160);
      const answer = await call('POST', `/projects/default/tokens/${String(nonce)}/rotate`, { graceHours });
      // Whether the old key works on, after all but a millisecond of the grace, and after the rest.
      w.at((graceHours ?? 0) * HOUR - 1);
      const last = await w.admitted(apiKey);
      w.at((graceHours ?? 0) * HOUR);
      return valueIn(answer, () => undefined) ?? [last, await w.admitted(apiKey)];
    },
    below: [
      [-1, INVALID],
      [0, ['unauthorized', 'unauthorized']],
    ],
    at: [
      [1, ['ok', 'unauthorized']],
      [720, ['ok', 'unauthorized']],
    ],
    above: [
      [721, INVALID],
      [1.5, INVALID],
    ],
    leftOut: ['unauthorized', 'unauthorized'],
  }),
  elsewhere(
    'Rotate `graceHours` and live sessions',
    'the old key is cut off within a second of its end',
    [
      'src/control/access-keys/service.test.ts',
      'with a grace both keys work, then the old one ends within a second, and data nodes know it before',
    ],
    ['src/control/access-keys/service.test.ts', 'a grace never outlives the token'],
  ),
  met<number | null | undefined>({
    limit: 'Monthly budget',
    value: '0 to 1,000,000,000 US cents, or none',
    meet: async (w, cents) => {
      const { nonce } = (await mint(w)).body;
      return valueIn(await setBudget(w, nonce, cents), (body) => body['monthlyBudgetUsdCents']);
    },
    below: [
      [-1, INVALID],
      [null, null],
    ],
    at: [
      [0, 0],
      [1_000_000_000, 1_000_000_000],
    ],
    above: [
      [1_000_000_001, INVALID],
      [0.5, INVALID],
    ],
    leftOut: INVALID,
  }),
  met<number>({
    limit: 'Monthly budget, what it bars',
    value: 'new tunnels, from the last cent on',
    meet: async (w, bytes) => {
      const { id, nonce } = (await mint(w)).body;
      await setBudget(w, nonce, CENTS_PER_GB);
      const { id: tunnelId } = await w.caller().done('POST', '/tunnels', { localPort: 3000 });
      const usage = { kind: 'usage', tunnelId: String(tunnelId), tokenId: String(id), requests: 1 } as const;
      const events = [{ ...usage, bytesIn: bytes - 1, bytesOut: 1 }];
      await w.plane.control.link.report({ node: 'n', sequence: 1, events });
      return w.claimed(id, 'shop');
    },
    below: [[999_999_999, 'ok']],
    at: [[1_000_000_000, 'budget_exhausted']],
    above: [[1_000_000_001, 'budget_exhausted']],
  }),
  elsewhere(
    'Monthly budget at the edge',
    '503 `budget_exhausted` from the last cent on; what runs is cut',
    ['src/data/gateway/budgets.test.ts', 'is reached below, at and above: from its last cent on nothing passes'],
    [
      'src/data/edge/h1/budget.test.ts',
      'at the cap a download, an upload and an upgraded connection are cut, also while the control plane is away',
    ],
    [
      'test/control/../flows/budget.test.ts',
      'an endless download is cut within the bound, what follows is refused, and the agent stays',
    ],
    [
      'test/control/../flows/budget.test.ts',
      'stays blocked over a restart of the server: the agent is bound again, and visitors get the reason',
    ],
  ),
  elsewhere(
    'Token `bandwidthLimitMbps` at the edge',
    'kept within 5 % over 10 s',
    ['src/base/limits/token-bucket.test.ts', '${mbps} Mbps pass within 5 % over 10 s, and no second is far from it'],
    [
      'test/control/../flows/bandwidth.test.ts',
      'keeps it within 5 % over 10 s, by what came out at the visitor and at the service',
    ],
  ),
  elsewhere(
    'Keys per organization',
    '1,000 created by users and 1,000 by master keys',
    [
      'src/control/access-keys/limits/mint-limits.test.ts',
      'an organization has a bounded number of live tokens; a rotation needs no room',
    ],
    [
      'src/control/access-keys/limits/mint-limits.test.ts',
      'what master keys mint is bounded by itself and leaves people their room',
    ],
  ),
  elsewhere('Keys per user or master key', '250 in an organization', [
    'src/control/access-keys/limits/mint-limits.test.ts',
    'one person, one master key, has so many live tokens; to revoke one makes room',
  ]),
  elsewhere('Master keys per user', '20', [
    'src/control/access-keys/limits/mint-limits.test.ts',
    'a person has so many live master keys, over all organizations',
  ]),
  elsewhere(
    'New and rotated keys',
    '500 each in 24 hours per user or master key',
    [
      'src/control/access-keys/limits/mint-limits.test.ts',
      'a person mints and rotates so many tokens a day, over all organizations, and others are not concerned',
    ],
    [
      'src/control/access-keys/limits/mint-limits.test.ts',
      'a master key that mints and revokes in a loop bars itself alone, for as long as its answer says',
    ],
  ),
  elsewhere(
    'Revoked keys that have not expired',
    'from 1,000 on, a user can create 25 keys a day, a master key none',
    [
      'src/control/access-keys/limits/mint-limits.test.ts',
      'a person whose list is long goes on with a few tokens a day',
    ],
    [
      'src/control/access-keys/limits/mint-limits.test.ts',
      'a master key with a thousand revoked keys that have not run out waits until one has, or is replaced',
    ],
  ),
];
