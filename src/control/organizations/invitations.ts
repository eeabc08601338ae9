/**
 * Invitations to an organization, by mail. Of the token a hash is kept; it works once, for a week, and only for the account with the
 * invited address: it proves nothing about who holds it, so that a member who resends an invitation may see the link too.
 * Neither who invites nor who holds a token learns whether an address has an account.
 */
import { randomBytes } from 'node:crypto';
import { and, eq } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { AppError } from '../../base/errors.ts';
import { invitations, memberships, users } from '../db/schema.ts';
import type { Store, Tx } from '../db/tx.ts';
import { emailKey } from '../core/rules/email-key.ts';
import { type Actor, allow, hasRole, ROLES, type Role, type UserActor } from '../core/rules/actor.ts';
import { recordAudit } from '../core/rules/audit.ts';
import { checkDailyLimit } from '../core/rules/daily-limit.ts';
import {
  endInvitation,
  findOpen,
  type InvitationRow,
  type InvitationShown,
  type InvitationView,
  openInvitations,
  stands,
} from './invitation-rows.ts';
import type { Instance } from '../core/instance.ts';
import type { EmailLimit } from '../core/mail/email-limit.ts';
import { actorIn, countMembers, findMember, MAX_MEMBERS } from './membership-rows.ts';
import { type OrgRow, orgsOf } from './rows.ts';
import type { Outbox } from '../core/mail/outbox.ts';
import { hashOf } from '../core/secrets/secret-hash.ts';

const INVITATION_SECONDS = 7 * 24 * 3600;
/** Open ones of an organization: a bound for lists, far above need. */
const MAX_OPEN = 100;
/** Emails of one user in a day: a user who can sign up must not be able to send mail to the world through this server. */
const MAX_PER_DAY = 200;
/** Organizations that one person is in: a bound for their list. */
const MAX_MEMBERSHIPS = 200;
/** Message when the emails to an address are used up: about when the next one is free. */
const RETRY_SECONDS = 20 * 60;

/** A new invitation. */
export interface Invited extends InvitationView {
  /** Undefined where it went by email. */
  readonly token: string | undefined;
}

/** An invitation that was sent again. */
export interface Resent extends InvitationView {
  readonly token: string;
}

export interface InvitationDeps {
  readonly store: Store;
  readonly outbox: Outbox;
  readonly emailLimit: EmailLimit;
  readonly instance: Pick<Instance, 'now'>;
}

export class Invitations {
  readonly #deps: InvitationDeps;

  constructor(deps: InvitationDeps) {
    this.#deps = deps;
  }

  /** Those that can be accepted now, newest first. Throws `not_found`. */
  list(actor: Actor, orgId: string): readonly InvitationView[] {
    const { store } = this.#deps;
    const me = actorIn(store.db, actor, orgId);
    allow(me, 'read', 'invitation');
    return openInvitations({ db: store.db, now: store.clock.now() }, me.orgId);
  }

  /**
   * Invites an address, in the place of an earlier invitation to it. Throws `not_found`, `forbidden` (a role above the caller's too),
   * `conflict` for a member and when too many are open, `rate_limited` when too many emails were sent.
   */
  create(actor: Actor, orgId: string, input: { readonly email: string; readonly role: Role }): Invited {
    return this.#deps.store.inTx((tx) => {
      const me = actorIn(tx.db, actor, orgId);
      allow(me, 'create', 'invitation');
      if (!hasRole(me, input.role))
        throw new AppError(
          'forbidden',
          'The role of the invitation is above your own. Choose your role or a lower one.',
        );
      this.#replace(tx, me, input.email);
      if (openInvitations(tx, me.orgId).length >= MAX_OPEN) {
        throw new AppError('conflict', `${MAX_OPEN} invitations are pending, which is the limit. Revoke some first.`);
      }
      this.#checkEmails(tx, me, input.email);
      const token = newToken();
      const row: InvitationRow = {
        id: uuidv7(),
        orgId: me.orgId,
        email: input.email,
        emailKey: emailKey(input.email),
        role: input.role,
        tokenHash: hashOf(token),
        invitedBy: me.userId,
        createdAt: tx.now,
        expiresAt: tx.now + INVITATION_SECONDS * 1000,
        acceptedAt: null,
        revokedAt: null,
      };
      tx.db.insert(invitations).values(row).run();
      const details = { email: row.email, role: row.role };
      recordAudit(tx, me, { action: 'invitation.create', resourceType: 'invitation', resourceId: row.id, details });
      this.#post(tx, me, { row, token });
      const isByMail = this.#deps.instance.now.mail.transport !== 'log';
      return { row, inviterEmail: me.email, token: isByMail ? undefined : token };
    });
  }

  /**
   * Sends an invitation that stands once more, with another token: the links before it end. It lives for a week from now, in the name of
   * the last sender, and so ends with their right to invite. Throws `not_found`, `forbidden` and `rate_limited` as `create` does.
   */
  resend(actor: Actor, orgId: string, invitationId: string): Resent {
    return this.#deps.store.inTx((tx) => {
      const me = actorIn(tx.db, actor, orgId);
      allow(me, 'create', 'invitation');
      const found = findIn(tx, me, invitationId);
      checkReach(me, found);
      this.#checkEmails(tx, me, found.email);
      const token = newToken();
      const renewed = {
        tokenHash: hashOf(token),
        invitedBy: me.userId,
        expiresAt: tx.now + INVITATION_SECONDS * 1000,
      };
      tx.db.update(invitations).set(renewed).where(eq(invitations.id, found.id)).run();
      const row = { ...found, ...renewed };
      const details = { email: row.email, role: row.role };
      recordAudit(tx, me, { action: 'invitation.resend', resourceType: 'invitation', resourceId: row.id, details });
      this.#post(tx, me, { row, token });
      return { row, inviterEmail: me.email, token };
    });
  }

  /** Throws `not_found`, and `forbidden`: an invitation to be an owner is revoked by owners. */
  revoke(actor: Actor, orgId: string, invitationId: string): void {
    this.#deps.store.inTx((tx) => {
      const me = actorIn(tx.db, actor, orgId);
      allow(me, 'delete', 'invitation');
      const found = findIn(tx, me, invitationId);
      checkReach(me, found);
      endInvitation(tx, me, found);
    });
  }

  /**
   * What the invitation with this token says, for an invited user without an account. Throws `not_found` as `accept` does: whatever is
   * the matter with a token, it is the same answer.
   */
  show(token: string): InvitationShown {
    const { store } = this.#deps;
    const found = findOpen({ db: store.db, now: store.clock.now() }, hashOf(token));
    if (found === undefined) throw gone();
    return found;
  }

  /**
   * Makes the caller a member. Their session stays in its own organization until they switch. Throws `not_found` alike for a token that
   * never was, was used or revoked, or has run out; `forbidden` when it was sent to another address; `conflict` when the caller is in
   * that organization already, or too many are.
   */
  accept(actor: Actor, token: string): OrgRow {
    allow(actor, 'change', 'account');
    return this.#deps.store.inTx((tx) => {
      const row = tx.db
        .select()
        .from(invitations)
        .where(eq(invitations.tokenHash, hashOf(token)))
        .get();
      if (row === undefined) throw gone();
      const isFor = isTheirs(tx, actor, row);
      if (isFor && findMember(tx.db, row.orgId, actor.userId) !== undefined) {
        throw new AppError('conflict', 'You are already a member of this organization. Switch to it.');
      }
      if (row.acceptedAt !== null || row.revokedAt !== null || row.expiresAt <= tx.now) throw gone();
      if (!isFor) {
        throw new AppError(
          'forbidden',
          'The invitation is for another email address. Log in with the account of that address.',
        );
      }
      return this.#join(tx, actor, row);
    });
  }

  #join(tx: Tx, actor: UserActor, row: InvitationRow): OrgRow {
    if (countMembers(tx.db, row.orgId) >= MAX_MEMBERS) {
      throw new AppError(
        'conflict',
        `The organization has ${MAX_MEMBERS} members, which is the limit. An admin must remove one first.`,
      );
    }
    if (orgsOf(tx.db, actor.userId).length >= MAX_MEMBERSHIPS) {
      throw new AppError(
        'conflict',
        `You are in ${MAX_MEMBERSHIPS} organizations, which is the limit. Leave one first.`,
      );
    }
    tx.db.update(invitations).set({ acceptedAt: tx.now }).where(eq(invitations.id, row.id)).run();
    tx.db
      .insert(memberships)
      .values({ orgId: row.orgId, userId: actor.userId, role: row.role, createdAt: tx.now })
      .run();
    const joined = orgsOf(tx.db, actor.userId).find(({ id }) => id === row.orgId);
    // Its invitations end with an organization, so this is one that went by another way.
    if (joined === undefined) throw gone();
    const entry = { action: 'invitation.accept', resourceType: 'invitation', resourceId: row.id } as const;
    recordAudit(tx, { ...actor, orgId: row.orgId }, entry);
    return joined;
  }

  #post(tx: Tx, me: UserActor, { row, token }: { readonly row: InvitationRow; readonly token: string }): void {
    // What others have sent there is not this inviter's doing, nor their business: the invitation stands, and its email is not sent.
    if (!this.#deps.emailLimit.take('invited', row.emailKey)) return;
    const org = orgsOf(tx.db, me.userId).find(({ id }) => id === me.orgId);
    if (org === undefined) throw new Error('a member without an organization');
    const mail = { organization: org.name, inviter: me.email, role: row.role, token };
    this.#deps.outbox.post(tx, { kind: 'invitation', to: row.email, ...mail }, INVITATION_SECONDS);
  }

  /** Makes room for an invitation to this address: an earlier one ends. */
  #replace(tx: Tx, me: UserActor, email: string): void {
    const key = emailKey(email);
    const member = tx.db
      .select({ id: users.id })
      .from(users)
      .innerJoin(memberships, eq(memberships.userId, users.id))
      .where(and(eq(users.emailKey, key), eq(memberships.orgId, me.orgId)))
      .get();
    if (member !== undefined)
      throw new AppError('conflict', `${email} is already a member of this organization. Change the role instead.`);
    // Also one that has run out: the table holds one per address that was neither accepted nor revoked.
    const earlier = tx.db
      .select()
      .from(invitations)
      .where(and(eq(invitations.orgId, me.orgId), eq(invitations.emailKey, key), stands()))
      .get();
    if (earlier === undefined) return;
    checkReach(me, earlier);
    endInvitation(tx, me, earlier);
  }

  /** May this person, or organization, have one more email sent there? Takes it. */
  #checkEmails(tx: Tx, me: UserActor, email: string): void {
    const message = `You reached the limit of ${MAX_PER_DAY} invitations a day. Try again later.`;
    const bound = { action: 'invitation.create', like: 'invitation.resend', perDay: MAX_PER_DAY, message } as const;
    checkDailyLimit(tx, me, bound);
    // The person's own first: several organizations allow no more, and lose none of their own.
    const isFree = [me.userId, me.orgId].every((from) =>
      this.#deps.emailLimit.take('invitation', emailKey(email), from),
    );
    if (!isFree) {
      throw new AppError('rate_limited', `${email} was invited several times already. Try again later.`, {
        retryAfterSeconds: RETRY_SECONDS,
      });
    }
  }
}

function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** An open one of the actor's organization. Throws `not_found`. */
function findIn(tx: Tx, me: UserActor, invitationId: string): InvitationRow {
  const found = openInvitations(tx, me.orgId, eq(invitations.id, invitationId))[0];
  if (found === undefined)
    throw new AppError('not_found', 'The organization has no invitation with this id. Check the id.');
  return found.row;
}

/** Only owners touch what makes an owner. */
function checkReach(me: UserActor, row: InvitationRow): void {
  if (hasRole(me, row.role)) return;
  throw new AppError(
    'forbidden',
    `The role of the invitation is above your own. Only an ${ROLES.at(-1)} may assign it.`,
  );
}

/** Was it sent to the address of this account, which is proven? */
function isTheirs(tx: Tx, actor: UserActor, row: InvitationRow): boolean {
  const user = tx.db.select().from(users).where(eq(users.id, actor.userId)).get();
  return user !== undefined && user.emailVerifiedAt !== null && user.emailKey === row.emailKey;
}

function gone(): AppError {
  return new AppError('not_found', 'The invitation was used, revoked or has expired. Ask for a new one.');
}
