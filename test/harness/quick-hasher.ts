/**
 * Argon2id for tests whose subject it is not: at the least cost, in this thread, at once. The threads of the product cost 15 ms a password and more
 * than that to start, and rest while the machine is busy with other tests. What they cost and how they wait has tests of its own, in src/argon2.
 */
import { hashSync, verifySync } from '@node-rs/argon2';
import type { PasswordHasher } from '../../src/argon2/argon2-threads.ts';
import type { Argon2Job } from '../../src/argon2/argon2-worker.ts';
import { AppError } from '../../src/base/errors.ts';
import { DECOY } from '../../src/control/core/secrets/passwords.ts';

const LEAST = { memoryCost: 8, timeCost: 1, parallelism: 1 };

/** A hash that any hasher verifies, for tests that store one themselves. */
export function quickHash(password: string): string {
  return hashSync(password, LEAST);
}

export class QuickHasher implements PasswordHasher {
  readonly waiting = 0;
  #closed = false;

  async run(job: Argon2Job): Promise<string | boolean> {
    if (this.#closed) throw new AppError('unavailable', 'The server is stopping.');
    if (job.kind === 'hash') return quickHash(job.password);
    // A hash at full cost of an unknown text.
    return job.stored !== DECOY && verifySync(job.stored, job.password);
  }

  close(): void {
    this.#closed = true;
  }
}

/** To be given wherever a `makeHasher` is taken. */
export const makeQuickHasher = (): PasswordHasher => new QuickHasher();

/** Answers nothing until it is let go: for what happens while a password is being checked. */
export class HeldHasher extends QuickHasher {
  readonly #held = Promise.withResolvers<void>();

  override async run(job: Argon2Job): Promise<string | boolean> {
    await this.#held.promise;
    return super.run(job);
  }

  letGo(): void {
    this.#held.resolve();
  }

  override close(): void {
    super.close();
    this.letGo();
  }
}
