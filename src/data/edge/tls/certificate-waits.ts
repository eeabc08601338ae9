/**
 * Handshakes that wait for a certificate: the first visitors of a new name see no warning. A name that leads to no tunnel which an agent serves
 * now has no tunnel, and waits for nothing.
 */
import { RecentMap } from '../../../base/limits/recent-map.ts';
import type { RouteTable } from '../../routing/table.ts';
import { isOver } from '../../faults/refusal.ts';

interface WaitLimits {
  /** Of one handshake. A browser gives up after some 30 s. */
  readonly waitMs: number;
  /** Handshakes at once, of all names and of one: beyond it they get the default certificate. */
  readonly max: number;
  readonly maxPerName: number;
  /** Of all names of one organization, and from one address: a few make many names for nothing. */
  readonly maxPerOrg: number;
  readonly maxPerAddress: number;
  /** From so many on there is room only for organizations and addresses that have few: one person may have many organizations. */
  readonly scarceFrom: number;
}

export const WAIT_LIMITS: WaitLimits = {
  waitMs: 20_000,
  max: 256,
  maxPerName: 16,
  maxPerOrg: 32,
  maxPerAddress: 64,
  scarceFrom: 192,
};
/** What an organization, or an address, has of what is scarce. */
const FEW = 4;
/** Names that are asked for now: an order takes seconds, and minutes when many stand in line. */
const MAX_NAMES = 1_000;
/** A name for which none came is not asked for again before; the control plane has longer waits of its own. */
const NO_MS = 5_000;

/** Asks the control plane, as Link.wantCertificate. */
export type WantCertificate = (host: string) => Promise<boolean>;

export class CertificateWaits {
  readonly #table: Pick<RouteTable, 'findByHost'>;
  /** Of the server itself: served without an agent. */
  readonly #ownHosts: ReadonlySet<string>;
  readonly #want: WantCertificate;
  /** Name → how the handshakes that wait for it go on. */
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #refused = new RecentMap<string, true>({ max: MAX_NAMES, ttlMs: NO_MS });
  /** How many wait of each organization, and from each address. */
  readonly #ofOrg = new Map<string, number>();
  readonly #fromAddress = new Map<string, number>();
  readonly #onFull: () => void;
  #count = 0;

  /** `onFull` is called for each handshake that would have waited if there were room. */
  constructor(deps: {
    table: Pick<RouteTable, 'findByHost'>;
    ownHosts?: readonly string[];
    want: WantCertificate;
    onFull: () => void;
  }) {
    this.#table = deps.table;
    this.#ownHosts = new Set(deps.ownHosts);
    this.#want = deps.want;
    this.#onFull = deps.onFull;
  }

  /** How long one handshake waits at most. */
  get waitMs(): number {
    return WAIT_LIMITS.waitMs;
  }

  /**
   * Of a visitor at `address`, an IPv6 one by its network. Calls `goOn` once, later: when a certificate for this name (lower case) has come, when none will, or when it took too long. Returns what
   * ends the wait without calling; null, with nothing to come, where there is nothing to wait for or no room.
   */
  wait({ name, address }: { name: string; address: string }, goOn: () => void): (() => void) | null {
    const orgId = this.#servedFor(name);
    if (orgId === undefined || this.#refused.has(name)) return null;
    const those = this.#hasRoom(orgId, address) ? (this.#waiting.get(name) ?? this.#ask(name)) : undefined;
    if (those === undefined || those.size >= WAIT_LIMITS.maxPerName) {
      this.#onFull();
      return null;
    }
    const leave = (): boolean => {
      clearTimeout(timer);
      if (!those.delete(end)) return false;
      this.#counted(orgId, address, -1);
      return true;
    };
    const end = (): void => {
      if (leave()) goOn();
    };
    const timer = setTimeout(end, WAIT_LIMITS.waitMs);
    timer.unref();
    those.add(end);
    this.#counted(orgId, address, 1);
    return () => void leave();
  }

  /** Whose name it is; undefined when it leads nowhere. */
  #servedFor(name: string): string | undefined {
    if (this.#ownHosts.has(name)) return '';
    const entry = this.#table.findByHost(name);
    const isServed = entry !== undefined && entry.served !== null && !entry.served.draining && !isOver(entry);
    return isServed ? entry.route.orgId : undefined;
  }

  #hasRoom(orgId: string, address: string): boolean {
    const { max, maxPerOrg, maxPerAddress, scarceFrom } = WAIT_LIMITS;
    const most = this.#count < scarceFrom ? Infinity : FEW;
    return (
      this.#count < max &&
      (this.#ofOrg.get(orgId) ?? 0) < Math.min(maxPerOrg, most) &&
      (this.#fromAddress.get(address) ?? 0) < Math.min(maxPerAddress, most)
    );
  }

  #counted(orgId: string, address: string, change: 1 | -1): void {
    this.#count += change;
    count(this.#ofOrg, orgId, change);
    count(this.#fromAddress, address, change);
  }

  /** Undefined: too many names are asked for already. */
  #ask(name: string): Set<() => void> | undefined {
    if (this.#waiting.size >= MAX_NAMES) return undefined;
    const those = new Set<() => void>();
    this.#waiting.set(name, those);
    void this.#want(name)
      .catch(() => false)
      .then((hasCome) => {
        this.#waiting.delete(name);
        if (!hasCome) this.#refused.set(name, true);
        for (const end of [...those]) end();
      });
    return those;
  }
}

/** What comes to nothing is forgotten. */
function count(counts: Map<string, number>, key: string, change: number): void {
  const now = (counts.get(key) ?? 0) + change;
  if (now === 0) counts.delete(key);
  else counts.set(key, now);
}
