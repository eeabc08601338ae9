/** Frames that carry neither heads nor bodies (RFC 9113 §6): settings, pings, windows, priorities, resets. */
import { readPriority, resetPriority } from '../priority.ts';
import { CODE, type Priority } from '../types.ts';
import { copyInto, FLAG, HEADER_BYTES, MAX_NUMBER, readNumber, readUint32, TYPE } from './frame.ts';
import type { Offences } from './offences.ts';
import type { FrameSender } from './sending/sender.ts';
import { FIRST_WINDOW, readSettings, type SettingsTarget } from './settings.ts';
import type { Http2ServerStream } from './stream.ts';
import type { StreamTable } from './stream-table.ts';
import type { RoundTrip } from './windows.ts';

/** What the first byte of our PINGs says that they are for; the others are 0. */
export const PING = { roundTrip: 1, drain: 2 } as const;
export const PING_BYTES = 8;
const PRIORITY_BYTES = 5;
const GOAWAY_BYTES = 8;
/** A WINDOW_UPDATE below this brings nothing. */
const SMALL_UPDATE = 1_024;
/** Priorities that are kept for streams to come. */
const MAX_EARLY = 16;

/** The connection. */
export interface ControlHost {
  readonly sender: FrameSender;
  readonly streams: StreamTable;
  readonly roundTrip: RoundTrip;
  nowMs(): number;
  /** The visitor has read the first GOAWAY of a drain. */
  drainAnswered(): void;
  /** The visitor has said GOAWAY. */
  visitorLeaves(): void;
}

export class ControlFrames implements SettingsTarget {
  readonly #host: ControlHost;
  readonly #streams: StreamTable;
  readonly #offences: Offences;
  /** The first frame of a visitor has come. */
  hasSettings = false;
  /** Priorities of streams that have not come yet. */
  #early: Map<number, Priority> | null = null;
  /** What the visitor takes on each stream from its start. */
  sendWindow = FIRST_WINDOW;

  constructor(host: ControlHost, offences: Offences) {
    this.#host = host;
    this.#streams = host.streams;
    this.#offences = offences;
  }

  frame(type: number, flags: number, id: number, bytes: Buffer, start: number, length: number): void {
    switch (type) {
      case TYPE.priority:
        return this.#priorityFrame(id, bytes, start, length);
      case TYPE.reset:
        return this.#resetFrame(id, bytes, start, length);
      case TYPE.settings:
        return this.#settingsFrame(id, flags, bytes, start, length);
      case TYPE.ping:
        return this.#pingFrame(id, flags, bytes, start, length);
      case TYPE.window:
        return this.#windowFrame(id, bytes, start, length);
      case TYPE.priorityUpdate:
        return this.#priorityUpdateFrame(id, bytes, start, length);
      case TYPE.goAway:
        if (id !== 0) return this.#offences.fail(CODE.protocol);
        if (length < GOAWAY_BYTES) return this.#offences.fail(CODE.frameSize);
        // Its number is about streams of ours, of which there are none; its code says nothing about those of the visitor.
        this.#host.visitorLeaves();
        break;
      case TYPE.pushPromise:
        return this.#offences.fail(CODE.protocol);
      default: // unknown ones mean nothing
    }
    this.#offences.isWaste(HEADER_BYTES + length);
  }

  #resetFrame(id: number, bytes: Buffer, start: number, length: number): void {
    if (id === 0 || this.#streams.isIdle(id)) return this.#offences.fail(CODE.protocol);
    if (length !== 4) return this.#offences.fail(CODE.frameSize);
    const stream = this.#streams.get(id);
    if (stream === undefined) {
      this.#streams.left.delete(id);
      this.#offences.isWaste(HEADER_BYTES + length);
      return;
    }
    this.#offences.reset(stream, readUint32(bytes, start));
  }

  #settingsFrame(id: number, flags: number, bytes: Buffer, start: number, length: number): void {
    if (id !== 0) return this.#offences.fail(CODE.protocol);
    if ((flags & FLAG.ack) !== 0) {
      if (length === 0) this.#offences.isWaste(HEADER_BYTES);
      else this.#offences.fail(CODE.frameSize);
      return;
    }
    this.hasSettings = true;
    if (!this.#offences.isAnswered('h2_settings')) return;
    const code = readSettings(bytes, start, length, this);
    if (code !== CODE.none) return this.#offences.fail(code);
    this.#host.sender.control(TYPE.settings, FLAG.ack, 0, 0);
  }

  tableSize(max: number): void {
    this.#host.sender.encoder.limit(max);
  }

  initialWindow(size: number): boolean {
    const more = size - this.sendWindow;
    this.sendWindow = size;
    return this.#streams.widen(more, MAX_NUMBER);
  }

  #pingFrame(id: number, flags: number, bytes: Buffer, start: number, length: number): void {
    const host = this.#host;
    if (id !== 0) return this.#offences.fail(CODE.protocol);
    if (length !== PING_BYTES) return this.#offences.fail(CODE.frameSize);
    if ((flags & FLAG.ack) !== 0) {
      const purpose = bytes[start];
      if (purpose === PING.drain) host.drainAnswered();
      if (purpose === PING.roundTrip && host.roundTrip.answered(host.nowMs())) return;
      this.#offences.isWaste(HEADER_BYTES + length);
      return;
    }
    if (!this.#offences.isAnswered('h2_pings')) return;
    const at = host.sender.control(TYPE.ping, FLAG.ack, 0, PING_BYTES);
    if (at >= 0) copyInto(host.sender.target, at, bytes, start, start + PING_BYTES);
  }

  #windowFrame(id: number, bytes: Buffer, start: number, length: number): void {
    if (length !== 4) return this.#offences.fail(CODE.frameSize);
    const more = readNumber(bytes, start);
    if (id === 0) {
      if (more === 0) return this.#offences.fail(CODE.protocol);
      if (!this.#host.sender.windowGrew(more)) return this.#offences.fail(CODE.flowControl);
    } else {
      if (this.#streams.isIdle(id)) return this.#offences.fail(CODE.protocol);
      const stream = this.#streams.get(id);
      if (stream !== undefined) {
        if (more === 0) return this.#offences.offend(stream, CODE.protocol);
        stream.sendWindow += more;
        if (stream.sendWindow > MAX_NUMBER) return this.#offences.offend(stream, CODE.flowControl);
        stream.windowGrew();
      }
      if (stream === undefined) {
        this.#offences.isWaste(HEADER_BYTES + length);
        return;
      }
    }
    if (more < SMALL_UPDATE) this.#offences.isWaste(HEADER_BYTES + length);
  }

  /** The old kind (RFC 9113 §5.3.2): it is checked, and means nothing. */
  #priorityFrame(id: number, bytes: Buffer, start: number, length: number): void {
    if (id === 0) return this.#offences.fail(CODE.protocol);
    const isSelfish = length === PRIORITY_BYTES && readNumber(bytes, start) === id;
    if (length === PRIORITY_BYTES && !isSelfish) {
      this.#offences.isWaste(HEADER_BYTES + length);
      return;
    }
    const code = isSelfish ? CODE.protocol : CODE.frameSize;
    const stream = this.#streams.get(id);
    // No reset may be sent on a stream that is not there yet (RFC 9113 §6.4).
    if (stream === undefined) this.#offences.fail(code);
    else this.#offences.offend(stream, code);
  }

  /** Of a stream that is open, or will be. */
  #priorityUpdateFrame(id: number, bytes: Buffer, start: number, length: number): void {
    if (id !== 0) return this.#offences.fail(CODE.protocol);
    if (length < 4) return this.#offences.fail(CODE.frameSize);
    const about = readNumber(bytes, start);
    // Only requests are prioritized here: nothing is pushed (RFC 9218 §7.1).
    if ((about & 1) === 0) return this.#offences.fail(CODE.protocol);
    if (this.#offences.isWaste(HEADER_BYTES + length)) return;
    const stream = this.#streams.get(about);
    if (stream === undefined && !this.#streams.isIdle(about)) return;
    const priority = stream?.priority ?? { urgency: 0, isIncremental: false };
    resetPriority(priority);
    readPriority(bytes, start + 4, start + length, priority);
    if (stream !== undefined) this.#host.sender.moved(stream);
    else if (this.#early === null || this.#early.size < MAX_EARLY)
      (this.#early ??= new Map<number, Priority>()).set(about, priority);
  }

  /** What was said of a stream before it came goes before what its head says (RFC 9218 §7). */
  prioritize(stream: Http2ServerStream): void {
    const early = this.#early?.get(stream.id);
    if (early === undefined) return;
    this.#early?.delete(stream.id);
    if (this.#early?.size === 0) this.#early = null;
    stream.priority.urgency = early.urgency;
    stream.priority.isIncremental = early.isIncremental;
  }
}
