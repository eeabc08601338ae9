/**
 * Looks on at one stream of an http, https or websocket tunnel: follows its requests and answers as strictly as the edge does, and
 * copies what the allowance permits. Fed by tapped-pipe.ts before the bytes go on; it holds none of them and changes none.
 *
 *   request    head ──► body ──► done ─┐
 *   answer     head ──► body ──► done ─┴─► the next request
 *
 * The edge sends one request at a time down a stream. Whatever else happens there (two at once, a response without a request, what
 * is no HTTP/1.1) makes it let go of the stream: it looks at nothing more of it, and the bytes flow as if it had never been there.
 */
import { BODY, Body, type BodyTap, FRAMING, type Framing } from '../../../http1/body.ts';
import { SPACE } from '../../../http1/chars.ts';
import { CutHead } from '../../../http1/cut-head.ts';
import { INCOMPLETE, parseRequestHead, parseResponseHead } from '../../../http1/head.ts';
import type { BodyCapture } from './body-capture.ts';
import { plainRequestEnd } from './plain-head.ts';
import { RequestRecord } from '../request-record.ts';
import { HEAD_LIMITS, type TapFloor, type TapSubject } from './tap-floor.ts';

/** Interim answers (1xx) before the real one. */
const MAX_INTERIM = 16;

const REQUEST = { head: 0, body: 1, done: 2, upgrade: 3 } as const;
const ANSWER = { head: 0, body: 1, done: 2 } as const;

export class StreamTap {
  readonly #floor: TapFloor;
  readonly #subject: TapSubject;
  readonly #requestBody = new Body();
  readonly #answerBody = new Body();
  #request: (typeof REQUEST)[keyof typeof REQUEST] = REQUEST.head;
  #answer: (typeof ANSWER)[keyof typeof ANSWER] = ANSWER.done;
  /** Beginnings of heads that the end of a read has cut. */
  #requestPart: Buffer | null = null;
  #answerPart: Buffer | null = null;
  #cutRequest: CutHead | null = null;
  #cutAnswer: CutHead | null = null;
  #record: RequestRecord | null = null;
  #isHead = false;
  #startMs = 0;
  #interim = 0;
  #off = false;

  constructor(floor: TapFloor, subject: TapSubject) {
    this.#floor = floor;
    this.#subject = subject;
  }

  /** What is kept of the request that is under way; null: none is, or it is not kept. */
  get record(): RequestRecord | null {
    return this.#record;
  }

  /** `bytes[start, end)` are about to go to the service. Never throws. */
  request(bytes: Buffer, start: number, end: number): void {
    if (this.#off) return;
    try {
      this.#feedRequest(bytes, start, end);
    } catch (error) {
      this.#fault(error);
    }
  }

  /** `bytes[start, end)` came from the service. Never throws. */
  answer(bytes: Buffer, start: number, end: number): void {
    if (this.#off) return;
    try {
      this.#feedAnswer(bytes, start, end);
    } catch (error) {
      this.#fault(error);
    }
  }

  /** The service has ended its direction. */
  answerEnded(): void {
    if (this.#off || this.#answer !== ANSWER.body || this.#answerBody.framing !== FRAMING.untilClose) return;
    try {
      this.#answered();
    } catch (error) {
      this.#fault(error);
    }
  }

  /** In place of `closed` and of an answer: the service can't be reached, and the edge answers with `status`. `fault` says why. */
  unreached(status: number, fault: string): void {
    if (this.#off) return;
    try {
      if (this.#answer === ANSWER.head) this.#answeredFor(status, fault);
    } catch (error) {
      this.#fault(error);
    }
    this.#off = true;
  }

  /** Stream and connection are over. */
  closed(): void {
    if (this.#off) return;
    this.#off = true;
    try {
      this.#cut();
    } catch (error) {
      this.#fault(error);
    }
  }

  #feedRequest(bytes: Buffer, start: number, end: number): void {
    let from = start;
    while (from < end && !this.#off) {
      switch (this.#request) {
        case REQUEST.head: {
          const part = this.#requestPart;
          if (part === null) {
            from = this.#requestHead(bytes, from, end);
            break;
          }
          const longer = this.#cutRequest?.add(part, bytes, from, end) ?? null;
          this.#requestPart = longer;
          if (longer !== null) return;
          const whole = Buffer.concat([part, bytes.subarray(from, end)]);
          return this.#feedRequest(whole, 0, whole.length);
        }
        case REQUEST.body: {
          const state = this.#requestBody.feed(bytes, from, end);
          if (state === BODY.bad) return this.#letGo();
          from = this.#requestBody.next;
          if (state === BODY.done) this.#requestDone();
          break;
        }
        case REQUEST.upgrade:
          return; // raw bytes of an upgrade that is not answered yet, as some clients send them
        case REQUEST.done:
          return this.#letGo();
      }
    }
  }

  /** Where to go on; `end` also when the head is not whole yet. */
  #requestHead(bytes: Buffer, start: number, end: number): number {
    const { head, allowance, tally } = this.#floor;
    if (allowance.isEmpty && this.#subject.replayOf === null) {
      const plainEnd = plainRequestEnd(bytes, start, end);
      if (plainEnd > 0) {
        tally.notKept++;
        this.#isHead = isHeadMethod(bytes, start);
        this.#begin(null);
        this.#request = REQUEST.done;
        return plainEnd;
      }
    }
    const headEnd = parseRequestHead(bytes, start, end, head);
    if (headEnd === INCOMPLETE) {
      this.#cutRequest ??= new CutHead(HEAD_LIMITS.headBytes);
      this.#requestPart = this.#cutRequest.keep(bytes, start, end);
      return end;
    }
    if (headEnd < 0) {
      this.#letGo();
      return end;
    }
    const isUpgrade = head.connectionUpgrade && head.upgradeCount > 0;
    const framing = head.chunked ? FRAMING.chunked : head.contentLength > 0 ? FRAMING.length : FRAMING.none;
    this.#isHead = isHeadMethod(bytes, start);
    this.#begin(this.#keep(bytes, start, headEnd));
    if (isUpgrade) this.#request = REQUEST.upgrade;
    else if (framing === FRAMING.none) this.#requestDone();
    else {
      this.#requestBody.start(framing, head.contentLength, false, null, this.#captureOf(this.#record?.requestBody));
      this.#request = REQUEST.body;
    }
    return headEnd;
  }

  #begin(record: RequestRecord | null): void {
    this.#record = record;
    this.#interim = 0;
    this.#answer = ANSWER.head;
  }

  #keep(bytes: Buffer, start: number, headEnd: number): RequestRecord | null {
    const { head, ring, allowance, tally, clock } = this.#floor;
    const { tunnel, route = null, replayOf, agoMs = 0 } = this.#subject;
    if (replayOf === null && !allowance.take()) {
      tally.notKept++;
      return null;
    }
    this.#startMs = clock.monotonic() - agoMs;
    const record = new RequestRecord({
      tunnel,
      route,
      head: copyOf(bytes, start, headEnd),
      method: bytes.toString('latin1', start, head.methodEnd),
      target: bytes.toString('latin1', head.targetStart, head.targetEnd),
      at: clock.now() - agoMs,
      replayOf,
    });
    ring.add(record);
    return record;
  }

  #requestDone(): void {
    const record = this.#record;
    this.#request = REQUEST.done;
    if (record !== null) {
      record.requestEnded = true;
      if (this.#answer === ANSWER.done) record.requestBody.close();
      this.#floor.ring.weigh(record);
    }
    if (this.#answer === ANSWER.done) this.#request = REQUEST.head;
  }

  #feedAnswer(bytes: Buffer, start: number, end: number): void {
    let from = start;
    while (from < end && !this.#off) {
      switch (this.#answer) {
        case ANSWER.head: {
          const part = this.#answerPart;
          if (part === null) {
            from = this.#answerHead(bytes, from, end);
            break;
          }
          const longer = this.#cutAnswer?.add(part, bytes, from, end) ?? null;
          this.#answerPart = longer;
          if (longer !== null) return;
          const whole = Buffer.concat([part, bytes.subarray(from, end)]);
          return this.#feedAnswer(whole, 0, whole.length);
        }
        case ANSWER.body: {
          const state = this.#answerBody.feed(bytes, from, end);
          if (state === BODY.bad) return this.#letGo();
          from = this.#answerBody.next;
          if (state === BODY.done) this.#answered();
          break;
        }
        case ANSWER.done:
          return this.#letGo();
      }
    }
  }

  #answerHead(bytes: Buffer, start: number, end: number): number {
    const { head, clock, plain } = this.#floor;
    const { tally } = this.#subject;
    if (this.#record === null && this.#request === REQUEST.done && plain.read(bytes, start, end, this.#isHead)) {
      tally?.answered(plain.status);
      this.#answered();
      return plain.end;
    }
    const headEnd = parseResponseHead(bytes, start, end, head);
    if (headEnd === INCOMPLETE) {
      this.#cutAnswer ??= new CutHead(HEAD_LIMITS.headBytes);
      this.#answerPart = this.#cutAnswer.keep(bytes, start, end);
      return end;
    }
    if (headEnd < 0 || (head.status < 200 && ++this.#interim > MAX_INTERIM)) {
      this.#letGo();
      return end;
    }
    if (head.status < 200 && head.status !== 101) return headEnd;
    const { status } = head;
    const record = this.#record;
    tally?.answered(status);
    if (record !== null) {
      record.responseHead = copyOf(bytes, start, headEnd);
      record.status = status;
      record.firstByteMs = clock.monotonic() - this.#startMs;
    }
    if (status === 101) {
      this.#answered();
      this.#off = true; // what follows is another protocol
      return end;
    }
    if (this.#request === REQUEST.upgrade) this.#requestDone();
    const bodiless = this.#isHead || status === 204 || status === 304;
    const { chunked, contentLength } = head;
    const framing = framingOf(bodiless, chunked, contentLength);
    if (framing === FRAMING.none) {
      this.#answered();
      return headEnd;
    }
    this.#answer = ANSWER.body;
    this.#answerBody.start(framing, contentLength, false, null, this.#captureOf(record?.responseBody));
    if (record !== null) this.#told(record);
    return headEnd;
  }

  #answered(): void {
    const { tally, onEnd } = this.#subject;
    const record = this.#record;
    this.#answer = ANSWER.done;
    if (record === null) {
      if (tally !== null) tally.requests.count++;
    } else {
      const nowMs = this.#floor.clock.monotonic();
      tally?.requests.mark(nowMs, nowMs - this.#startMs);
      record.end('done', nowMs - this.#startMs);
      if (record.status === 400 || record.status === 403) this.#subject.onRefused?.(record);
      this.#told(record);
    }
    if (this.#request === REQUEST.done) this.#request = REQUEST.head;
    onEnd?.(record);
  }

  #answeredFor(status: number, fault: string): void {
    const record = this.#record;
    this.#subject.tally?.answered(status);
    if (record !== null) {
      record.status = status;
      record.fault = fault;
      record.requestBody.close(); // the rest of it is not recorded
    }
    this.#answered();
  }

  /** Receives the payload of a body of the record; null: nothing does. */
  #captureOf(capture: BodyCapture | undefined): BodyTap | null {
    const record = this.#record;
    if (record === null || capture === undefined) return null;
    const { ring } = this.#floor;
    return {
      payload: (bytes, start, end) => {
        const { held } = capture;
        capture.add(bytes, start, end);
        if (capture.held !== held) ring.weigh(record);
      },
    };
  }

  #told(record: RequestRecord): void {
    this.#floor.ring.weigh(record);
    this.#floor.ring.tell(record);
  }

  #letGo(): void {
    if (this.#off) return;
    this.#off = true;
    this.#floor.tally.letGo++;
    this.#cut();
  }

  #fault(error: unknown): void {
    const { tally, onFault } = this.#floor;
    this.#off = true;
    tally.faults++;
    if (this.#record?.state === 'open') this.#record.state = 'cut';
    this.#record = null;
    onFault(error);
  }

  /** What is under way gets no end. */
  #cut(): void {
    const { clock } = this.#floor;
    const record = this.#record;
    if (this.#answer !== ANSWER.done && record !== null) {
      record.end('cut', clock.monotonic() - this.#startMs);
      this.#told(record);
    }
    if (this.#answer !== ANSWER.done) this.#subject.onEnd?.(record);
    this.#record = null;
  }
}

function framingOf(bodiless: boolean, chunked: boolean, contentLength: number): Framing {
  if (bodiless) return FRAMING.none;
  if (chunked) return FRAMING.chunked;
  if (contentLength === 0) return FRAMING.none;
  return contentLength > 0 ? FRAMING.length : FRAMING.untilClose;
}

/** Into memory of its own: a slice of Node's pool would keep its neighbours alive. */
function copyOf(bytes: Buffer, start: number, end: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(end - start);
  bytes.copy(copy, 0, start, end);
  return copy;
}

/** Whether the head at `start` begins with `HEAD` and a space. */
function isHeadMethod(bytes: Buffer, start: number): boolean {
  return bytes[start] === 72 && bytes[start + 4] === SPACE && bytes.toString('latin1', start, start + 4) === 'HEAD';
}
