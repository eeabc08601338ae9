/** Sessions of users: login, refresh, list, ends; and the caller behind an access token. */
import { inArray, lt, or } from 'drizzle-orm';
import { keyReplaced } from '../../access-keys/events.ts';
import { accessKeys } from '../../access-keys/index.ts';
import { DAY_MS } from '../../../base/clock.ts';
import { billing } from '../../billing/index.ts';
import type { Slice } from '../../core/slice.ts';
import { on } from '../../db/events.ts';
import { refreshTokens, sessions as table } from '../../db/schema.ts';
import type { Tx } from '../../db/tx.ts';
import { orgLeft } from '../../organizations/events.ts';
import { passwordChanged } from '../accounts/events.ts';
import { accounts } from '../accounts/index.ts';
import { AccessTokens } from './access-tokens.ts';
import { mountAccount } from './account-routes.ts';
import { Challenges } from './challenges.ts';
import { SessionEnds } from './ends.ts';
import { SessionList } from './list.ts';
import { Refresh } from './refresh.ts';
import { mountAccess } from './routes.ts';
import { leaveOrg, replaceKey } from './rows.ts';
import { Sessions } from './service.ts';

/** A dead session is kept this long for questions about its end. */
const DEAD_DAYS = 7;
/** Each session takes its refresh cookie along. */
const BATCH = 200;

export interface SessionServices {
  readonly sessions: Sessions;
  readonly refresh: Refresh;
  readonly sessionList: SessionList;
  readonly sessionEnds: SessionEnds;
  readonly challenges: Challenges;
}

export const sessions: Slice<SessionServices> = {
  name: 'sessions',
  service: ({ store, sealer, keys, passwords, clock, apiUrl: issuer, instance }, use) => {
    const accessTokens = new AccessTokens({ keys, clock, issuer });
    const challenges = new Challenges({ keys, clock, issuer, sealer });
    const sessionEnds = new SessionEnds({ tokens: use(accessKeys).tokenEnds });
    const { signUps } = use(accounts);
    const newOrg = instance.homeOrg;
    return {
      sessions: new Sessions({ store, passwords, signUps, accessTokens, challenges, sessionEnds, newOrg }),
      refresh: new Refresh({ store, sealer, accessTokens, sessionEnds }),
      sessionList: new SessionList({ store, sessionEnds }),
      sessionEnds,
      challenges,
    };
  },
  routes: (api, services, { publicUrl, corsOrigins, log, use }) => {
    mountAccess(api, { ...services, publicUrl, corsOrigins, log });
    const billingMode = use(billing).billing.mode;
    mountAccount(api, { ...services, ...use(accounts), publicUrl, billingMode });
  },
  on: ({ sessionEnds: ends }) => [
    on(orgLeft, (tx, { userId, orgId }) => leaveOrg(tx, userId, orgId)),
    on(keyReplaced, replaceKey),
    on(passwordChanged, (tx, { userId, by, spared }) => {
      if (spared === undefined) ends.everywhere(tx, by, userId);
      else ends.others(tx, by, { userId, spared });
    }),
  ],
  forget: [forgetSessions],
};

function forgetSessions({ db, now }: Tx): void {
  const past = now - DEAD_DAYS * DAY_MS;
  const dead = db
    .select({ id: table.id })
    .from(table)
    .where(or(lt(table.expiresAt, past), lt(table.revokedAt, past)))
    .limit(BATCH)
    .all();
  const ids = dead.map((row) => row.id);
  db.delete(refreshTokens).where(inArray(refreshTokens.sessionId, ids)).run();
  db.delete(table).where(inArray(table.id, ids)).run();
}
