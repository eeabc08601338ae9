/**
 * Argon2id for passwords, at a bounded pace. The only file that imports @node-rs/argon2. Used by accounts.ts and sessions.ts.
 */
import { hash, verify } from '@node-rs/argon2';
import { AppError } from '../../base/errors.ts';

/** OWASP's first choice for argon2id: 19 MiB, two passes, one lane; about 20 ms of one core. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** Each run takes 19 MiB and a thread of Node's pool of four, which also serves DNS and files. */
const MAX_RUNNING = 2;
/** About half a second of waiting; beyond it a log-in is refused rather than queued. */
const MAX_WAITING = 50;

export class Passwords {
  #running = 0;
  readonly #waiting: Array<() => void> = [];
  #decoy: Promise<string> | undefined;

  /** The PHC string to store. Throws `unavailable` when the queue is full. */
  hash(password: string): Promise<string> {
    return this.#run(() => hash(password, COST));
  }

  /** Does the password fit? Takes as long when there is no hash to compare with, so that an unknown e-mail can't be told by time. */
  async verify(stored: string | null, password: string): Promise<boolean> {
    if (stored !== null) return this.#run(() => verify(stored, password));
    this.#decoy ??= this.#run(() => hash('no account has this password', COST));
    const decoy = await this.#decoy;
    await this.#run(() => verify(decoy, password));
    return false;
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= MAX_RUNNING) {
      if (this.#waiting.length >= MAX_WAITING) {
        throw new AppError('unavailable', 'Too many log-ins at once. Try again in a few seconds.', {
          retryAfterSeconds: 5,
        });
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running++;
    try {
      return await work();
    } finally {
      // The place goes to the next in line, or is given back.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}
