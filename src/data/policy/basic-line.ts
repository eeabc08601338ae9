/**
 * Checks of passwords that wait for their argon2id, in a line per tunnel. Lines take turns, and where all is full the longest gives way to
 * one that is shorter: a storm on some tunnels, whoever owns them, is no matter of the others. Used by basic-checks.ts.
 */
import type { Argon2Job } from '../../argon2/argon2-worker.ts';
import { GUESSES } from './basic-guesses.ts';

/** Checks in line or under way, in all, of one tunnel and of one address over all tunnels. About 15 ms of a core each. */
export const MAX_CHECKS = 48;
export const MAX_PER_TUNNEL = 16;
const MAX_PER_ADDRESS = GUESSES;
/** Given to the threads at once: what is there has no turn to wait for any more. */
const MAX_UNDER_WAY = 4;

export type Run = (job: Argon2Job) => Promise<string | boolean>;

interface Check {
  readonly job: Argon2Job;
  readonly tunnelId: string;
  readonly address: string;
  readonly settle: (result: Promise<string | boolean> | null) => void;
}

export class BasicLine {
  readonly #run: Run;
  /** Those that wait, by tunnel; the first line is next. */
  readonly #lines = new Map<string, Check[]>();
  readonly #perTunnel = new Map<string, number>();
  readonly #perAddress = new Map<string, number>();
  #underWay = 0;
  #count = 0;

  constructor(run: Run) {
    this.#run = run;
  }

  /** What argon2id says when it is this check's turn, null when it had to give way; or null at once where there is no place. */
  take(of: Omit<Check, 'settle'>): Promise<string | boolean | null> | null {
    const { tunnelId, address } = of;
    const hasShare = (this.#perTunnel.get(tunnelId) ?? 0) >= MAX_PER_TUNNEL;
    if (hasShare || (this.#perAddress.get(address) ?? 0) >= MAX_PER_ADDRESS) return null;
    if (this.#count >= MAX_CHECKS && !this.#makeRoom(tunnelId)) return null;
    const { promise, resolve } = Promise.withResolvers<string | boolean | null>();
    const line = this.#lines.get(tunnelId) ?? [];
    line.push({ ...of, settle: resolve });
    this.#lines.set(tunnelId, line);
    this.#changed(of, 1);
    this.#next();
    return promise;
  }

  /** The last one of the longest line leaves, if that is longer than the one of this tunnel will be. */
  #makeRoom(tunnelId: string): boolean {
    let longest: Check[] = [];
    for (const line of this.#lines.values()) if (line.length > longest.length) longest = line;
    if (longest.length <= (this.#lines.get(tunnelId)?.length ?? 0) + 1) return false;
    const last = longest.pop() as Check;
    this.#changed(last, -1);
    last.settle(null);
    return true;
  }

  #next(): void {
    for (const [tunnelId, line] of this.#lines) {
      if (this.#underWay >= MAX_UNDER_WAY) return;
      // To the end of the turns: this loop comes to it again.
      this.#lines.delete(tunnelId);
      const check = line.shift() as Check;
      if (line.length > 0) this.#lines.set(tunnelId, line);
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
