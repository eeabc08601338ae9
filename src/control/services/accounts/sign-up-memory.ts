/**
 * Which address signed up last with which password, as fingerprints. Written by sign-up.ts, asked by it and by sessions.ts.
 *
 * Two things hang on it. A code may confirm a password only when all sign-ups with the address typed the same one. And a user who
 * signs up and then tries to log in must be asked to confirm the address also where it has an account already, with another password.
 *
 * In memory and bounded: after a restart, and beyond the bound, the quietest is forgotten. Then an account that waits for its proof loses
 * its password at the next sign-up (the safe side), and the two requests above can tell, for sign-ups made before, that there was an
 * account; to push an address out takes 10,000 sign-ups, each of which costs a hash and a token of the rate limit.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { RecentMap } from '../../../base/recent-map.ts';
import { emailKey } from '../email-key.ts';

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

  /** The password in the form in which it is hashed (passwords.ts). */
  #fingerprint({ email, password }: TypedPair): Buffer {
    return createHmac('sha256', this.#key)
      .update(`${emailKey(email)}\0${password.normalize('NFKC')}`)
      .digest();
  }
}
