/** Access keys: mint, rotate, revoke, recognize; what they spend; master keys and keys of projects. */
import { eq, lt, or, sql } from 'drizzle-orm';
import { DAY_MS } from '../../base/clock.ts';
import type { Prices } from '../../plane/spend.ts';
import { inBatches } from '../core/jobs.ts';
import type { PendingKind } from '../core/pending-rows.ts';
import type { BillingMode } from '../core/rules/plan-gate.ts';
import type { Slice } from '../core/slice.ts';
import { on } from '../db/events.ts';
import { capabilityTokens, tokenSpend } from '../db/schema.ts';
import type { Tx } from '../db/tx.ts';
import { memberLeft, memberRoleChanged, orgDeleted } from '../organizations/events.ts';
import { projectDeleted } from '../projects/events.ts';
import { TokenBudgets } from './budgets.ts';
import { TokenEnds } from './ends/service.ts';
import { TokenLimits } from './limits/changes.ts';
import { Pricing } from './limits/pricing.ts';
import { mountTokenLimits } from './limits/routes.ts';
import { TokenMaker } from './maker.ts';
import { MasterKeys } from './master/keys.ts';
import { mountProjectTokens } from './master/project-keys-routes.ts';
import { ProjectTokens } from './master/project-keys.ts';
import { MasterRights } from './master/rights.ts';
import { endKeysBeyondRole, endKeysOfLeaver } from './ends/member-ends.ts';
import { Revocations } from './ends/revocations.ts';
import { forgetNonces } from './ends/revoked-nonces.ts';
import { forgetTokens } from './room.ts';
import { Rotation } from './rotation.ts';
import { mountTokens } from './routes.ts';
import { Tokens } from './service.ts';
import { Spend } from './spend.ts';

/** What a key spent in a month is kept for a year behind it, for comparison. */
const SPEND_DAYS = 365;
/** Spend rows per pass. */
const SPEND_BATCH = 1_000;
/** A dead token is listed for this long; the audit log keeps what it was. */
const TOKEN_DAYS = 30;
/** Of each token its children and its tunnels are looked up. */
const TOKEN_BATCH = 200;
/** Large changes that end keys. */
const ENDS: readonly PendingKind[] = [
  'organization_deleted',
  'project_deleted',
  'master_key_ended',
  'member_keys_ended',
  'user_keys_ended',
  'user_logins_ended',
];

export interface AccessKeyOptions {
  /** What traffic costs (`pricing`). */
  readonly prices: Prices;
  readonly billing: { readonly mode: BillingMode };
}

export interface AccessKeyServices {
  readonly tokens: Tokens;
  readonly tokenEnds: TokenEnds;
  readonly rotation: Rotation;
  readonly tokenLimits: TokenLimits;
  readonly pricing: Pricing;
  readonly tokenBudgets: TokenBudgets;
  readonly masterKeys: MasterKeys;
  readonly projectTokens: ProjectTokens;
  readonly revocations: Revocations;
  readonly spend: Spend;
}

export const accessKeys: Slice<AccessKeyServices, AccessKeyOptions> = {
  name: 'access keys',
  service: ({ store, keys, drains, nodes, publisher: routeEvents }, _use, { prices, billing }) => {
    const maker = new TokenMaker({ keys });
    const spend = new Spend({ prices });
    const tokens = new Tokens({ store, keys, maker, spend, nodes });
    const tokenEnds = new TokenEnds({ store, routeEvents, drains });
    const rights = new MasterRights({ billing: billing.mode });
    const rotation = new Rotation({ store, maker, ends: tokenEnds, spend, masterRights: rights });
    return {
      tokens,
      tokenEnds,
      rotation,
      tokenLimits: new TokenLimits({ store, routeEvents }),
      pricing: new Pricing({ prices, mode: billing.mode }),
      tokenBudgets: new TokenBudgets({ store, spend, routeEvents }),
      masterKeys: new MasterKeys({ store, maker, tokens, rights }),
      projectTokens: new ProjectTokens({ store, maker, ends: tokenEnds, rotation, masterRights: rights }),
      revocations: new Revocations({ store }),
      spend,
    };
  },
  routes: (api, services) => {
    mountTokens(api, services);
    mountTokenLimits(api, services);
    mountProjectTokens(api, services);
  },
  on: ({ tokenEnds: ends }) => [
    on(orgDeleted, (tx, { id, name }) => {
      const message = `The organization ${name} was deleted. Use a key of another one.`;
      return { revokedTokens: ends.announceEnd(tx, eq(capabilityTokens.orgId, id), () => message) };
    }),
    on(memberLeft, (tx, member) => ({ revokedTokens: endKeysOfLeaver(ends, tx, member) })),
    on(memberRoleChanged, (tx, member) => ({ revokedTokens: endKeysBeyondRole(ends, tx, member) })),
    on(projectDeleted, (tx, project) => ({ revokedTokens: ends.announceProjectEnd(tx, project) })),
  ],
  drains: ({ tokenEnds: ends }) => [
    ...ENDS.map((kind) => ({ kind, drain: ends.drain.bind(ends) })),
    { kind: 'master_key_rotated', drain: ends.drainRotated.bind(ends) },
  ],
  // A rotated token ends in the database here; data nodes know the instant and keep it themselves.
  jobs: ({ tokenEnds: ends }) => [inBatches('end graces of tokens', 1_000, () => ends.endGraces())],
  forget: [forgetNonces, forgetDeadTokens, forgetSpend],
};

/** By rowid: its key is two columns. */
function forgetSpend({ db, now }: Tx): void {
  const past = now - SPEND_DAYS * DAY_MS;
  const batch = sql`SELECT rowid FROM ${tokenSpend} WHERE ${tokenSpend.updatedAt} < ${past} LIMIT ${SPEND_BATCH}`;
  db.delete(tokenSpend).where(sql`rowid IN (${batch})`).run();
}

/** Also one that is revoked and has not run out: the list of revocations has a table of its own. */
function forgetDeadTokens(tx: Tx): void {
  const past = tx.now - TOKEN_DAYS * DAY_MS;
  const { expiresAt, revokedAt } = capabilityTokens;
  forgetTokens(tx, or(lt(expiresAt, past), lt(revokedAt, past)), TOKEN_BATCH);
}
