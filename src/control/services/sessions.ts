/**
 * Log-in, refresh, log-out, and who a bearer is. A session is a row; the access JWT names it and lives 15 minutes; the refresh
 * cookie is a random value of which only the hash is stored, new at each use. Called by control/api.
 */
import { eq } from 'drizzle-orm';
import { AppError } from '../../base/errors.ts';
import { refreshTokens, sessions, users } from '../db/schema.ts';
import type { Store } from '../db/tx.ts';
import type { AccessTokens } from './access-tokens.ts';
import { emailKey } from './accounts.ts';
import type { UserActor } from './actor.ts';
import { recordDeed } from './audit.ts';
import type { Passwords } from './passwords.ts';
import { type OrgRow, orgsOf } from './organization-rows.ts';
import { ENTITLEMENTS, type Entitlements, type Plan } from './plans.ts';
import {
  asActor,
  findRefresh,
  issueRefresh,
  type OpenedSession,
  openSession,
  readActor,
  revokeSession,
  SESSION_SECONDS,
  type UserRow,
  type Visit,
  visitColumns,
} from './session-rows.ts';

export interface ActiveOrg {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly role: string;
  readonly approval_status: string;
}

export interface LoginResult {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly user: { readonly id: string; readonly email: string };
  readonly activeOrg: ActiveOrg;
  readonly superadmin: boolean;
}

export interface Summary {
  readonly user: typeof users.$inferSelect;
  readonly activeOrg: ActiveOrg;
  readonly orgs: ReadonlyArray<Omit<ActiveOrg, 'approval_status'>>;
  readonly plan: Plan;
  readonly entitlements: Entitlements;
}

export class Sessions {
  readonly #store: Store;
  readonly #passwords: Passwords;
  readonly #accessTokens: AccessTokens;

  constructor(deps: { store: Store; passwords: Passwords; accessTokens: AccessTokens }) {
    this.#store = deps.store;
    this.#passwords = deps.passwords;
    this.#accessTokens = deps.accessTokens;
  }

  /** Throws `unauthorized` alike for an unknown address and a wrong password; `email_not_verified` only with the right one. */
  async login(input: { email: string; password: string }, visit: Visit): Promise<LoginResult> {
    const user = this.#store.db
      .select()
      .from(users)
      .where(eq(users.emailKey, emailKey(input.email)))
      .get();
    const fits = await this.#passwords.verify(user?.passwordHash ?? null, input.password);
    if (user === undefined || !fits) {
      if (user !== undefined) visit.afterAnswer(() => this.#recordFailure(user, visit));
      throw new AppError('unauthorized', 'The e-mail address or the password is wrong.');
    }
    if (user.emailVerifiedAt === null) {
      throw new AppError('email_not_verified', 'Confirm your e-mail address with the code that was sent to it.');
    }
    const opened = this.#store.inTx((tx) => {
      const org = orgsOf(tx.db, user.id)[0];
      if (org === undefined) throw new AppError('forbidden', 'This account belongs to no organization.');
      return openSession(tx, { user, org, visit });
    });
    return this.present(opened);
  }

  /** What the caller of any way in gets for an opened session. */
  async present({ actor, org, refreshToken }: OpenedSession): Promise<LoginResult> {
    return {
      accessToken: await this.#accessTokens.sign(actor),
      refreshToken,
      user: { id: actor.userId, email: actor.email },
      activeOrg: activeOrg(org),
      superadmin: actor.superadmin,
    };
  }

  /** Swaps a refresh cookie for a new one and an access token. A cookie that was swapped before revokes its session. Throws `unauthorized`. */
  async refresh(cookie: string, visit: Visit): Promise<{ accessToken: string; refreshToken: string }> {
    const outcome = this.#store.inTx((tx) => {
      const found = findRefresh(tx.db, cookie, tx.now);
      if (found === undefined) return undefined;
      const actor = readActor(tx.db, found, { now: tx.now, ipAddress: visit.ipAddress });
      if (actor === undefined) return undefined;
      if (found.rotatedAt !== null) {
        revokeSession(tx, actor.sessionId);
        recordDeed(tx, actor, { action: 'auth.refresh_reuse', resourceType: 'session', resourceId: actor.sessionId });
        return undefined;
      }
      tx.db.update(refreshTokens).set({ rotatedAt: tx.now }).where(eq(refreshTokens.hash, found.hash)).run();
      tx.db
        .update(sessions)
        .set({ lastUsedAt: tx.now, expiresAt: tx.now + SESSION_SECONDS * 1000, ...visitColumns(visit) })
        .where(eq(sessions.id, actor.sessionId))
        .run();
      return { actor, refreshToken: issueRefresh(tx, actor.sessionId) };
    });
    if (outcome === undefined) throw new AppError('unauthorized', 'The session is over. Log in again.');
    return { accessToken: await this.#accessTokens.sign(outcome.actor), refreshToken: outcome.refreshToken };
  }

  /** True when `refresh` would succeed. */
  isLiveRefresh(cookie: string): boolean {
    const now = this.#store.clock.now();
    const found = findRefresh(this.#store.db, cookie, now);
    return (
      found !== undefined &&
      found.rotatedAt === null &&
      readActor(this.#store.db, found, { now, ipAddress: '' }) !== undefined
    );
  }

  /** Who a live refresh cookie belongs to: for a log-out after the access token has run out. */
  actorOfRefresh(cookie: string, visit: Visit): UserActor | undefined {
    const now = this.#store.clock.now();
    const found = findRefresh(this.#store.db, cookie, now);
    return found === undefined ? undefined : readActor(this.#store.db, found, { now, ipAddress: visit.ipAddress });
  }

  logout(actor: UserActor): void {
    this.#store.inTx((tx) => {
      revokeSession(tx, actor.sessionId);
      recordDeed(tx, actor, { action: 'auth.logout', resourceType: 'session', resourceId: actor.sessionId });
    });
  }

  /** Who the bearer of this JWT is, as the tables say now; undefined when it is not valid or its session is over. */
  async authenticate(jwt: string, ipAddress: string): Promise<UserActor | undefined> {
    const named = await this.#accessTokens.sessionOf(jwt);
    return named === undefined
      ? undefined
      : readActor(this.#store.db, named, { now: this.#store.clock.now(), ipAddress });
  }

  summary(actor: UserActor): Summary {
    const user = this.#store.db.select().from(users).where(eq(users.id, actor.userId)).get();
    const orgs = orgsOf(this.#store.db, actor.userId);
    const active = orgs.find((org) => org.id === actor.orgId);
    if (user === undefined || active === undefined) throw new AppError('unauthorized', 'The account is gone.');
    return {
      user,
      activeOrg: activeOrg(active),
      orgs: orgs.map(({ id, name, slug, role }) => ({ id, name, slug, role })),
      plan: active.plan,
      entitlements: ENTITLEMENTS[active.plan],
    };
  }

  #recordFailure(user: UserRow, visit: Visit): void {
    this.#store.inTx((tx) => {
      const org = orgsOf(tx.db, user.id)[0];
      if (org === undefined) return;
      const actor = asActor(user, org, { sessionId: '', ipAddress: visit.ipAddress });
      recordDeed(tx, actor, { action: 'auth.login_failed', resourceType: 'user', resourceId: user.id });
    });
  }
}

function activeOrg(org: OrgRow): ActiveOrg {
  return { id: org.id, name: org.name, slug: org.slug, role: org.role, approval_status: org.approval };
}
