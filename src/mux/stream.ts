/**
 * One stream of a session: its two windows, its half-closes and its reset. Why no node:stream: docs/decisions/0001-own-multiplexer.md.
 * Its user sets `sink` on opening, waits for `sink.onDrain` after `write` returned false, and calls `consumed(n)` once n received
 * bytes have left its hands, never earlier: that is the back-pressure on the sender.
 * Length: windows, lanes and ends of a stream change together, and its hot path calls nothing else.
 */
import type { Slab } from '../base/bytes/slab.ts';
import { FLAG, INITIAL_WINDOW, MAX_RESET_CODE, RESET_CODE_BIT, TYPE } from './frame.ts';
import { WHOLE } from './pieces.ts';
import type { Pulse } from './pulse.ts';
import { BULK, type FrameSender, type LaneIndex, MAX_RESERVE, QUICK, type Waiter } from './sender.ts';
import { grownBy, nextWindow, type WindowBudget } from './window.ts';

/** What may wait in a stream for the peer's window. The largest single read is a quarter of it. */
const MAX_PENDING = 1 << 20;

/**
 * Receives what happens on a stream. One object may serve many streams, hence the `stream` argument. The bytes given to
 * `onData` belong to the multiplexer: use `bytes[start, end)` before returning, or copy, or hold the slab (`base/bytes/slab.ts`).
 */
export interface StreamSink {
  onData(stream: MuxStream, bytes: Buffer, start: number, end: number): void;
  /** The peer will send no more (FIN). */
  onEnd(stream: MuxStream): void;
  /** The stream is gone at once: reset by the peer, or its session ended. Nothing follows. */
  onReset(stream: MuxStream): void;
  /** After `write` returned false: there is room again. */
  onDrain(stream: MuxStream): void;
}

/** The session of a stream (session.ts), as the stream and its user need it. */
export interface StreamHost {
  readonly sender: FrameSender;
  readonly budget: WindowBudget;
  readonly pulse: Pick<Pulse, 'spoke'>;
  readonly closed: boolean;
  /** This side says when nothing waits behind what it has sent on a stream, and the peer does. */
  readonly saysClear: boolean;
  readonly hearsClear: boolean;
  /** Where the bytes of the present read are: a sink that needs them longer holds it. */
  readonly readSlab: Slab;
  nowMs(): number;
  freshRttMs(): number;
  /** What waited for the peer's window is out. */
  drained(stream: MuxStream): void;
  /** The stream is gone. */
  forget(stream: MuxStream): void;
}

/** Takes what arrives on a stream without a reader: window is given back, so that the sender ends. */
export const deafSink: StreamSink = {
  onData: (stream, _bytes, start, end) => stream.consumed(end - start),
  onEnd: () => {},
  onReset: () => {},
  onDrain: () => {},
};

export class MuxStream implements Waiter {
  readonly id: number;
  readonly session: StreamHost;
  sink: StreamSink = deafSink;
  /**
   * False: its receive window stays as it began. For bytes that are worthless when they are late, of which a window that doubles whenever the
   * sender fills it would keep seconds under way.
   */
  mayGrow = true;
  /** The peer has said that nothing waits behind what came last. Stays false where the peer never says so (`session.hearsClear`). */
  isClear = false;
  /** `step` was said, and is not answered: bytes that come now are behind the last message. */
  #awaitsStep = false;
  /** The peer has said `step`: answered before the next byte. */
  #owesStep = false;
  /** Free for the user of the stream: its last use, its visitor. */
  lastUsedMs = 0;
  /** Why the peer has reset the stream, as an error code of HTTP/2; 0: it does not say. */
  resetCode = 0;

  /** What we may still send, and what the peer may still send. */
  #sendWindow = INITIAL_WINDOW;
  #receiveWindow = INITIAL_WINDOW;
  /** Size that the receive window is kept at; bytes read but not yet given back; when it was last given back. */
  #window = INITIAL_WINDOW;
  #unreported = 0;
  #reportedAtMs = 0;

  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #blocked = false;
  #waiting = false;

  #lane: LaneIndex = QUICK;
  #burst = 0;
  #mark = 0;

  #endSent = false;
  #endWanted = false;
  #endReceived = false;
  #gone = false;
  acked: boolean;

  constructor(session: StreamHost, id: number, acked: boolean) {
    this.session = session;
    this.id = id;
    this.acked = acked;
  }

  /** Reset, or closed by both sides: nothing more can happen. */
  get gone(): boolean {
    return this.#gone;
  }

  /** The peer has ended its direction. */
  get ended(): boolean {
    return this.#endReceived;
  }

  /** This side has ended its direction, or will once what is pending is out. */
  get endedHere(): boolean {
    return this.#endSent || this.#endWanted;
  }

  /** Bytes accepted by `write` that the peer's window does not yet allow. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** As much `write` sends now; of what is beyond it keeps a copy. */
  get room(): number {
    return this.#pendingBytes > 0 ? 0 : this.#sendWindow;
  }

  /** For a caller that writes no more than there is `room` for: `sink.onDrain` comes when there is some again. */
  awaitRoom(): void {
    this.#blocked = true;
  }

  /**
   * Sends `bytes[start, end)`, all of it: what the peer's window does not allow yet is copied and kept. Returns false when the
   * caller must stop until `sink.onDrain`. A caller that goes on regardless for more than 1 MB has a bug and loses the stream.
   */
  write(bytes: Uint8Array, start = 0, end: number = bytes.length): boolean {
    if (this.#gone || this.#endSent || this.#endWanted) return true;
    if (this.#owesStep) this.#answerStep();
    const length = end - start;
    const { sender } = this.session;
    if (this.#pendingBytes > 0 || length > this.#sendWindow || length > sender.pieces.turn)
      return this.#writeLater(bytes, start, end);
    const lane = this.#laneFor(length);
    if (sender.full(lane)) return this.#writeLater(bytes, start, end);
    this.#sendWindow -= length;
    this.#put(lane, bytes, start, end);
    return this.#goOn();
  }

  /**
   * Opens a frame of `length` bytes and returns where its payload goes in `target()`, or -1 when that needs the slow way
   * (`write`): window too small, something pending, lane full, or longer than a slab. After filling it call `settled()`.
   */
  reserve(length: number): number {
    if (this.#pendingBytes > 0 || length > this.#sendWindow || length > MAX_RESERVE || this.#gone || this.endedHere)
      return -1;
    const lane = this.#laneFor(length);
    if (this.session.sender.full(lane)) return -1;
    this.#sendWindow -= length;
    this.#enterLane(lane, length);
    const at = this.session.sender.reserve(this.#lane, this.id, length);
    this.#mark = this.session.sender.mark(this.#lane);
    return at;
  }

  /**
   * Sends a whole slab whose payload of `length` bytes lies behind HEADER_BYTES of room, without copying. Null when that needs the
   * slow way (`write`) and the slab is still the caller's; else the sender's, and false when the caller must stop until
   * `sink.onDrain`.
   */
  donate(slab: Slab, length: number): boolean | null {
    const { sender } = this.session;
    if (this.#owesStep) this.#answerStep();
    if (this.#pendingBytes > 0 || length > this.#sendWindow || this.#gone || this.endedHere) return null;
    if (length > sender.pieces.turn) return null;
    const lane = this.#laneFor(length);
    if (sender.full(lane)) return null;
    this.#sendWindow -= length;
    this.#enterLane(lane, length);
    sender.donate(lane, this.id, slab, length);
    this.#mark = sender.mark(lane);
    return this.#goOn();
  }

  target(): Buffer {
    return this.session.sender.target(this.#lane);
  }

  /** After `reserve`: false when the caller must stop until `sink.onDrain`. */
  settled(): boolean {
    return this.#goOn();
  }

  /**
   * The caller has written all that there was to read: the peer may take the end of a message for one. Says nothing while something of it still waits
   * here, or to a peer that has not asked for it.
   */
  clear(): void {
    const { sender, saysClear } = this.session;
    if (!saysClear || this.#pendingBytes > 0 || this.#gone || this.endedHere) return;
    sender.clear(this.#lane, this.id);
    // What comes next must not overtake it in the other lane.
    this.#mark = sender.mark(this.#lane);
  }

  /** The next message to the peer begins, which answers each by one: what the peer has under way belongs to none. For peers that are `hearsClear`. */
  step(): void {
    if (this.#gone || this.endedHere) return;
    this.#awaitsStep = true;
    // In the quick lane: nothing that is sent later goes before it.
    this.session.sender.control(QUICK, TYPE.window, FLAG.step, this.id, 0);
  }

  /** `bytes` received bytes have left the caller's hands: gives window back, and more of it when the reader outruns it. */
  consumed(bytes: number): void {
    this.#unreported += bytes;
    if (this.#unreported >= this.#window >>> 1 && !this.#endReceived && !this.#gone) this.#report();
  }

  /** Ends this direction (FIN) after everything written. The other direction goes on. */
  end(): void {
    if (this.endedHere || this.#gone) return;
    if (this.#pendingBytes > 0) {
      this.#endWanted = true;
      return;
    }
    this.#sendEnd();
  }

  /** Ends both directions at once (RST). The sink hears nothing more. `code`: why, as an error code of HTTP/2; 0: not said. */
  reset(code = 0): void {
    this.sink = deafSink;
    if (this.#gone) return;
    const flags = FLAG.rst | (Math.min(code, MAX_RESET_CODE) << RESET_CODE_BIT);
    this.session.sender.control(this.#lane, TYPE.window, flags, this.id, 0);
    this.#leave();
  }

  // ------------------------------------------------------------------ called by the session and the sender only

  /** The peer sent `length` bytes: false when that is more than it was allowed to. */
  admit(length: number): boolean {
    if (length > this.#receiveWindow) return false;
    this.#receiveWindow -= length;
    return true;
  }

  /** The peer may be sent `delta` more bytes. False when the sum is beyond what 32 bits can hold. */
  windowGrew(delta: number): boolean {
    this.#sendWindow += delta;
    if (this.#sendWindow > 0xffff_ffff) return false;
    if (this.#pendingBytes > 0 || this.#blocked) this.#sendPending();
    return true;
  }

  /** The session's lane has drained. */
  roomAgain(): void {
    this.#waiting = false;
    this.#sendPending();
  }

  #sendPending(): void {
    if (this.#gone) return;
    const { pieces } = this.session.sender;
    while (this.#pendingBytes > 0 && this.#sendWindow > 0) {
      const first = this.#pending[0] as Buffer;
      const length = Math.min(this.#sendWindow, first.length, pieces.turn);
      const lane = this.#laneFor(pieces === WHOLE ? length : this.#pendingBytes);
      if (this.#mustWait(lane)) return;
      this.#sendWindow -= length;
      this.#pendingBytes -= length;
      if (length === first.length) this.#pending.shift();
      else this.#pending[0] = first.subarray(length);
      this.#put(lane, first, 0, length);
    }
    if (this.#pendingBytes > 0 || !this.#blocked) return;
    if (this.#mustWait(this.#lane)) return;
    this.#blocked = false;
    if (this.#endWanted) {
      this.#endWanted = false;
      this.#sendEnd();
    } else if (!this.#endSent) {
      this.session.drained(this);
    }
  }

  /** A frame without bytes has a reason: it accepts or ends something that was not accepted or ended before. */
  explains(flags: number): boolean {
    if ((flags & (FLAG.syn | FLAG.rst)) !== 0) return true;
    return (
      ((flags & FLAG.ack) !== 0 && !this.acked) ||
      ((flags & FLAG.fin) !== 0 && !this.#endReceived) ||
      ((flags & FLAG.clear) !== 0 && !this.isClear) ||
      ((flags & FLAG.step) !== 0 && this.#awaitsStep)
    );
  }

  /** Bytes come that were sent before the peer knew of the message at hand. */
  get isOutOfStep(): boolean {
    return this.#awaitsStep;
  }

  /** The peer says `step`. With bytes that still wait here it is out of step. */
  stepArrived(): void {
    if (this.#gone) return;
    if (this.#pendingBytes > 0) this.fail();
    else this.#owesStep = true;
  }

  stepAnswered(): void {
    this.#awaitsStep = false;
  }

  /** Ends both directions; unlike with `reset` the sink is notified. */
  fail(): void {
    const sink = this.sink;
    this.reset();
    sink.onReset(this);
  }

  clearArrived(): void {
    this.isClear = true;
  }

  finArrived(): void {
    if (this.#endReceived || this.#gone) return;
    this.#endReceived = true;
    if (this.#endSent) this.#leave();
    this.sink.onEnd(this);
  }

  rstArrived(): void {
    if (this.#gone) return;
    const sink = this.sink;
    this.sink = deafSink;
    this.#leave();
    sink.onReset(this);
  }

  /** What the peer may still have under way to a stream that this side has left. */
  get receiveAllowance(): number {
    return this.#receiveWindow;
  }

  // ------------------------------------------------------------------

  #writeLater(bytes: Uint8Array, start: number, end: number): boolean {
    const { sender } = this.session;
    let from = start;
    while (this.#pendingBytes === 0 && this.#sendWindow > 0 && from < end) {
      const now = Math.min(this.#sendWindow, end - from, sender.pieces.turn);
      const lane = this.#laneFor(sender.pieces === WHOLE ? now : end - from);
      if (sender.full(lane)) {
        this.#mustWait(lane);
        break;
      }
      this.#sendWindow -= now;
      this.#put(lane, bytes, from, from + now);
      from += now;
    }
    if (from === end) return this.#goOn();
    this.#blocked = true;
    this.#pending.push(Buffer.from(bytes.subarray(from, end)));
    this.#pendingBytes += end - from;
    if (this.#pendingBytes > MAX_PENDING) this.fail();
    return false;
  }

  /** In the lane of the bytes before, and so behind them. */
  #answerStep(): void {
    this.#owesStep = false;
    const { sender } = this.session;
    sender.control(this.#lane, TYPE.data, FLAG.step, this.id, 0);
    this.#mark = sender.mark(this.#lane);
  }

  /** Plain arguments: this is per frame. */
  #put(lane: LaneIndex, bytes: Uint8Array, start: number, end: number): void {
    this.#enterLane(lane, end - start);
    const { sender, pulse } = this.session;
    pulse.spoke = true;
    sender.data(this.#lane, this.id, bytes, start, end);
    this.#mark = sender.mark(this.#lane);
  }

  /**
   * Where the next `length` bytes go. Everything put before is out: a new burst, which begins in the quick lane. Not while more of it waits
   * for its next turn under a limit.
   */
  #laneFor(length: number): LaneIndex {
    const { sender } = this.session;
    if (sender.done(this.#lane) >= this.#mark && (this.#pendingBytes === 0 || sender.pieces === WHOLE)) {
      this.#lane = QUICK;
      this.#mark = 0;
      this.#burst = 0;
    }
    return this.#lane === QUICK && this.#burst + length <= sender.pieces.burst ? QUICK : BULK;
  }

  #enterLane(lane: LaneIndex, length: number): void {
    this.#burst += length;
    if (lane === this.#lane) return;
    this.#lane = lane;
    this.session.sender.enterBulk();
  }

  #goOn(): boolean {
    if (!this.#mustWait(this.#lane)) return true;
    this.#blocked = true;
    return false;
  }

  #mustWait(lane: LaneIndex): boolean {
    if (!this.session.sender.congested(lane)) return false;
    if (!this.#waiting) {
      this.#waiting = true;
      this.session.sender.wait(lane, this);
    }
    return true;
  }

  #report(): void {
    const now = this.session.nowMs();
    const next = nextWindow(this.#window, now - this.#reportedAtMs, this.session.freshRttMs());
    const { budget } = this.session;
    const largest = budget.largestWindow;
    let delta = this.#unreported;
    this.#reportedAtMs = now;
    this.#unreported = 0;
    if (this.#window > largest) {
      const size = Math.max(largest, this.#window - delta);
      budget.give(grownBy(this.#window) - grownBy(size));
      delta -= this.#window - size;
      this.#window = size;
      if (delta === 0) return;
    } else if (next > this.#window && this.mayGrow && next <= largest && budget.take(next - this.#window)) {
      delta += next - this.#window;
      this.#window = next;
    }
    this.#receiveWindow += delta;
    this.session.sender.control(QUICK, TYPE.window, 0, this.id, delta);
  }

  #sendEnd(): void {
    this.#endSent = true;
    this.session.sender.control(this.#lane, TYPE.window, FLAG.fin, this.id, 0);
    if (this.#endReceived) this.#leave();
  }

  #leave(): void {
    this.#gone = true;
    this.#pending = [];
    this.#pendingBytes = 0;
    if (this.#waiting) this.session.sender.unwait(this);
    this.session.budget.give(grownBy(this.#window));
    this.session.forget(this);
  }
}
