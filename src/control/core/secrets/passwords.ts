/**
 * Argon2id for passwords: which cost, and the same time whether or not there is an account. Used by whatever checks or stores a password.
 * A password is brought into the form NFKC first (NIST SP 800-63B §5.1.1.2): keyboards and systems write `ö`, or a full-width digit, in
 * different ways, and the same password must work on each.
 */
import { Argon2Threads, type PasswordHasher } from '../../../argon2/argon2-threads.ts';

export type { PasswordHasher } from '../../../argon2/argon2-threads.ts';

/** OWASP's first choice for argon2id: 19 MiB, two passes, one lane; about 15 ms of one core. */
export const COST = { memoryKib: 19_456, passes: 2 } as const;
/** A hash at that cost of a password that was thrown away: what an unknown address is compared with. */
export const DECOY =
  '$argon2id$v=19$m=19456,t=2,p=1$8bTVIz9u/pca9tXVnrqpAw$8/hlgI6FLPoHx9bwEYBnEOeO1qNpE9VeY/Onk27cHjM';

export class Passwords {
  readonly #hasher: PasswordHasher;

  /** On threads of its own. `makeHasher`: something else in their place, which is closed with this. */
  constructor(makeHasher: () => PasswordHasher = () => new Argon2Threads()) {
    this.#hasher = makeHasher();
  }

  /** The PHC string to store. Throws `unavailable` when too many wait. */
  async hash(password: string): Promise<string> {
    return String(await this.#hasher.run({ kind: 'hash', password: password.normalize('NFKC'), ...COST }));
  }

  /**
   * Does the password fit? Takes as long when there is no hash to compare with, so that an unknown e-mail can't be recognized by time.
   * Throws `unavailable` when too many wait.
   */
  async verify(stored: string | null, password: string): Promise<boolean> {
    const fits = await this.#hasher.run({
      kind: 'verify',
      password: password.normalize('NFKC'),
      stored: stored ?? DECOY,
    });
    return stored !== null && fits === true;
  }

  /** Passwords that wait for a thread. */
  get waiting(): number {
    return this.#hasher.waiting;
  }

  /** Ends the threads. May be called twice. */
  close(): void {
    this.#hasher.close();
  }
}
