/**
 * Checks of passwords that wait for their argon2id, in a line per tunnel. Organizations take turns, and the tunnels of each; where all is full who
 * has most gives way to who has less: a storm on some tunnels, also on many of one's own, is no matter of the others. Used by checks.ts.
 */
import type { Argon2Job } from '../../../argon2/argon2-worker.ts';
import { FairQueue } from '../../../base/limits/fair-queue.ts';
import { GUESSES } from './guesses.ts';

/** Checks in line or under way, in all, of one tunnel and of one address over all tunnels. About 15 ms of a core each. */
export const MAX_CHECKS = 48;
export const MAX_PER_TUNNEL = 16;
const MAX_PER_ADDRESS = GUESSES;
/** Given to the threads at once: what is there has no turn to wait for any more. */
const MAX_UNDER_WAY = 4;

export type Run = (job: Argon2Job) => Promise<string | boolean>;

interface Check {
  readonly job: Argon2Job;
  readonly orgId: string;
  readonly tunnelId: string;
  readonly address: string;
  readonly settle: (result: Promise<string | boolean> | null) => void;
}

/** Password checks that wait, fair to organizations and tunnels. */
export class BasicQueue {
  readonly #run: Run;
  /** By organization and tunnel. */
  readonly #waiting = new FairQueue<Check>();
  readonly #perTunnel = new Map<string, number>();
  readonly #perAddress = new Map<string, number>();
  #underWay = 0;
  #count = 0;

  constructor(run: Run) {
    this.#run = run;
  }

  /** What argon2id says when it is this check's turn, null when it had to give way; or null at once where there is no place. */
  take(of: Omit<Check, 'settle'>): Promise<string | boolean | null> | null {
    const { orgId, tunnelId, address } = of;
    const hasShare = (this.#perTunnel.get(tunnelId) ?? 0) >= MAX_PER_TUNNEL;
    if (hasShare || (this.#perAddress.get(address) ?? 0) >= MAX_PER_ADDRESS) return null;
    const party = [orgId, tunnelId];
    if (this.#count >= MAX_CHECKS && !this.#makeRoom(party)) return null;
    const { promise, resolve } = Promise.withResolvers<string | boolean | null>();
    this.#waiting.push(party, { ...of, settle: resolve });
    this.#changed(of, 1);
    this.#next();
    return promise;
  }

  /** The newest check of the fullest party gives way. False: none has more than this one. */
  #makeRoom(party: readonly string[]): boolean {
    const last = this.#waiting.displace(party);
    if (last === undefined) return false;
    this.#changed(last, -1);
    last.settle(null);
    return true;
  }

  #next(): void {
    while (this.#underWay < MAX_UNDER_WAY) {
      const check = this.#waiting.shift();
      if (check === undefined) return;
      this.#underWay++;
      const result = this.#run(check.job);
      check.settle(result);
      const over = (): void => {
        this.#underWay--;
        this.#changed(check, -1);
        this.#next();
      };
      result.then(over, over);
    }
  }

  #changed({ tunnelId, address }: Pick<Check, 'tunnelId' | 'address'>, by: 1 | -1): void {
    this.#count += by;
    add(this.#perTunnel, tunnelId, by);
    add(this.#perAddress, address, by);
  }
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
