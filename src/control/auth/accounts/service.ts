/**
 * Accounts and the organization that each starts with. Called by server/start.ts (first owner), `culvert admin` and, through it,
 * no client from outside: sign-up has rules of its own.
 */
import { randomBytes } from 'node:crypto';
import { and, eq, isNull } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import { Secret } from '../../../base/secret.ts';
import { sessions, users } from '../../db/schema.ts';
import type { Db, Store, Tx } from '../../db/tx.ts';
import type { Actor } from '../../core/rules/actor.ts';
import { recordAudit } from '../../core/rules/audit.ts';
import { emailKey } from '../../core/rules/email-key.ts';
import { insertOrganization } from '../../organizations/rows.ts';
import type { Passwords } from '../../core/secrets/passwords.ts';
import type { Plan } from '../../core/rules/plans.ts';
import { operatorNow } from '../../core/rules/caller.ts';
import { insertUser } from './rows.ts';

const FIRST_OWNER_EMAIL = 'admin@localhost';
const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,255}$/;

/** The account with this address, in any case. Mail goes to the address in the row, never to the typed one. */
export function findUserByEmail(db: Db, email: string): typeof users.$inferSelect | undefined {
  return db
    .select()
    .from(users)
    .where(eq(users.emailKey, emailKey(email)))
    .get();
}

export interface NewUser {
  readonly email: string;
  readonly name: string;
  readonly plan: Plan;
  readonly superadmin: boolean;
  /** Its password is unseen until `ownerShown`. */
  readonly isFirstOwner?: boolean;
  /** Who makes it, of those who run this server; default the server itself. */
  readonly by?: Actor;
}

export interface CreatedUser {
  readonly id: string;
  readonly email: string;
  /** Random, 128 bits; shown to the operator once and stored as a hash alone. */
  readonly password: Secret;
}

/** 128 bits, to be shown to the user once. */
export function randomPassword(): Secret {
  return new Secret(randomBytes(16).toString('base64url'));
}

export class Accounts {
  readonly #store: Store;
  readonly #passwords: Passwords;
  readonly #owner: string;

  /** `owner`: address of the first account; null: admin@localhost. */
  constructor(deps: { store: Store; passwords: Passwords; owner: string | null }) {
    this.#store = deps.store;
    this.#passwords = deps.passwords;
    this.#owner = deps.owner ?? FIRST_OWNER_EMAIL;
  }

  /** Makes the owner of an empty database; undefined when there are users already. */
  async createFirstOwner(): Promise<CreatedUser | undefined> {
    if (this.hasAny()) return undefined;
    return this.createUser({
      email: this.#owner,
      name: this.#owner === FIRST_OWNER_EMAIL ? 'Admin' : '',
      plan: 'enterprise',
      superadmin: true,
      isFirstOwner: true,
    });
  }

  /**
   * A verified account with an approved organization of its own and a random password. Throws `invalid_request`, `conflict`, and `unauthorized`
   * or `forbidden` when its creator runs this server no more by then.
   */
  async createUser(input: NewUser): Promise<CreatedUser> {
    const email = input.email.trim();
    if (!EMAIL.test(email)) throw new AppError('invalid_request', `${email} is not an email address. Correct it.`);
    const password = randomPassword();
    const passwordHash = await this.#passwords.hash(password.reveal());
    const id = this.#store.inTx((tx) => makeAccount(tx, { ...input, email, passwordHash }));
    return { id, email, password };
  }

  /**
   * The first owner's address while their password may not have been shown: the first start was killed before. Undefined once it was, or they
   * have another, or have logged in.
   */
  unseenOwner(): string | undefined {
    return this.#store.db
      .select({ email: users.email })
      .from(users)
      .leftJoin(sessions, eq(sessions.userId, users.id))
      .where(and(eq(users.passwordUnseen, true), isNull(sessions.id)))
      .get()?.email;
  }

  /** The first owner's password is where the operator can read it. */
  ownerShown(): void {
    this.#store.inTx((tx) =>
      tx.db.update(users).set({ passwordUnseen: false }).where(eq(users.passwordUnseen, true)).run(),
    );
  }

  /** False until the first account of this server was made. */
  hasAny(): boolean {
    return this.#store.db.select({ id: users.id }).from(users).limit(1).get() !== undefined;
  }
}

function makeAccount(tx: Tx, input: NewUser & { passwordHash: string }): string {
  const by = input.by === undefined ? undefined : operatorNow(tx, input.by);
  const key = emailKey(input.email);
  if (tx.db.select({ id: users.id }).from(users).where(eq(users.emailKey, key)).get() !== undefined) {
    throw new AppError('conflict', `${input.email} already has an account. Use another address.`);
  }
  const { id } = insertUser(tx, {
    email: input.email,
    name: input.name,
    passwordHash: input.passwordHash,
    emailVerifiedAt: tx.now,
    isSuperadmin: input.superadmin,
    passwordUnseen: input.isFirstOwner === true,
  });
  const name = input.name === '' ? (key.split('@')[0] ?? key) : input.name;
  const org = insertOrganization(tx, { name, ownerId: id }, { plan: input.plan, approval: 'approved' });
  const entry = {
    action: 'user.create',
    resourceType: 'user',
    resourceId: id,
    orgId: org.id,
    details: { superadmin: input.superadmin },
  } as const;
  recordAudit(tx, by ?? { kind: 'system', orgId: org.id }, entry);
  return id;
}
