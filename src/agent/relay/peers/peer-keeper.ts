/**
 * Keeps the peers of a WireGuard interface in step with a network's devices: adds, changes and removes those that it has added itself, and no
 * others. What it is about to add is written down first, so that a kill in between leaves no peer without an owner.
 */
import { messageOf } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import type { Cancel, Schedule } from '../../schedule.ts';
import type { OwnPeers } from './own-peers.ts';
import type { PeerTable, WireguardPeer } from './wg.ts';

/** The interface may be made again behind the agent's back, and changed by hand. */
const CHECK_MS = 60_000;
const RETRY_MS = 10_000;

/** What one round has done. */
export interface PeerChanges {
  /** Addresses of the peers, as `wg` shows them. */
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  /** Devices that were left alone: another hand has added their key, or a peer with their address. */
  readonly foreign: readonly string[];
}

export interface PeerKeeperParts {
  readonly table: PeerTable;
  readonly own: Pick<OwnPeers, 'read' | 'write'>;
  readonly log: Logger;
  readonly schedule: Schedule;
  /** A round has changed something, or left other devices alone than the one before. */
  readonly onChanges: (changes: PeerChanges) => void;
  /** Why the interface can't be kept in step; undefined: it is again. */
  readonly onFault: (fault: string | undefined) => void;
}

export class PeerKeeper {
  readonly #parts: PeerKeeperParts;
  #wanted: readonly WireguardPeer[] | undefined;
  #timer: Cancel | undefined;
  #round: Promise<void> | undefined;
  #isDue = false;
  #isClosed = false;
  #fault: string | undefined;
  #foreign = '';

  constructor(parts: PeerKeeperParts) {
    this.#parts = parts;
  }

  /** All devices that may connect now. */
  want(peers: readonly WireguardPeer[]): void {
    this.#wanted = peers;
    this.#start();
  }

  /** Leaves the peers as they are. Resolves when nothing is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.();
    await this.#round;
  }

  #start(): void {
    this.#isDue = true;
    if (this.#isClosed || this.#round !== undefined) return;
    this.#timer?.();
    this.#round = this.#rounds().finally(() => {
      this.#round = undefined;
    });
  }

  async #rounds(): Promise<void> {
    let nextMs = CHECK_MS;
    while (this.#isDue && !this.#isClosed) {
      this.#isDue = false;
      try {
        this.#tell(await this.#step(this.#wanted ?? []));
        this.#failed(undefined);
        nextMs = CHECK_MS;
      } catch (error) {
        this.#failed(messageOf(error));
        nextMs = RETRY_MS;
      }
    }
    if (!this.#isClosed) this.#timer = this.#parts.schedule.after(nextMs, () => this.#start());
  }

  async #step(wanted: readonly WireguardPeer[]): Promise<PeerChanges> {
    const { table, own: file } = this.#parts;
    const [instance, present] = [await table.instance(), await table.peers()];
    const own = file.read(instance);
    const plan = planOf(wanted, present, own);
    const owned = new Set([...own, ...plan.add.map(({ key }) => key)]);
    if (plan.add.length > 0) file.write(instance, owned);
    for (const key of plan.remove) await table.remove(key);
    if (plan.add.length + plan.change.length > 0) await table.put([...plan.add, ...plan.change]);
    const keys = new Set(wanted.map(({ key }) => key));
    const left = new Set([...owned].filter((key) => keys.has(key)));
    if (left.size !== owned.size) file.write(instance, left);
    return {
      added: plan.add.map(nameOf),
      changed: plan.change.map(nameOf),
      removed: plan.remove.map((key) => present.get(key)?.[0] ?? key),
      foreign: plan.foreign.map(nameOf),
    };
  }

  #tell(changes: PeerChanges): void {
    const { added, changed, removed, foreign } = changes;
    const left = foreign.join();
    const isNews = left !== this.#foreign;
    this.#foreign = left;
    if (added.length + changed.length + removed.length === 0 && !isNews) return;
    const { log, onChanges } = this.#parts;
    log.info({ added, changed, removed }, 'WireGuard peers are in step with the devices');
    if (foreign.length > 0 && isNews)
      log.warn({ devices: foreign }, 'these devices have peers that culvert did not add: they stay as they are');
    onChanges(changes);
  }

  #failed(fault: string | undefined): void {
    if (fault === this.#fault) return;
    this.#fault = fault;
    const { log, onFault } = this.#parts;
    if (fault !== undefined) log.error({ cause: fault }, 'could not keep the WireGuard peers in step. Retrying.');
    onFault(fault);
  }
}

interface Plan {
  readonly add: readonly WireguardPeer[];
  readonly change: readonly WireguardPeer[];
  readonly remove: readonly string[];
  readonly foreign: readonly WireguardPeer[];
}

/** What has to be done. `present`: peers of the interface; `own`: those that were added here. */
function planOf(
  wanted: readonly WireguardPeer[],
  present: ReadonlyMap<string, readonly string[]>,
  own: ReadonlySet<string>,
): Plan {
  const keys = new Set(wanted.map(({ key }) => key));
  // A network that is given to a peer is taken from the one that had it.
  const taken = new Set([...present].flatMap(([key, ips]) => (own.has(key) ? [] : ips)));
  const plan = { add: [] as WireguardPeer[], change: [] as WireguardPeer[], foreign: [] as WireguardPeer[] };
  for (const peer of wanted) {
    const has = present.get(peer.key);
    const isOther = has !== undefined && !own.has(peer.key);
    if (isOther || peer.ips.some((ip) => taken.has(ip))) plan.foreign.push(peer);
    else if (has === undefined) plan.add.push(peer);
    else if (!isSame(has, peer.ips)) plan.change.push(peer);
  }
  return { ...plan, remove: [...own].filter((key) => present.has(key) && !keys.has(key)) };
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && new Set([...one, ...other]).size === one.length;
}

function nameOf({ key, ips }: WireguardPeer): string {
  return ips[0] ?? key;
}
