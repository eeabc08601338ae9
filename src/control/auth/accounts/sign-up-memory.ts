/**
 * Which address signed up last with which password, as fingerprints. Written by sign-up.ts; read by it and by auth/sessions/service.ts, which
 * requires a confirmation of a user who has just signed up. In memory and bounded: the quietest is forgotten, which is the safe
 * side. Reasons: docs/decisions/0024-sign-up.md.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { RecentMap } from '../../../base/limits/recent-map.ts';
import { emailKey } from '../../core/rules/email-key.ts';

/** A few megabytes. */
const MAX_ADDRESSES = 10_000;
const MAC_BYTES = 32;

export interface TypedPair {
  readonly email: string;
  readonly password: string;
}

interface SignedUp {
  readonly fingerprint: Buffer;
  /** What was stored for it; null where nothing was. */
  readonly passwordHash: string | null;
}

export class SignUpMemory {
  /** Of this process alone: a fingerprint is of no use outside it. */
  readonly #key = randomBytes(32);
  readonly #last = new RecentMap<string, SignedUp>({ max: MAX_ADDRESSES });

  /** `passwordHash`: what the account now has because of this sign-up; null when the account took nothing from it. */
  remember(pair: TypedPair, passwordHash: string | null): void {
    this.#last.set(emailKey(pair.email), { fingerprint: this.#fingerprint(pair), passwordHash });
  }

  /** Is this what was typed at the last sign-up with the address? In constant time, also where none is remembered. */
  isLast(pair: TypedPair): boolean {
    return this.#fits(pair, this.#last.get(emailKey(pair.email)));
  }

  /** As `isLast`, and the account still has the password that it got then. */
  isConfirmed(pair: TypedPair, passwordHash: string | null): boolean {
    const last = this.#last.get(emailKey(pair.email));
    return this.#fits(pair, last) && passwordHash !== null && last?.passwordHash === passwordHash;
  }

  /** Once the owner of an address has proven it: what was typed before counts no more, not even for the response to a login. */
  forget(email: string): void {
    this.#last.delete(emailKey(email));
  }

  #fits(pair: TypedPair, last: SignedUp | undefined): boolean {
    const isSame = timingSafeEqual(this.#fingerprint(pair), last?.fingerprint ?? Buffer.alloc(MAC_BYTES));
    return isSame && last !== undefined;
  }

  /** The password in the form in which it is hashed (core/secrets/passwords.ts). */
  #fingerprint({ email, password }: TypedPair): Buffer {
    return createHmac('sha256', this.#key)
      .update(`${emailKey(email)}\0${password.normalize('NFKC')}`)
      .digest();
  }
}
