/**
 * The way of a relay by UDP to the server: finds the server's address, keeps the way alive, notices when it is gone and looks for it again, for
 * as long as the attachment lasts. Used by carrier.ts, which sends by the session's stream while this is not up.
 *
 *   trying ──ready──► up ──no pong for RELAY_SILENT_MS──► silent ──ready──► up …
 *      └──five tries without an answer──► silent
 *
 * A ping that is not answered within a second is said again, and when three were in vain new sockets try for a way of their own beside the old
 * one: an agent whose NAT has forgotten it, or whose machine has moved, is back before the silence is complete.
 */
import { lookup } from 'node:dns/promises';
import { formatHostPort } from '../../base/net/addr.ts';
import type { Clock } from '../../base/clock.ts';
import { codeOf } from '../../base/errors.ts';
import { RELAY_PING_MS, RELAY_SILENT_MS } from '../../wire/relay-packets.ts';
import type { Cancel, Schedule } from '../schedule.ts';
import { type LegOwner, type RelayKeys, UdpLeg } from './udp-leg.ts';

const BEAT_MS = 1_000;
/** So many tries a second apart; then the wait doubles. */
const QUICK_TRIES = 5;
const MAX_WAIT_MS = 30_000;
/** Each third try is by new sockets: a NAT that has mixed up the old one's mapping gets another to make. */
const TRIES_PER_SOCKET = 3;
const DOUBT_PINGS = 3;
/** The session's address and what the endpoint's name stands for. */
const MAX_ADDRESSES = 4;
/** A leg that has proven itself gets so long for `ready` before another may. */
const PROVING_MS = 900;

export interface UdpPathOwner {
  /** Datagrams go by UDP from now on. */
  onUp(address: string): void;
  /** It does not get through, or does no longer; it is tried again all the time. */
  onSilent(why: string): void;
  onPacket(bytes: Buffer, start: number, end: number): void;
  onLost(count: number): void;
  onForeign(): void;
  /** What the system says of one way, or of looking up the server's name; it is tried again. */
  onTrouble(error: Error): void;
  /** A mistake of this program: what one packet threw. */
  onThrow(error: Error): void;
}

export interface UdpPathOptions {
  readonly keys: RelayKeys;
  /** The server's UDP port, and where it may be: the far end of the session, and the host that clients are configured with. */
  readonly port: number;
  readonly remote: string | undefined;
  readonly host: string;
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly owner: UdpPathOwner;
}

export class UdpPath implements LegOwner {
  readonly #options: UdpPathOptions;
  readonly #owner: UdpPathOwner;
  readonly #legs = new Set<UdpLeg>();
  /** The leg that the server takes for the agent's. */
  #leg: UdpLeg | undefined;
  #timer: Cancel | undefined;
  #closed = false;
  /** Tries since the way was last known; -1: none is sought. */
  #tries = 0;
  #nextTryMs = 0;
  #isSaid = false;
  #refused = false;
  /** What the system said last of sockets, and of the server's name, since the way was last known or sought anew. */
  #trouble: string | undefined;
  #nameTrouble: string | undefined;
  #proving: UdpLeg | undefined;
  #provingMs = 0;
  /** Of the pings: the last that was said, the last that was answered, and when. */
  #pinged = 0;
  #ponged = 0;
  #pingedMs = 0;
  #heardMs = 0;

  /** Begins at once. */
  constructor(options: UdpPathOptions) {
    this.#options = options;
    this.#owner = options.owner;
    this.#beat();
  }

  get isUp(): boolean {
    return this.#leg !== undefined;
  }

  /** Sends a packet, now or not at all; false: not sent. */
  send(bytes: Buffer, start: number, end: number): boolean {
    return this.#leg?.send(bytes, start, end) ?? false;
  }

  /** A person asked to try now. */
  tryNow(): void {
    if (this.#closed || this.isUp) return;
    this.#timer?.();
    this.#seek();
    this.#beat();
  }

  close(): void {
    this.#closed = true;
    this.#timer?.();
    this.#leg = undefined;
    this.#closeLegs();
  }

  // --- what legs tell

  mayProve(leg: UdpLeg): boolean {
    if (this.#isProving() && this.#proving !== leg) return false;
    this.#proving = leg;
    this.#provingMs = this.#options.clock.monotonic();
    return true;
  }

  onReady(leg: UdpLeg): void {
    const wasUp = this.isUp;
    this.#leg = leg;
    this.#tries = -1;
    this.#proving = undefined;
    this.#forgetTrouble();
    this.#heardMs = this.#options.clock.monotonic();
    this.#ponged = this.#pinged;
    // The other legs stay until a pong says that the server took this one last.
    this.#ping();
    if (wasUp) return;
    this.#isSaid = false;
    this.#owner.onUp(leg.address);
  }

  onPong(leg: UdpLeg, number: number): void {
    if (leg !== this.#leg || number <= this.#ponged || number > this.#pinged) return;
    this.#ponged = number;
    this.#heardMs = this.#options.clock.monotonic();
    this.#tries = -1;
    // A server that has just proven itself may be taken any moment.
    if (!this.#isProving()) this.#closeLegs(leg);
  }

  onPacket(bytes: Buffer, start: number, end: number): void {
    this.#owner.onPacket(bytes, start, end);
  }

  onLost(count: number): void {
    this.#owner.onLost(count);
  }

  onForeign(): void {
    this.#owner.onForeign();
  }

  onTrouble(error: Error): void {
    const code = codeOf(error);
    if (code === undefined) return this.#owner.onThrow(error);
    if (code === 'ECONNREFUSED') this.#refused = true;
    else this.#trouble = code;
    this.#owner.onTrouble(error);
  }

  // ---

  #isProving(): boolean {
    return this.#proving !== undefined && this.#options.clock.monotonic() - this.#provingMs < PROVING_MS;
  }

  #beat(): void {
    const now = this.#options.clock.monotonic();
    if (this.isUp) this.#watch(now);
    if (this.#tries >= 0 && now >= this.#nextTryMs) this.#try(now);
    this.#timer = this.#options.schedule.after(BEAT_MS, () => this.#beat());
  }

  #watch(now: number): void {
    const unanswered = this.#pinged - this.#ponged;
    if (now - this.#heardMs >= RELAY_SILENT_MS) return this.#lose();
    if (unanswered >= DOUBT_PINGS && this.#tries < 0) this.#seek();
    if (unanswered > 0 || now - this.#pingedMs >= RELAY_PING_MS) this.#ping();
  }

  #ping(): void {
    this.#pingedMs = this.#options.clock.monotonic();
    this.#leg?.ping(++this.#pinged);
  }

  #lose(): void {
    const lost = this.#leg as UdpLeg;
    lost.close();
    this.#legs.delete(lost);
    this.#leg = undefined;
    const at = formatHostPort({ host: lost.address, port: this.#options.port });
    const why = `no UDP received from ${at} for ${RELAY_SILENT_MS / 1_000} s${this.#because()}`;
    if (this.#tries < 0) this.#seek();
    this.#isSaid = true;
    this.#owner.onSilent(why);
  }

  #seek(): void {
    this.#tries = 0;
    this.#nextTryMs = 0;
    this.#forgetTrouble();
  }

  #forgetTrouble(): void {
    this.#refused = false;
    this.#trouble = undefined;
    this.#nameTrouble = undefined;
  }

  #try(now: number): void {
    if (this.#tries >= QUICK_TRIES && !this.isUp && !this.#isSaid) {
      this.#isSaid = true;
      this.#owner.onSilent(this.#whySilent());
    }
    if (this.#tries % TRIES_PER_SOCKET === 0) this.#openLegs();
    for (const leg of this.#legs) if (leg !== this.#leg) leg.hello();
    this.#tries++;
    const behind = this.#tries - QUICK_TRIES;
    this.#nextTryMs = now + (behind < 0 ? BEAT_MS : Math.min(MAX_WAIT_MS, BEAT_MS * 2 ** behind));
  }

  #whySilent(): string {
    const { remote, host, port } = this.#options;
    const at = formatHostPort({ host: remote ?? host, port });
    return this.#refused ? `nothing listens at ${at} (UDP)` : `no UDP response from ${at}${this.#because()}`;
  }

  /** That the name is not known says less than what a socket met. */
  #because(): string {
    const cause = this.#trouble ?? this.#nameTrouble;
    return cause === undefined ? '' : ` (${cause})`;
  }

  #openLegs(): void {
    this.#closeLegs(this.#leg);
    const { remote, host } = this.#options;
    if (remote !== undefined) this.#openLeg(remote);
    // The name is looked up each time: a server that moved is found. Until it is, the far end of the session is tried alone.
    const round = this.#tries;
    lookup(host, { all: true, order: 'ipv4first' }).then(
      (found) => {
        if (this.#closed || this.#tries < 0 || this.#tries >= round + TRIES_PER_SOCKET) return;
        for (const { address } of found) this.#openLeg(address)?.hello();
      },
      (error: Error) => {
        if (this.#closed) return;
        this.#nameTrouble = `${codeOf(error) ?? error.message} for ${host}`;
        this.#owner.onTrouble(error);
      },
    );
  }

  /** Undefined: it is tried already, or there are enough. */
  #openLeg(address: string): UdpLeg | undefined {
    let count = 0;
    for (const leg of this.#legs) {
      if (leg === this.#leg) continue;
      if (leg.address === address) return undefined;
      count++;
    }
    if (count >= MAX_ADDRESSES) return undefined;
    const { port, keys } = this.#options;
    const leg = new UdpLeg({ address, port, keys, owner: this });
    this.#legs.add(leg);
    return leg;
  }

  #closeLegs(except?: UdpLeg): void {
    for (const leg of this.#legs) {
      if (leg === except) continue;
      leg.close();
      this.#legs.delete(leg);
    }
  }
}
