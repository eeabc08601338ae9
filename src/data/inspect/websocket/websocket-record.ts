/**
 * The record of one WebSocket: duration, bytes and frames in both directions, the close code, and the first frames if they are recorded.
 * Made at the upgrade by draft.ts, held by the exchange. Reported at its end, and while it is open after growing intervals. An error in
 * here ends the count and never the connection.
 */
import type { BodyTap } from '../../../http1/body.ts';
import type { RecordedFrame, WebSocketUpdate } from '../../../plane/inspection.ts';
import type { TunnelRecords } from '../tunnel-records.ts';
import { FrameCapture } from './frame-capture.ts';
import { FrameScanner } from './frame-scanner.ts';

/** First report of an open connection, and the longest interval between reports. The interval grows with its age. */
const FIRST_TOLD_MS = 2_000;
const MAX_TOLD_MS = 60_000;

export interface WebSocketOwner {
  /** Memory for frames; false: none. */
  takeFrames(of: TunnelRecords, bytes: number): boolean;
  giveFrames(of: TunnelRecords, bytes: number): void;
  /** It has a report for the next batch. */
  changed(record: WebSocketRecord): void;
  failed(error: unknown): void;
}

export class WebSocketRecord {
  readonly id: string;
  readonly of: TunnelRecords;
  readonly fromVisitor: Direction;
  readonly fromService: Direction;
  readonly #owner: WebSocketOwner;
  readonly #capture: FrameCapture | null;
  readonly #startedMs = performance.now();
  #endedMs = 0;
  #isOpen = true;
  #closedBy: 'visitor' | 'service' | null = null;
  #closeCode = 0;
  #heldBytes = 0;
  #tellMs = this.#startedMs + FIRST_TOLD_MS;
  #toldBytes = 0;
  /** There is something that no update has told yet. */
  #isChanged = false;
  /** Frames that are stored. */
  #storedFrames = -1;

  constructor(owner: WebSocketOwner, of: { id: string; tunnel: TunnelRecords; recordsFrames: boolean }) {
    this.#owner = owner;
    this.id = of.id;
    this.of = of.tunnel;
    const capture = of.recordsFrames ? new FrameCapture(this) : null;
    this.#capture = capture;
    const closed = (from: 'visitor' | 'service', code: number): void => this.#closed(from, code);
    const failed = (error: unknown): void => owner.failed(error);
    this.fromVisitor = new Direction(new FrameScanner(true, capture?.fromVisitor ?? null), {
      closed: (code) => closed('visitor', code),
      failed,
    });
    this.fromService = new Direction(new FrameScanner(false, capture?.fromService ?? null), {
      closed: (code) => closed('service', code),
      failed,
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get elapsedMs(): number {
    return Math.round((performance.now() - this.#startedMs) * 10) / 10;
  }

  grow(bytes: number): boolean {
    if (!this.#owner.takeFrames(this.of, bytes)) return false;
    this.#heldBytes += bytes;
    return true;
  }

  /** Once a second or so, while it is open. */
  tick(nowMs: number): void {
    if (nowMs < this.#tellMs) return;
    const bytes = this.fromVisitor.bytes + this.fromService.bytes;
    if (bytes === this.#toldBytes) return;
    this.#toldBytes = bytes;
    const age = nowMs - this.#startedMs;
    this.#tellMs = nowMs + Math.min(Math.max(age, FIRST_TOLD_MS), MAX_TOLD_MS);
    this.#change();
  }

  /** The connection is over. */
  end(): void {
    this.#endedMs = this.elapsedMs;
    this.#isOpen = false;
    this.#change();
  }

  /** Bytes of frames that the next update has. */
  get untoldBytes(): number {
    return this.#untold === null ? 0 : this.#untold.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  /** What there is to tell now. The bytes of frames go to `out` from `at` on, `untoldBytes` of them. */
  update(out: Buffer, at: number): WebSocketUpdate {
    const { fromVisitor, fromService } = this;
    this.#isChanged = false;
    let end = at;
    const copied = (frame: RecordedFrame): RecordedFrame => {
      const start = end;
      out.set(frame.bytes, start);
      end += frame.bytes.length;
      return { ...frame, bytes: new Uint8Array(out.buffer, out.byteOffset + start, frame.bytes.length) };
    };
    return {
      id: this.id,
      tunnelId: this.of.tunnelId,
      orgId: this.of.orgId,
      isOpen: this.#isOpen,
      durationMs: this.#isOpen ? this.elapsedMs : this.#endedMs,
      bytesIn: fromVisitor.bytes,
      bytesOut: fromService.bytes,
      framesIn: fromVisitor.frames,
      framesOut: fromService.frames,
      isFramed: fromVisitor.isFramed && fromService.isFramed,
      closedBy: this.#closedBy,
      closeCode: this.#closeCode === 0 ? null : this.#closeCode,
      framesLeftOut: this.#capture?.leftOut ?? 0,
      frames: this.#untold?.map(copied) ?? null,
    };
  }

  /** An update with so many frames is stored, -1: without any; or it is lost, and is not reported again. */
  told(frames: number): void {
    if (frames >= 0) this.#storedFrames = frames;
    const capture = this.#capture;
    // There was more to tell meanwhile.
    if (capture === null || this.#isChanged) return;
    if (!this.#isOpen || (capture.isFull && capture.frames.length === this.#storedFrames)) this.giveUp();
  }

  /** Keeps no frames any more. May be called twice. */
  giveUp(): void {
    this.#capture?.drop();
    this.#owner.giveFrames(this.of, this.#heldBytes);
    this.#heldBytes = 0;
  }

  #change(): void {
    this.#isChanged = true;
    this.#owner.changed(this);
  }

  get #untold(): readonly RecordedFrame[] | null {
    const frames = this.#capture?.frames;
    // Those that were given up with their memory are stored.
    if (frames === undefined || frames.length <= this.#storedFrames) return null;
    return frames;
  }

  #closed(from: 'visitor' | 'service', code: number): void {
    if (this.#closedBy !== null) return;
    this.#closedBy = from;
    this.#closeCode = code;
  }
}

/** One direction: the bytes that pass, on their way. */
export class Direction implements BodyTap {
  bytes = 0;
  readonly #scanner: FrameScanner;
  readonly #owner: { closed(code: number): void; failed(error: unknown): void };
  #isOver = false;

  constructor(scanner: FrameScanner, owner: { closed(code: number): void; failed(error: unknown): void }) {
    this.#scanner = scanner;
    this.#owner = owner;
  }

  get frames(): number {
    return this.#scanner.frames;
  }

  get isFramed(): boolean {
    return !this.#scanner.isBroken;
  }

  payload(bytes: Buffer, start: number, end: number): void {
    this.bytes += end - start;
    if (this.#isOver) return;
    try {
      this.#scanner.scan(bytes, start, end);
      // Nothing of meaning follows a close frame.
      if (!this.#scanner.isClosed) return;
      this.#isOver = true;
      this.#owner.closed(this.#scanner.closeCode);
    } catch (error) {
      this.#isOver = true;
      this.#owner.failed(error);
    }
  }
}
