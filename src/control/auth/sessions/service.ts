/**
 * Log-in, log-out, and who a bearer is. A session is a row; the access JWT names it and lives 15 minutes; a new JWT is had with
 * the refresh cookie (refresh.ts).
 */
import { eq } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import { sessions, users } from '../../db/schema.ts';
import type { Store } from '../../db/tx.ts';
import type { AccessTokens } from './access-tokens.ts';
import { findUserByEmail } from '../accounts/service.ts';
import { type Actor, allow, type UserActor } from '../../core/rules/actor.ts';
import { recordAudit } from '../../core/rules/audit.ts';
import { writeNothing } from '../../organizations/blank-write.ts';
import type { Challenges } from './challenges.ts';
import type { Passwords } from '../../core/secrets/passwords.ts';
import type { SignUpMemory } from '../accounts/sign-up-memory.ts';
import { homeOrgOf, type NewOrgRules, type OrgRow, orgsOf } from '../../organizations/rows.ts';
import { ENTITLEMENTS, type Entitlements, type Plan } from '../../core/rules/plans.ts';
import { type OpenedSession, openSession, recordFailedLogin } from './rows.ts';
import { isMfaEnabled, refuseLocked } from '../accounts/rows.ts';
import { callerNow, readActor, type Visit } from '../../core/rules/caller.ts';
import type { SessionEnds } from './ends.ts';

/**
 * For what every log-in writes, good or bad: to wait for the disk each time would stop the event loop, and the visitors of all tunnels with
 * it. A power cut costs a log-in, which is then made again.
 */
const RELAXED = { relaxed: true } as const;

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

/** What a right first factor gets where the account has a second one. */
export interface MfaRequired {
  readonly challengeToken: string;
}

export interface Summary {
  readonly user: typeof users.$inferSelect;
  readonly mfaEnabled: boolean;
  readonly activeOrg: ActiveOrg;
  readonly orgs: ReadonlyArray<Omit<ActiveOrg, 'approval_status'>>;
  readonly plan: Plan;
  readonly entitlements: Entitlements;
}

export interface SessionsDeps {
  readonly store: Store;
  readonly passwords: Passwords;
  readonly signUps: SignUpMemory;
  readonly accessTokens: AccessTokens;
  readonly challenges: Challenges;
  readonly sessionEnds: SessionEnds;
  /** For a user who has been removed from their last organization. */
  readonly newOrg: NewOrgRules;
}

export class Sessions {
  readonly #store: Store;
  readonly #passwords: Passwords;
  readonly #signUps: SignUpMemory;
  readonly #accessTokens: AccessTokens;
  readonly #challenges: Challenges;
  readonly #sessionEnds: SessionEnds;
  readonly #newOrg: NewOrgRules;

  constructor(deps: SessionsDeps) {
    this.#store = deps.store;
    this.#passwords = deps.passwords;
    this.#signUps = deps.signUps;
    this.#accessTokens = deps.accessTokens;
    this.#challenges = deps.challenges;
    this.#sessionEnds = deps.sessionEnds;
    this.#newOrg = deps.newOrg;
  }

  /**
   * Throws `unauthorized` alike for an unknown address and a wrong password; `email_not_verified` with the right one, and with whatever was
   * typed at the last sign-up with the address: there may be an account, with a password that the new user does not know. Throws
   * `forbidden` with the right password of a locked account.
   */
  async login(input: { email: string; password: string }, visit: Visit): Promise<LoginResult | MfaRequired> {
    const user = findUserByEmail(this.#store.db, input.email);
    const fits = await this.#passwords.verify(user?.passwordHash ?? null, input.password);
    const isSignUp = this.#signUps.isLast(input);
    if (user === undefined || !fits || user.emailVerifiedAt === null) {
      visit.afterAnswer(() =>
        this.#store.inTx((tx) => {
          if (user === undefined || fits) writeNothing(tx);
          else recordFailedLogin(tx, user, visit);
        }, RELAXED),
      );
      throw fits || isSignUp ? unproven() : wrongCredentials();
    }
    const opened = this.#store.inTx((tx) => {
      const now = tx.db.select().from(users).where(eq(users.id, user.id)).get();
      // A reset while the hash was computed: it has ended all sessions, and this one must not come after it.
      if (now?.passwordHash !== user.passwordHash) throw wrongCredentials();
      refuseLocked(now);
      if (isMfaEnabled(tx.db, user.id)) return undefined;
      return openSession(tx, { user: now, org: homeOrgOf(tx, user, this.#newOrg), visit });
    }, RELAXED);
    return opened === undefined ? { challengeToken: await this.#challenges.sign(user) } : this.present(opened);
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

  /** Ends the session, and the key of `culvert login` that came with it. */
  logout(actor: UserActor): void {
    this.#store.inTx((tx) => {
      this.#sessionEnds.one(tx, actor, actor.sessionId);
      recordAudit(tx, actor, { action: 'auth.logout', resourceType: 'session', resourceId: actor.sessionId });
    });
  }

  /**
   * Makes another organization of the actor's the active one of this session. Access tokens that were made before go on in theirs.
   * Throws `not_found` for an organization that the actor is not in.
   */
  async switchOrg(actor: Actor, orgId: string): Promise<{ accessToken: string; activeOrg: ActiveOrg }> {
    allow(actor, 'change', 'account');
    const org = this.#store.inTx((tx) => {
      const wanted = orgsOf(tx.db, actor.userId).find(({ id }) => id === orgId);
      if (wanted === undefined)
        throw new AppError('not_found', 'You are not a member of this organization. Check the id.');
      tx.db.update(sessions).set({ orgId: wanted.id }).where(eq(sessions.id, actor.sessionId)).run();
      recordAudit(tx, actor, { action: 'auth.switch_org', resourceType: 'organization', resourceId: wanted.id });
      return wanted;
    });
    const next: UserActor = { ...actor, orgId: org.id, role: org.role, approval: org.approval };
    return { accessToken: await this.#accessTokens.sign(next), activeOrg: activeOrg(org) };
  }

  /** Who the bearer of this JWT is, as the tables say now; undefined when it is not valid or its session is over. */
  async authenticate(jwt: string, ipAddress: string): Promise<UserActor | undefined> {
    const named = await this.#accessTokens.sessionOf(jwt);
    return named === undefined
      ? undefined
      : readActor(this.#store.db, named, { now: this.#store.clock.now(), ipAddress });
  }

  /** The same caller, as the tables say now. Throws `unauthorized` when their session, membership or account is of no use any more. */
  callerNow(actor: UserActor): UserActor {
    return callerNow({ db: this.#store.db, now: this.#store.clock.now() }, actor);
  }

  summary(actor: UserActor): Summary {
    const user = this.#store.db.select().from(users).where(eq(users.id, actor.userId)).get();
    const orgs = orgsOf(this.#store.db, actor.userId);
    const active = orgs.find((org) => org.id === actor.orgId);
    if (user === undefined || active === undefined)
      throw new AppError('unauthorized', 'The account was deleted. Log in with another one.');
    return {
      user,
      mfaEnabled: isMfaEnabled(this.#store.db, user.id),
      activeOrg: activeOrg(active),
      orgs: orgs.map(({ id, name, slug, role }) => ({ id, name, slug, role })),
      plan: active.plan,
      entitlements: ENTITLEMENTS[active.plan],
    };
  }
}

function unproven(): AppError {
  return new AppError(
    'email_not_verified',
    'Your email address is not confirmed. Enter the code from the email, or set a new password with "Forgot password".',
  );
}

function wrongCredentials(): AppError {
  return new AppError('unauthorized', 'The email address or the password is wrong. Try again.');
}

function activeOrg(org: OrgRow): ActiveOrg {
  return { id: org.id, name: org.name, slug: org.slug, role: org.role, approval_status: org.approval };
}
