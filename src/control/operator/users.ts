/**
 * Accounts as those who run the server see and change them. Called by routes for superadmins and for `culvert admin`.
 */
import { and, asc, count, eq, gt, inArray, isNull, or } from 'drizzle-orm';
import { AppError } from '../../base/errors.ts';
import { memberships, mfaFactors, organizations, users } from '../db/schema.ts';
import type { Db, Store } from '../db/tx.ts';
import { type Accounts, type CreatedUser, findUserByEmail } from '../auth/accounts/service.ts';
import { type Actor, allowOperator, asOperator, type Role } from '../core/rules/actor.ts';
import { changesBetween } from '../core/rules/audit-changes.ts';
import { holdsText } from '../db/text-match.ts';
import type { Mfa } from '../auth/mfa/service.ts';
import type { PasswordLink, PasswordReset } from '../auth/accounts/password-reset.ts';
import type { Plan } from '../core/rules/plans.ts';
import type { Ended, SessionEnds } from '../auth/sessions/ends.ts';
import { updateUser, type UserRow } from '../auth/accounts/rows.ts';
import { recordUserAudit } from '../auth/accounts/user-audit.ts';

export interface UserView {
  readonly user: UserRow;
  readonly mfaEnabled: boolean;
  readonly orgs: ReadonlyArray<{
    readonly id: string;
    readonly name: string;
    readonly slug: string;
    readonly role: Role;
  }>;
}

/** One page of a list, oldest first. */
export interface Page {
  readonly query: string | undefined;
  readonly limit: number;
  /** Id of the last one of the page before. */
  readonly after: string | undefined;
}

export interface OperatorUsersDeps {
  readonly store: Store;
  readonly accounts: Accounts;
  readonly passwordReset: PasswordReset;
  readonly mfa: Mfa;
  readonly sessionEnds: SessionEnds;
  /** Of the organization that an account is made with (`plans.default`). */
  readonly newOrg: { readonly plan: Plan };
}

export class OperatorUsers {
  readonly #deps: OperatorUsersDeps;

  constructor(deps: OperatorUsersDeps) {
    this.#deps = deps;
  }

  /** `query` is looked for in addresses and names. */
  list(actor: Actor, page: Page): readonly UserView[] {
    allowOperator(actor);
    const { db } = this.#deps.store;
    const rows = db
      .select()
      .from(users)
      .where(
        and(
          page.after === undefined ? undefined : gt(users.id, page.after),
          page.query === undefined
            ? undefined
            : or(holdsText(users.email, page.query), holdsText(users.name, page.query)),
        ),
      )
      .orderBy(asc(users.id))
      .limit(page.limit)
      .all();
    return viewsOf(db, rows);
  }

  /**
   * A verified account with an organization of its own and a random password. The first account of a server has to be a superadmin's: a
   * start makes one only while there is no account at all, so a server that began with another would never have one. Throws `invalid_request`,
   * `conflict`, `unavailable`.
   */
  async create(actor: Actor, input: { email: string; name: string; superadmin: boolean }): Promise<CreatedUser> {
    allowOperator(actor);
    if (!input.superadmin && !this.#deps.accounts.hasAny()) {
      throw new AppError(
        'conflict',
        'This server has no account yet, and the first one owns it. Start the server once to create that account, or create a superadmin now (--superadmin).',
      );
    }
    const plan = input.superadmin ? 'enterprise' : this.#deps.newOrg.plan;
    return this.#deps.accounts.createUser({ ...input, plan, by: actor });
  }

  /** Throws `conflict` rather than to leave the server without a superadmin. */
  update(actor: Actor, handle: string, change: { superadmin?: boolean; name?: string }): UserView {
    const operator = asOperator(actor);
    return this.#deps.store.inTx((tx) => {
      const user = find(tx.db, handle);
      const next = { isSuperadmin: change.superadmin ?? user.isSuperadmin, name: change.name ?? user.name };
      if (next.isSuperadmin === user.isSuperadmin && next.name === user.name) return viewOf(tx.db, user);
      if (!next.isSuperadmin) keepSuperadmin(tx.db, user);
      updateUser(tx, user.id, next);
      if (next.isSuperadmin !== user.isSuperadmin) {
        const action = next.isSuperadmin ? 'user.superadmin_grant' : 'user.superadmin_revoke';
        const changes = changesBetween({ superadmin: user.isSuperadmin }, { superadmin: next.isSuperadmin });
        recordUserAudit(tx, operator, { action, userId: user.id, changes });
      }
      if (next.name !== user.name) {
        const changes = changesBetween({ name: user.name }, { name: next.name });
        recordUserAudit(tx, operator, { action: 'user.update', userId: user.id, changes });
      }
      return viewOf(tx.db, { ...user, ...next });
    });
  }

  /** Forgets the second factor and the recovery codes, and tells the person. False when there was no factor. */
  resetMfa(actor: Actor, handle: string): boolean {
    allowOperator(actor);
    return this.#deps.mfa.reset(actor, find(this.#deps.store.db, handle).id);
  }

  /** Logs the person out everywhere, command lines too. Keys for machines go on working. */
  revokeSessions(actor: Actor, handle: string): Ended {
    const operator = asOperator(actor);
    return this.#deps.store.inTx((tx) => {
      const user = find(tx.db, handle);
      const ended = this.#deps.sessionEnds.everywhere(tx, operator, user.id);
      if (ended.sessions + ended.keys > 0) {
        recordUserAudit(tx, operator, { action: 'user.sessions_revoke', userId: user.id, details: { ...ended } });
      }
      return ended;
    });
  }

  /**
   * Shuts every way into the account until it is unlocked, and ends what is open: sessions, and all keys that the person made. Throws
   * `conflict` rather than to leave the server without a superadmin.
   */
  lock(actor: Actor, handle: string): Ended {
    const operator = asOperator(actor);
    return this.#deps.store.inTx((tx) => {
      const user = find(tx.db, handle);
      if (user.lockedAt !== null) return { sessions: 0, keys: 0 };
      keepSuperadmin(tx.db, user);
      updateUser(tx, user.id, { lockedAt: tx.now });
      const ended = this.#deps.sessionEnds.everything(tx, operator, user.id);
      const changes = changesBetween({ locked: false }, { locked: true });
      recordUserAudit(tx, operator, { action: 'user.lock', userId: user.id, details: { ...ended }, changes });
      return ended;
    });
  }

  /** What the lock ended stays ended. False when the account was not locked. */
  unlock(actor: Actor, handle: string): boolean {
    const operator = asOperator(actor);
    return this.#deps.store.inTx((tx) => {
      const user = find(tx.db, handle);
      if (user.lockedAt === null) return false;
      updateUser(tx, user.id, { lockedAt: null });
      const changes = changesBetween({ locked: true }, { locked: false });
      recordUserAudit(tx, operator, { action: 'user.unlock', userId: user.id, changes });
      return true;
    });
  }

  /** Gives the account a random password, logs it out everywhere, and tells the person. Throws `not_found`, `unavailable`. */
  async resetPassword(actor: Actor, handle: string): Promise<CreatedUser> {
    allowOperator(actor);
    return this.#deps.passwordReset.replace(actor, find(this.#deps.store.db, handle).id);
  }

  /** A link with which the person sets a password; nothing ends before it is used. Throws `not_found`. */
  passwordLink(actor: Actor, handle: string): PasswordLink {
    allowOperator(actor);
    return this.#deps.passwordReset.link(actor, find(this.#deps.store.db, handle).id);
  }
}

/** By id, or by e-mail address, which no id looks like. */
function find(db: Db, handle: string): UserRow {
  const row = handle.includes('@')
    ? findUserByEmail(db, handle)
    : db.select().from(users).where(eq(users.id, handle)).get();
  if (row === undefined) throw new AppError('not_found', `No account has the email or id ${handle}. Check it.`);
  return row;
}

/** A locked one is of no use: it can't unlock itself. */
function keepSuperadmin(db: Db, user: UserRow): void {
  if (!user.isSuperadmin || user.lockedAt !== null) return;
  const useful = and(eq(users.isSuperadmin, true), isNull(users.lockedAt));
  if ((db.select({ n: count() }).from(users).where(useful).get()?.n ?? 0) > 1) return;
  throw new AppError('conflict', `${user.email} is the last superadmin. Grant the role to another user first.`);
}

function viewOf(db: Db, user: UserRow): UserView {
  const [view] = viewsOf(db, [user]);
  if (view === undefined) throw new Error('a view per row');
  return view;
}

/** Two queries for the whole page. */
function viewsOf(db: Db, rows: readonly UserRow[]): readonly UserView[] {
  const ids = rows.map(({ id }) => id);
  const factors = db.select({ id: mfaFactors.userId }).from(mfaFactors).where(inArray(mfaFactors.userId, ids)).all();
  const withFactor = new Set(factors.map(({ id }) => id));
  const seats = db
    .select({
      userId: memberships.userId,
      role: memberships.role,
      id: organizations.id,
      name: organizations.name,
      slug: organizations.slug,
    })
    .from(memberships)
    .innerJoin(organizations, eq(organizations.id, memberships.orgId))
    .where(and(inArray(memberships.userId, ids), isNull(organizations.deletedAt)))
    .orderBy(asc(memberships.createdAt), asc(memberships.orgId))
    .all();
  const byUser = Map.groupBy(seats, ({ userId }) => userId);
  return rows.map((user) => ({
    user,
    mfaEnabled: withFactor.has(user.id),
    orgs: (byUser.get(user.id) ?? []).map(({ userId: _userId, ...org }) => org),
  }));
}
