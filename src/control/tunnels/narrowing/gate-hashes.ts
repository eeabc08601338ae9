/**
 * Hashes the passwords that agents' flags ask for. Log-ins share the threads, and a key may claim again and again, each time with another password:
 * so few are hashed at a time, and those of organizations take turns. Used by service.ts.
 */
import { AppError } from '../../../base/errors.ts';
import { FairQueue } from '../../../base/limits/fair-queue.ts';
import type { Passwords } from '../../core/secrets/passwords.ts';

/** Given to the threads at once: what is there has no turn to wait for any more. */
const MAX_UNDER_WAY = 2;
/** About 15 s of a core, after which no agent waits for an answer any more. */
const MAX_WAITING = 1_000;

interface Waiting {
  readonly password: string;
  readonly settle: (hash: Promise<string>) => void;
}

export class GateHashes {
  readonly #passwords: Pick<Passwords, 'hash'>;
  /** By organization and key. */
  readonly #waiting = new FairQueue<Waiting>();
  #underWay = 0;

  constructor(passwords: Pick<Passwords, 'hash'>) {
    this.#passwords = passwords;
  }

  /** The hash, when its turn comes. `party`: whose it is. Throws `unavailable` when too many wait. */
  hash(password: string, party: readonly string[]): Promise<string> {
    if (this.#waiting.size >= MAX_WAITING) {
      const last = this.#waiting.displace(party);
      if (last === undefined) return Promise.reject(busy());
      last.settle(Promise.reject(busy()));
    }
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#waiting.push(party, { password, settle: resolve });
    this.#next();
    return promise;
  }

  #next(): void {
    while (this.#underWay < MAX_UNDER_WAY) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#underWay++;
      next.settle(
        this.#passwords.hash(next.password).finally(() => {
          this.#underWay--;
          this.#next();
        }),
      );
    }
  }
}

function busy(): AppError {
  return new AppError('unavailable', 'Too many passwords of agents are being hashed. The agent will retry.');
}
