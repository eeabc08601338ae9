/**
 * Whose datagrams they are, as far as that shows without a secret: by the MAC of handshake messages (mac1.ts), and by the
 * session number that each data packet repeats. A revoked device is blocked at once. Of sessions that began before the relay
 * nothing is known: for 3 minutes after a removal they are blocked, and their clients shake hands again within 15 s.
 * Reasons: docs/decisions/0013-wireguard-relay.md.
 */
import { formatHostPort, plainIp } from '../../base/net/addr.ts';
import { Allowance } from '../../base/limits/allowance.ts';
import type { DeviceEvent, RelayDevice } from '../../plane/relays.ts';
import { DeviceMark } from './device-mark.ts';
import type { Flow } from './flows.ts';
import { Mac1Message } from './handshake/mac1.ts';
import { MAC1_FROM_END } from '../../wire/wireguard.ts';

/** REJECT_AFTER_TIME of WireGuard: no key is used for longer. */
const SESSION_MS = 180_000;
/** Sessions remembered for a device: a new one each 2 minutes, and while a handshake gets no answer each 5 s for 90 s. */
const MAX_SESSIONS = 16;
/**
 * Keys that a message is compared with, 0.4 to 0.8 us each: so many for each network, and more of what the node has for all. The networks of an
 * organization together stay under a tenth of a core, whatever their servers make up, and 4,096 devices are looked through at once.
 */
const OWN_MACS = { perSecond: 1_024, burst: 8_192 };

export class DeviceMarks {
  readonly #shared: Allowance;
  readonly #own: Allowance;
  readonly #byId = new Map<string, DeviceMark>();
  readonly #bySession = new Map<number, DeviceMark>();
  /** Enrolled devices without a flow, and those with one. */
  readonly #away = new Set<DeviceMark>();
  readonly #here = new Set<DeviceMark>();
  /** Removed ones whose sessions may live still, in the order in which they were. */
  readonly #gone: Array<{ readonly mark: DeviceMark; readonly untilMs: number }> = [];
  #news: DeviceMark[] = [];
  #strangersOutUntilMs = -Infinity;

  /** `shared`: the node's allowance of mac1 comparisons. */
  constructor({ shared, nowMs }: { readonly shared: Allowance; readonly nowMs: number }) {
    this.#shared = shared;
    this.#own = new Allowance(OWN_MACS, nowMs);
  }

  /** A device that is enrolled, or what has changed of it. Returns the mark that it had before, if that is no more good. */
  add(device: RelayDevice, nowMs: number, wallMs: number): DeviceMark | undefined {
    const known = this.#byId.get(device.deviceId);
    const hasRunOut = device.expiresAt !== null && device.expiresAt <= wallMs;
    if (known?.publicKey === device.publicKey && !hasRunOut) {
      known.expiresAt = device.expiresAt;
      return undefined;
    }
    const removed = known === undefined && !hasRunOut ? undefined : this.remove(device.deviceId, nowMs);
    if (hasRunOut) return removed;
    const mark = new DeviceMark(device);
    this.#byId.set(device.deviceId, mark);
    this.#away.add(mark);
    return removed;
  }

  /** The device is enrolled no more. Returns its mark: flows that have it must be cut. */
  remove(deviceId: string, nowMs: number): DeviceMark | undefined {
    this.lost(nowMs);
    const mark = this.#byId.get(deviceId);
    if (mark === undefined) return undefined;
    this.#byId.delete(deviceId);
    this.#away.delete(mark);
    this.#here.delete(mark);
    mark.isGone = true;
    if (mark.sessions.length > 0) this.#gone.push({ mark, untilMs: nowMs + SESSION_MS });
    return mark;
  }

  /** A device was removed at `atMs`, perhaps before this began: its sessions may be among those that nothing is known of. */
  lost(atMs: number): void {
    this.#strangersOutUntilMs = Math.max(this.#strangersOutUntilMs, atMs + SESSION_MS);
  }

  /** Removes and returns those that have run out, and forgets sessions of removed ones that can't live any more. At least once a second. */
  expire(nowMs: number, wallMs: number): DeviceMark[] {
    while (this.#gone[0] !== undefined && nowMs >= this.#gone[0].untilMs) {
      const { mark } = this.#gone.shift() as { mark: DeviceMark };
      for (const session of mark.sessions) this.#forgetSession(session, mark);
    }
    const over: DeviceMark[] = [];
    for (const { deviceId, expiresAt } of this.#byId.values()) {
      if (expiresAt === null || expiresAt > wallMs) continue;
      over.push(this.remove(deviceId, nowMs) as DeviceMark);
    }
    return over;
  }

  /** A flow is taken for the device from now on. */
  came(mark: DeviceMark): void {
    if (mark.flows++ > 0 || mark.isGone) return;
    this.#away.delete(mark);
    this.#here.add(mark);
  }

  /** A flow is not taken for it any more. */
  left(mark: DeviceMark): void {
    if (--mark.flows > 0 || mark.isGone) return;
    this.#here.delete(mark);
    this.#away.add(mark);
  }

  /** Whose session it is; the device may have gone. */
  ofSession(session: number): DeviceMark | undefined {
    return this.#bySession.get(session);
  }

  /** Must sessions that nothing is known of stay out now? */
  areStrangersOut(nowMs: number): boolean {
    return nowMs < this.#strangersOutUntilMs;
  }

  /**
   * The device that `bytes[start, end)`, a handshake message of the network's server to the flow's client, is for. Undefined: none that is
   * enrolled, or the allowances of comparisons are used up: WireGuard tries again after 5 s.
   */
  receiverOf(flow: Flow, bytes: Buffer, start: number, end: number, nowMs: number): DeviceMark | undefined {
    // To read it costs as much as to compare it: who may not compare does neither, and looks at no device.
    if (!this.#mayCompare(nowMs)) return undefined;
    const message = new Mac1Message(bytes, start, end - MAC1_FROM_END);
    const known = flow.mark;
    if (known !== undefined && message.isFor(known.mac1)) return known;
    // Who has a flow is known there: a new client is rather one that has none.
    return this.#find(this.#away, message, nowMs) ?? this.#find(this.#here, message, nowMs);
  }

  /** The network's server has begun a session with the device. */
  began(mark: DeviceMark, session: number): void {
    if (this.#bySession.get(session) === mark) return;
    this.#bySession.set(session, mark);
    mark.sessions.push(session);
    if (mark.sessions.length > MAX_SESSIONS) this.#forgetSession(mark.sessions.shift() as number, mark);
  }

  /** There is something to tell of the device. */
  tell(mark: DeviceMark): void {
    if (mark.isNews) return;
    mark.isNews = true;
    this.#news.push(mark);
  }

  /** What became known since the last call. `wallMs` and `nowMs` are of the same moment. */
  take(networkId: string, nowMs: number, wallMs: number): DeviceEvent[] {
    const news = this.#news;
    this.#news = [];
    const wall = (ms: number): number => Math.round(wallMs - nowMs + ms);
    return news.map((mark): DeviceEvent => {
      const { deviceId, address, port, bytesIn, bytesOut, handshakeMs } = mark;
      const handshakeAt = handshakeMs === undefined ? null : wall(handshakeMs);
      mark.isNews = false;
      mark.handshakeMs = undefined;
      mark.bytesIn = 0;
      mark.bytesOut = 0;
      return {
        kind: 'device',
        networkId,
        deviceId,
        address: formatHostPort({ host: plainIp(address), port }),
        handshakeAt,
        seenAt: wall(mark.heardMs),
        bytesIn,
        bytesOut,
      };
    });
  }

  #find(marks: Iterable<DeviceMark>, message: Mac1Message, nowMs: number): DeviceMark | undefined {
    for (const mark of marks) {
      if (!this.#mayCompare(nowMs)) return undefined;
      if (message.isFor(mark.mac1)) return mark;
    }
    return undefined;
  }

  #mayCompare(nowMs: number): boolean {
    const allowance = this.#own.hasOne(nowMs) ? this.#own : this.#shared;
    if (!allowance.hasOne(nowMs)) return false;
    allowance.spend();
    return true;
  }

  #forgetSession(session: number, mark: DeviceMark): void {
    if (this.#bySession.get(session) === mark) this.#bySession.delete(session);
  }
}
