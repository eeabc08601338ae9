/**
 * Log-in, refresh, log-out, and who a bearer is. A session is a row; the access JWT names it and lives 15 minutes; the refresh
 * cookie is a random value of which only the hash is stored, new at each use. Called by control/api.
 */
import { createHash, randomBytes } from 'node:crypto';
import { and, asc, eq, gt, isNull } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { AppError } from '../../base/errors.ts';
import { memberships, organizations, refreshTokens, sessions, users } from '../db/schema.ts';
import type { Db, Store, Tx } from '../db/tx.ts';
import type { AccessTokens } from './access-tokens.ts';
import { emailKey } from './accounts.ts';
import type { UserActor } from './actor.ts';
import { recordDeed } from './audit.ts';
import type { Passwords } from './passwords.ts';
import { ENTITLEMENTS, type Entitlements, type Plan } from './plans.ts';

/** Since its last use a session lives this long. */
export const SESSION_SECONDS = 30 * 24 * 3600;
/** Log-ins of one person at once; the oldest gives way, so that a script that never logs out can't fill the table. */
const MAX_SESSIONS = 100;
const MAX_USER_AGENT = 256;

export interface Visit {
  readonly ipAddress: string;
  readonly userAgent: string;
}

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
      if (user !== undefined) this.#recordFailure(user, visit);
      throw new AppError('unauthorized', 'The e-mail address or the password is wrong.');
    }
    if (user.emailVerifiedAt === null) {
      throw new AppError('email_not_verified', 'Confirm your e-mail address with the code that was sent to it.');
    }
    const made = this.#store.inTx((tx) => {
      const org = orgsOf(tx.db, user.id)[0];
      if (org === undefined) throw new AppError('forbidden', 'This account belongs to no organization.');
      const actor = openSession(tx, { user, org, visit });
      return { actor, org, refreshToken: issueRefresh(tx, actor.sessionId) };
    });
    return {
      accessToken: await this.#accessTokens.sign(made.actor),
      refreshToken: made.refreshToken,
      user: { id: user.id, email: user.email },
      activeOrg: activeOrg(made.org),
      superadmin: user.isSuperadmin,
    };
  }

  /** Swaps a refresh cookie for a new one and an access token. A cookie that was swapped before revokes its session. Throws `unauthorized`. */
  async refresh(cookie: string, visit: Visit): Promise<{ accessToken: string; refreshToken: string }> {
    const outcome = this.#store.inTx((tx) => {
      const found = findRefresh(tx.db, cookie, tx.now);
      if (found === undefined) return undefined;
      const actor = readActor(tx.db, found.sessionId, { now: tx.now, ipAddress: visit.ipAddress });
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
      readActor(this.#store.db, found.sessionId, { now, ipAddress: '' }) !== undefined
    );
  }

  /** Who a live refresh cookie belongs to: for a log-out after the access token has run out. */
  actorOfRefresh(cookie: string, visit: Visit): UserActor | undefined {
    const now = this.#store.clock.now();
    const found = findRefresh(this.#store.db, cookie, now);
    return found === undefined
      ? undefined
      : readActor(this.#store.db, found.sessionId, { now, ipAddress: visit.ipAddress });
  }

  logout(actor: UserActor): void {
    this.#store.inTx((tx) => {
      revokeSession(tx, actor.sessionId);
      recordDeed(tx, actor, { action: 'auth.logout', resourceType: 'session', resourceId: actor.sessionId });
    });
  }

  /** Who the bearer of this JWT is, as the tables say now; undefined when it is not valid or its session is over. */
  async authenticate(jwt: string, ipAddress: string): Promise<UserActor | undefined> {
    const sessionId = await this.#accessTokens.sessionOf(jwt);
    return sessionId === undefined
      ? undefined
      : readActor(this.#store.db, sessionId, { now: this.#store.clock.now(), ipAddress });
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

  #recordFailure(user: typeof users.$inferSelect, visit: Visit): void {
    this.#store.inTx((tx) => {
      const org = orgsOf(tx.db, user.id)[0];
      if (org === undefined) return;
      const actor = asActor(user, org, { sessionId: '', ipAddress: visit.ipAddress });
      recordDeed(tx, actor, { action: 'auth.login_failed', resourceType: 'user', resourceId: user.id });
    });
  }
}

type OrgRow = ReturnType<typeof orgsOf>[number];

/** Live organizations of a person, oldest membership first. */
function orgsOf(db: Db, userId: string) {
  return db
    .select({
      id: organizations.id,
      name: organizations.name,
      slug: organizations.slug,
      plan: organizations.plan,
      approval: organizations.approvalStatus,
      role: memberships.role,
    })
    .from(memberships)
    .innerJoin(organizations, eq(organizations.id, memberships.orgId))
    .where(and(eq(memberships.userId, userId), isNull(organizations.deletedAt)))
    .orderBy(asc(memberships.createdAt), asc(memberships.orgId))
    .all();
}

function activeOrg(org: OrgRow): ActiveOrg {
  return { id: org.id, name: org.name, slug: org.slug, role: org.role, approval_status: org.approval };
}

function asActor(
  user: { id: string; email: string; isSuperadmin: boolean },
  org: OrgRow,
  at: { sessionId: string; ipAddress: string },
): UserActor {
  return {
    kind: 'user',
    userId: user.id,
    email: user.email,
    orgId: org.id,
    role: org.role,
    approval: org.approval,
    superadmin: user.isSuperadmin,
    ...at,
  };
}

/** The person behind a live session, with the role that they have now; undefined when the session, membership or organization is gone. */
function readActor(db: Db, sessionId: string, at: { now: number; ipAddress: string }): UserActor | undefined {
  const row = db
    .select({ session: sessions, user: users, org: organizations, role: memberships.role })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .innerJoin(organizations, eq(organizations.id, sessions.orgId))
    .innerJoin(memberships, and(eq(memberships.orgId, sessions.orgId), eq(memberships.userId, sessions.userId)))
    .where(
      and(
        eq(sessions.id, sessionId),
        isNull(sessions.revokedAt),
        gt(sessions.expiresAt, at.now),
        isNull(organizations.deletedAt),
      ),
    )
    .get();
  if (row === undefined) return undefined;
  const org = { ...row.org, approval: row.org.approvalStatus, role: row.role };
  return asActor(row.user, org, { sessionId, ipAddress: at.ipAddress });
}

function openSession(tx: Tx, input: { user: typeof users.$inferSelect; org: OrgRow; visit: Visit }): UserActor {
  const live = tx.db
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(eq(sessions.userId, input.user.id), isNull(sessions.revokedAt), gt(sessions.expiresAt, tx.now)))
    .orderBy(asc(sessions.lastUsedAt))
    .all();
  for (const old of live.slice(0, Math.max(0, live.length - MAX_SESSIONS + 1))) revokeSession(tx, old.id);
  const actor = asActor(input.user, input.org, { sessionId: uuidv7(), ipAddress: input.visit.ipAddress });
  tx.db
    .insert(sessions)
    .values({
      id: actor.sessionId,
      userId: actor.userId,
      orgId: actor.orgId,
      createdAt: tx.now,
      lastUsedAt: tx.now,
      expiresAt: tx.now + SESSION_SECONDS * 1000,
      ...visitColumns(input.visit),
    })
    .run();
  recordDeed(tx, actor, { action: 'auth.login', resourceType: 'session', resourceId: actor.sessionId });
  return actor;
}

function visitColumns(visit: Visit): { ipAddress: string; userAgent: string } {
  return { ipAddress: visit.ipAddress, userAgent: visit.userAgent.slice(0, MAX_USER_AGENT) };
}

function revokeSession(tx: Tx, sessionId: string): void {
  tx.db
    .update(sessions)
    .set({ revokedAt: tx.now })
    .where(and(eq(sessions.id, sessionId), isNull(sessions.revokedAt)))
    .run();
}

/** A new cookie value for the session: 32 random bytes, of which the table keeps the hash. */
function issueRefresh(tx: Tx, sessionId: string): string {
  const value = randomBytes(32).toString('base64url');
  tx.db
    .insert(refreshTokens)
    .values({ hash: hashOf(value), sessionId, issuedAt: tx.now })
    .run();
  return value;
}

/** Looked up by hash: whoever times the look-up learns about the hash, not about the value. */
function findRefresh(db: Db, cookie: string, now: number) {
  const row = db
    .select({ hash: refreshTokens.hash, sessionId: refreshTokens.sessionId, rotatedAt: refreshTokens.rotatedAt })
    .from(refreshTokens)
    .innerJoin(sessions, eq(sessions.id, refreshTokens.sessionId))
    .where(and(eq(refreshTokens.hash, hashOf(cookie)), isNull(sessions.revokedAt), gt(sessions.expiresAt, now)))
    .get();
  return row;
}

function hashOf(value: string): string {
  return createHash('sha256').update(value).digest('hex');
}
