/** A user of the HTTP/2 engine with every habit: it answers at once, late or never, reads late, resets. It throws where the engine breaks its contract. */
import assert from 'node:assert/strict';
import type { SlabPool } from '../../src/base/bytes/slab.ts';
import type { Http2Stream, Http2StreamSink, Http2User, RequestHead } from '../../src/http2/types.ts';
import { checkHead, isTaken } from './http2-heads.ts';

type Pick = (below: number) => number;

const FIELDS = ['Content-Type: text/plain', 'X-Kind: fuzz', 'Cache-Control: no-store', 'Set-Cookie: a=b'];
const BODY = Buffer.alloc(200_000, 'answer ');
const NONE = Buffer.alloc(0);

export class FuzzUser implements Http2User {
  readonly #pick: Pick;
  readonly #slabs: SlabPool;
  readonly #open = new Set<Exchange>();
  readonly #faults: unknown[] = [];
  #closes = 0;
  requests = 0;
  taken = 0;
  /** Bytes that were given and not consumed. */
  unread = 0;

  constructor(pick: Pick, slabs: SlabPool) {
    this.#pick = pick;
    this.#slabs = slabs;
  }

  onRequest(stream: Http2Stream, head: RequestHead, isWhole: boolean): void {
    assert.equal(this.#closes, 0, 'a request on a connection that is closed');
    const exchange = new Exchange(this, stream, this.#pick, isWhole, this.#slabs);
    this.#open.add(exchange);
    this.requests++;
    stream.sink = exchange;
    if (head.reason !== '') {
      stream.answer(head.isTooLarge ? 431 : 400, FIELDS, head.isHead ? NONE : Buffer.from(head.reason), true);
      return;
    }
    if (!isTaken(head)) return stream.answer(400, FIELDS, NONE, true);
    this.taken++;
    exchange.length = checkHead(head, isWhole);
    if (this.#pick(3) > 0) exchange.answer();
  }

  onOffence(): void {}

  onVisitorEnd(): void {}

  onClose(): void {
    this.#closes++;
  }

  onFault(error: unknown): void {
    this.#faults.push(error);
  }

  forget(exchange: Exchange): void {
    this.#open.delete(exchange);
  }

  /** What users do in their own time. */
  act(): void {
    for (const exchange of this.#open) exchange.act();
  }

  /** Throws what the engine caught: an exception of it, or a check of ours. */
  check(): void {
    if (this.#faults.length > 0) throw this.#faults[0];
  }

  /** The connection is gone. */
  checkEnd(): void {
    assert.equal(this.#closes, 1, 'closed once');
    assert.equal(this.#open.size, 0, 'each stream is over');
  }
}

class Exchange implements Http2StreamSink {
  readonly #user: FuzzUser;
  readonly #stream: Http2Stream;
  readonly #pick: Pick;
  readonly #slabs: SlabPool;
  /** What the head says of the body; -1: nothing. */
  length = -1;
  #received = 0;
  #unread = 0;
  #hasEnded: boolean;
  #isOver = false;
  #isAnswered = false;
  #isEnding = false;
  /** It has ended its own half alone. */
  #isHalf = false;
  /** Bytes whose credit is out. */
  #credit = 0;

  constructor(user: FuzzUser, stream: Http2Stream, pick: Pick, isWhole: boolean, slabs: SlabPool) {
    this.#user = user;
    this.#stream = stream;
    this.#pick = pick;
    this.#slabs = slabs;
    this.#hasEnded = isWhole;
  }

  answer(): void {
    this.#isAnswered = true;
    const stream = this.#stream;
    const habit = this.#pick(10);
    if (habit === 0) return this.#reset();
    if (habit === 1) stream.answer(103, FIELDS, NONE, false);
    if (habit < 6) {
      this.#isEnding = true;
      stream.answer(200, FIELDS, habit < 4 ? NONE : BODY.subarray(0, this.#pick(BODY.length)), true);
    } else stream.answer(200, FIELDS, NONE, false);
  }

  act(): void {
    if (this.#isOver) return;
    const pick = this.#pick;
    if (this.#unread > 0 && pick(3) > 0) this.#consume(1 + pick(this.#unread));
    if (!this.#isAnswered) {
      if (pick(4) === 0) this.answer();
      return;
    }
    if (this.#isHalf && (this.#hasEnded || pick(10) === 0)) {
      this.#isHalf = false;
      return this.#stream.end();
    }
    if (this.#isEnding) return;
    if (pick(2) === 0) this.#push();
    if (pick(30) === 0) return this.#reset();
    if (pick(3) > 0) return;
    this.#isEnding = true;
    if (pick(3) === 0) this.#stream.trailers(Buffer.from('X-Sum: abc\r\ngrpc-status: 0\r\n'));
    else if (pick(4) === 0) {
      this.#isHalf = true;
      this.#stream.endHalf();
    } else this.#stream.end();
  }

  #push(): void {
    const slab = this.#slabs.take();
    const length = this.#pick(60_000);
    this.#credit += length;
    this.#stream.push(slab.bytes, 0, length, length, slab);
    slab.retire();
  }

  #consume(bytes: number): void {
    this.#unread -= bytes;
    this.#user.unread -= bytes;
    this.#stream.consumed(bytes);
  }

  #reset(): void {
    this.#leave();
    this.#stream.reset(this.#pick(14));
  }

  onData(stream: Http2Stream, _bytes: Buffer, start: number, end: number): void {
    this.#mayCome(stream);
    assert.ok(!this.#hasEnded, 'DATA behind the end');
    assert.ok(end > start, 'DATA without bytes');
    this.#received += end - start;
    assert.ok(this.length < 0 || this.#received <= this.length, 'more than its content-length');
    this.#unread += end - start;
    this.#user.unread += end - start;
    if (this.#pick(3) > 0) this.#consume(end - start);
  }

  onTrailers(stream: Http2Stream, bytes: Buffer, start: number, end: number): void {
    this.#mayCome(stream);
    assert.ok(!this.#hasEnded, 'trailers behind the end');
    const text = bytes.toString('latin1', start, end);
    // Nothing in them may frame, route or authenticate the request.
    assert.match(text, /^(?:[!#$%&'*+\-.^_`|~0-9a-z]+: [^\r\n\0]*\r\n)*$/);
    assert.doesNotMatch(
      text,
      /^(?:content-length|transfer-encoding|host|connection|authorization|cookie|te|upgrade): /m,
    );
  }

  onEnd(stream: Http2Stream): void {
    this.#mayCome(stream);
    assert.ok(!this.#hasEnded, 'two ends');
    this.#hasEnded = true;
    assert.ok(this.length < 0 || this.#received === this.length, `${this.#received} bytes of ${this.length}`);
  }

  onCredit(stream: Http2Stream, credit: number): void {
    this.#mayCome(stream);
    this.#credit -= credit;
    assert.ok(this.#credit >= 0, 'more credit than was given');
  }

  onReset(stream: Http2Stream): void {
    this.#mayCome(stream);
    this.#leave();
  }

  onDone(stream: Http2Stream): void {
    this.#mayCome(stream);
    this.#leave();
  }

  #mayCome(stream: Http2Stream): void {
    assert.ok(!this.#isOver, 'an event behind the last one');
    assert.equal(stream, this.#stream);
  }

  #leave(): void {
    this.#isOver = true;
    this.#user.unread -= this.#unread;
    this.#unread = 0;
    this.#user.forget(this);
  }
}
