/**
 * Watches the way of a live session: the addresses of this computer, and whether the server still answers on it. A session whose local address
 * is gone is dead at once; one that stays silent, while another connection to the server can be made, is dead as well. A path that is only
 * slow or broken for all is left to the heartbeat. A computer that slept is noticed by its clocks, within a second of waking. Used by agent.ts.
 */
import { networkInterfaces } from 'node:os';
import type { Clock } from '../../base/clock.ts';
import type { Channel } from './channel.ts';
import type { Cancel, Schedule } from '../schedule.ts';

/** Between two looks at the interfaces. */
const LOOK_MS = 1_000;
/** A look that is this late was not only delayed: the computer slept, or its clock was set. */
const SLEPT_MS = 4_000;
/** A session is asked this often whether it answers. The server's own heartbeat is not due while these come. */
const ASK_MS = 4_000;
/** An answer is late after this: another way is tried. */
const LATE_MS = 2_000;
/** More than this sent since the last question may hold the answer up for long, on a slow uplink. */
const QUIET_BYTES = 65_536;

export interface PathMeans {
  /** Opens another connection and closes it; resolves when the server takes it. May reject. */
  readonly tryAnother: (signal: AbortSignal) => Promise<void>;
  /** Addresses of this computer; default the real ones. */
  readonly addresses?: (() => string[]) | undefined;
}

export interface PathOwner {
  /** Addresses came or went, or the computer woke up. */
  onNetwork(): void;
  onDead(channel: Channel, cause: string): void;
}

/** The addresses of this computer that others may reach it by. */
function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flat()
    .flatMap((each) => (each === undefined || each.internal || /^fe80:/i.test(each.address) ? [] : [each.address]));
}

/** Undefined: there is no means to try another connection, and the heartbeat alone counts. */
export function watchPaths(time: Time, owner: PathOwner, means: Partial<PathMeans>): PathWatch | undefined {
  const { tryAnother, addresses } = means;
  return tryAnother && new PathWatch(time, owner, { tryAnother, addresses });
}

export interface Time {
  readonly clock: Clock;
  readonly schedule: Schedule;
}

export class PathWatch {
  readonly #schedule: Schedule;
  readonly #clock: Clock;
  readonly #owner: PathOwner;
  readonly #tryAnotherWay: PathMeans['tryAnother'];
  readonly #addresses: () => string[];
  #known: string;
  #looking: Cancel;
  #channel: Channel | undefined;
  #asking: Cancel | undefined;
  #another: AbortController | undefined;
  #sentBytes = 0;
  /** Both clocks at the last look. One of them stands still while a computer sleeps, which one depends on its system. */
  #looked: { readonly wall: number; readonly monotonic: number };

  constructor({ clock, schedule }: Time, owner: PathOwner, { tryAnother, addresses = ownAddresses }: PathMeans) {
    this.#schedule = schedule;
    this.#clock = clock;
    this.#looked = { wall: clock.now(), monotonic: clock.monotonic() };
    this.#tryAnotherWay = tryAnother;
    this.#owner = owner;
    this.#addresses = addresses;
    this.#known = addresses().toSorted().join(' ');
    this.#looking = schedule.after(LOOK_MS, () => this.#look());
  }

  /** From now on this session is watched, and no other. */
  follow(channel: Channel): void {
    this.leave();
    this.#channel = channel;
    this.#sentBytes = channel.sentBytes;
    this.#askLater(channel, ASK_MS);
  }

  /** There is no session. */
  leave(): void {
    this.#channel = undefined;
    this.#asking?.();
    this.#asking = undefined;
    this.#another?.abort();
    this.#another = undefined;
  }

  close(): void {
    this.leave();
    this.#looking();
  }

  #look(): void {
    this.#looking = this.#schedule.after(LOOK_MS, () => this.#look());
    const hasWoken = this.#hasWoken();
    const addresses = this.#addresses();
    const now = addresses.toSorted().join(' ');
    if (now === this.#known) {
      if (hasWoken) this.#wake();
      return;
    }
    const had = this.#known.split(' ');
    this.#known = now;
    const channel = this.#channel;
    const local = channel?.local;
    if (channel !== undefined && local !== undefined && had.includes(local) && !addresses.includes(local)) {
      this.#owner.onDead(channel, `this machine no longer has the address ${local}`);
    } else if (channel !== undefined) {
      this.#asking?.();
      this.#ask(channel);
    }
    this.#owner.onNetwork();
  }

  #hasWoken(): boolean {
    const before = this.#looked;
    this.#looked = { wall: this.#clock.now(), monotonic: this.#clock.monotonic() };
    const passed = Math.max(this.#looked.wall - before.wall, this.#looked.monotonic - before.monotonic);
    return passed > LOOK_MS + SLEPT_MS;
  }

  /** The server may have given the session up meanwhile: it is asked, and another way is tried without waiting for its silence. */
  #wake(): void {
    const channel = this.#channel;
    if (channel !== undefined) {
      this.leave();
      this.#channel = channel;
      let answered = false;
      channel.ping().then(
        () => (answered = true),
        () => undefined, // it ended: the session says so itself
      );
      // Where that was the end of the session, the next one is not waited for.
      void this.#tryAnother(channel, () => answered).then(() => this.#channel ?? this.#owner.onNetwork());
    }
    this.#owner.onNetwork();
  }

  #askLater(channel: Channel, ms: number): void {
    this.#asking = this.#schedule.after(ms, () => this.#ask(channel));
  }

  #ask(channel: Channel): void {
    if (channel !== this.#channel) return;
    const isQuiet = channel.sentBytes - this.#sentBytes <= QUIET_BYTES;
    this.#sentBytes = channel.sentBytes;
    let answered = false;
    channel.ping().then(
      () => (answered = true),
      () => undefined, // it ended: the session says so itself
    );
    this.#asking = this.#schedule.after(LATE_MS, () => {
      if (answered || !isQuiet || channel.sentBytes - this.#sentBytes > QUIET_BYTES) {
        return this.#askLater(channel, ASK_MS - LATE_MS);
      }
      void this.#tryAnother(channel, () => answered);
    });
  }

  /** One that can be made proves that the network is there and the server too: then it is this session that is dead. */
  async #tryAnother(channel: Channel, answered: () => boolean): Promise<void> {
    const another = new AbortController();
    this.#another = another;
    const isThere = await this.#tryAnotherWay(another.signal).then(
      () => true,
      () => false,
    );
    if (another.signal.aborted || channel !== this.#channel) return;
    if (!isThere || answered()) return this.#askLater(channel, LATE_MS);
    this.#owner.onDead(channel, 'the connection stopped responding, but the server accepts a new one');
  }
}
