/**
 * Checks of passwords that wait for their argon2id, in a line per tunnel. Organizations take turns, and the tunnels of each; where all is full who
 * has most gives way to who has less: a storm on some tunnels, also on many of one's own, is no matter of the others. Used by checks.ts.
 */
import type { Argon2Job } from '../../../argon2/argon2-worker.ts';
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

/** What waits for one organization. */
interface Share {
  /** By tunnel; the first line is next, and none is empty. */
  readonly lines: Map<string, Check[]>;
  waiting: number;
}

/** Password checks that wait, fair to organizations and tunnels. */
export class BasicQueue {
  readonly #run: Run;
  /** By organization; the first one is next, and each has something that waits. */
  readonly #shares = new Map<string, Share>();
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
    if (this.#count >= MAX_CHECKS && !this.#makeRoom(orgId, tunnelId)) return null;
    const { promise, resolve } = Promise.withResolvers<string | boolean | null>();
    const share = this.#shares.get(orgId) ?? { lines: new Map<string, Check[]>(), waiting: 0 };
    const line = share.lines.get(tunnelId) ?? [];
    line.push({ ...of, settle: resolve });
    share.lines.set(tunnelId, line);
    share.waiting++;
    this.#shares.set(orgId, share);
    this.#changed(of, 1);
    this.#next();
    return promise;
  }

  /**
   * The organization with most that waits gives one up, if it has more left then than this one will have; else this one's longest line may give
   * way to a shorter one of its own. True: there is room.
   */
  #makeRoom(orgId: string, tunnelId: string): boolean {
    const own = this.#shares.get(orgId);
    let most: Share | undefined;
    for (const share of this.#shares.values()) if (most === undefined || share.waiting > most.waiting) most = share;
    if (most !== undefined && most.waiting > (own?.waiting ?? 0) + 1) return this.#giveWay(most, 0);
    return own !== undefined && this.#giveWay(own, (own.lines.get(tunnelId)?.length ?? 0) + 1);
  }

  /** The last one of the longest line leaves. False: no line is longer than `than`. */
  #giveWay(share: Share, than: number): boolean {
    let longest: Check[] = [];
    for (const line of share.lines.values()) if (line.length > longest.length) longest = line;
    const last = longest.length > than ? longest.pop() : undefined;
    if (last === undefined) return false;
    if (longest.length === 0) share.lines.delete(last.tunnelId);
    // An organization that gives way has more than one that waits.
    share.waiting--;
    this.#changed(last, -1);
    last.settle(null);
    return true;
  }

  /** The oldest one of the tunnel whose turn it is in the organization whose turn it is; both then stand at the end. */
  #shift(): Check | undefined {
    const [next] = this.#shares;
    if (next === undefined) return undefined;
    const [orgId, share] = next;
    const [tunnelId, line] = share.lines.entries().next().value as [string, Check[]];
    const check = line.shift();
    share.waiting--;
    share.lines.delete(tunnelId);
    if (line.length > 0) share.lines.set(tunnelId, line);
    this.#shares.delete(orgId);
    if (share.waiting > 0) this.#shares.set(orgId, share);
    return check;
  }

  #next(): void {
    while (this.#underWay < MAX_UNDER_WAY) {
      const check = this.#shift();
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
