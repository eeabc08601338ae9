/**
 * The second step of a log-in: a challenge (auth/sessions/challenges.ts) and a code or recovery code become a session. What is used up (challenge, code,
 * recovery code) is so in the transaction that opens the session, and over a power cut.
 */
import { eq } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import { users } from '../../db/schema.ts';
import type { Store, Tx } from '../../db/tx.ts';
import { recordAudit } from '../../core/rules/audit.ts';
import type { Challenge, Challenges } from '../sessions/challenges.ts';
import { linkIdentity } from '../oauth/identity-links.ts';
import { findFactor, lockedSeconds, useTotpCode } from './rows.ts';
import { homeOrgOf, type NewOrgRules } from '../../organizations/rows.ts';
import type { Outbox } from '../../core/mail/outbox.ts';
import type { RecoveryCodes } from './recovery-codes.ts';
import type { Sealer } from '../../core/secrets/sealing.ts';
import { type OpenedSession, openSession, recordFailedLogin } from '../sessions/rows.ts';
import { refuseLocked, type UserRow } from '../accounts/rows.ts';
import type { Visit } from '../../core/rules/caller.ts';
import type { LoginResult, Sessions } from '../sessions/service.ts';
import { spend } from '../../db/spent-once.ts';
import { isCode } from './totp.ts';

/** A warning is worth delivering for as long as mail servers are usually tried. */
const WARNING_SECONDS = 3 * 24 * 3600;

export type SecondProof = { readonly code: string } | { readonly recoveryCode: string };

export interface MfaLoginDeps {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly challenges: Challenges;
  readonly recoveryCodes: RecoveryCodes;
  readonly outbox: Outbox;
  readonly sessions: Pick<Sessions, 'present'>;
  readonly newOrg: NewOrgRules;
}

export class MfaLogin {
  readonly #deps: MfaLoginDeps;

  constructor(deps: MfaLoginDeps) {
    this.#deps = deps;
  }

  /** Throws `unauthorized` for a bad challenge and a bad code alike; `rate_limited` while the codes of the account rest; `forbidden` when it is locked. */
  async complete(input: { challengeToken: string; proof: SecondProof }, visit: Visit): Promise<LoginResult> {
    const { store, challenges, sessions } = this.#deps;
    const challenge = await challenges.read(input.challengeToken);
    if (challenge === undefined) throw refused();
    const outcome = store.inTx((tx) => this.#redeem(tx, challenge, { proof: input.proof, visit }));
    if ('opened' in outcome) return sessions.present(outcome.opened);
    const { failed } = outcome;
    if (failed !== undefined) {
      visit.afterAnswer(() => store.inTx((tx) => recordFailedLogin(tx, failed, visit), { relaxed: true }));
    }
    throw refused();
  }

  /** Answers with what failed instead of throwing it: a wrong code must be counted, hence committed. */
  #redeem(
    tx: Tx,
    challenge: Challenge,
    { proof, visit }: { proof: SecondProof; visit: Visit },
  ): { opened: OpenedSession } | { failed: UserRow | undefined } {
    const user = tx.db.select().from(users).where(eq(users.id, challenge.userId)).get();
    // A login by a password that has been changed since begins again.
    if (user === undefined || !this.#deps.challenges.isCurrent(challenge, user)) return { failed: undefined };
    refuseLocked(user);
    if (!this.#use(tx, user, proof)) return { failed: user };
    // Thrown, so that a challenge that has succeeded before uses up nothing.
    if (!spend(tx, `mfa/${challenge.id}`, challenge.expiresAt)) throw refused();
    const { recoveryCodes, outbox, newOrg } = this.#deps;
    const { link } = challenge;
    if (link !== undefined && !linkIdentity(tx, outbox, { user, link, visit })) throw refused();
    const org = homeOrgOf(tx, user, newOrg);
    const opened = openSession(tx, { user, org, visit });
    if ('recoveryCode' in proof) {
      recordAudit(tx, opened.actor, { action: 'auth.mfa_recovery', resourceType: 'user', resourceId: user.id });
      const left = recoveryCodes.left(tx.db, user.id);
      outbox.post(tx, { kind: 'recovery_code_used', to: user.email, left }, WARNING_SECONDS);
    }
    return { opened };
  }

  /** Recovery codes can't be guessed: they are neither counted nor locked, so that who is locked out by a stranger has a way in. */
  #use(tx: Tx, user: UserRow, proof: SecondProof): boolean {
    const { recoveryCodes, sealer, outbox } = this.#deps;
    const factor = findFactor(tx.db, user.id);
    if (factor === undefined) return false;
    if ('recoveryCode' in proof) return recoveryCodes.use(tx, user.id, proof.recoveryCode);
    const wait = lockedSeconds(factor, tx.now);
    if (wait > 0) {
      throw new AppError('rate_limited', `Too many wrong codes. Use a recovery code, or wait for ${wait} seconds.`, {
        retryAfterSeconds: wait,
      });
    }
    if (!isCode(proof.code)) return false;
    const outcome = useTotpCode(tx, sealer, { factor, code: proof.code });
    if (outcome === 'locked') outbox.post(tx, { kind: 'mfa_locked', to: user.email }, WARNING_SECONDS);
    return outcome === 'right';
  }
}

function refused(): AppError {
  return new AppError('unauthorized', 'The code or the login has expired. Try the next code, or log in again.');
}
