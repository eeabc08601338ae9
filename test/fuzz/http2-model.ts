/**
 * One connection of the HTTP/2 fuzzer, made from a seed: frames by chance are fed to the engine, cut anywhere, while a user of every habit takes and
 * answers what comes. Throws where a rule is broken: an exception, a head that is none, events in the wrong order, frames that no server may send,
 * window that is not given back.
 */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { SlabPool } from '../../src/base/bytes/slab.ts';
import { TurnEnd, type TurnJob } from '../../src/base/process/turn.ts';
import { Http2ServerConnection } from '../../src/http2/connection/connection.ts';
import { BufferPool } from '../../src/http2/connection/sending/out-buffer.ts';
import { HeadScratch } from '../../src/http2/request-head.ts';
import type { Http2Limits } from '../../src/http2/types.ts';
import { WindowBudget } from '../../src/mux/window.ts';
import { settingsFrame } from '../http2/raw-client.ts';
import { FrameSource } from './http2-frames.ts';
import { OutputCheck } from './http2-output.ts';
import { FuzzUser } from './http2-user.ts';
import { random } from './mux-model.ts';

const LIMITS: Http2Limits = { maxStreams: 100, resetsPerSecond: 20, headBytes: 32_768, headFields: 200 };
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const BUDGET = 64 << 20;
const FRAMES_PER_ROUND = 100;
const MOST_ROUNDS = 40;
/** A round that takes longer hangs. */
const HANG_MS = 10_000;
/** What users may be given and not have read: windows of a connection, and what they may grow by. */
const MOST_UNREAD = 24 << 20;

/** Keeps what a job throws at the end of a turn: uncaught, it would end the process without the seed. */
class FuzzTurn extends TurnEnd {
  readonly faults: unknown[] = [];

  override add(job: TurnJob): void {
    void setImmediate().then(() => this.guard(() => job.atTurnEnd()));
  }

  guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.faults.push(error);
    }
  }

  check(): void {
    if (this.faults.length > 0) throw this.faults.splice(0)[0];
  }
}

/** What the connections of a process share. */
const turn = new FuzzTurn();
const budget = new WindowBudget(BUDGET);
const shared = {
  limits: LIMITS,
  turn,
  budget,
  pool: new BufferPool(),
  head: new HeadScratch(LIMITS),
  readBuffer: Buffer.alloc(65_536),
};
const slabs = new SlabPool();

class FuzzSocket extends EventEmitter {
  readonly encrypted = true;
  writableEnded = false;
  destroyed = false;
  isPaused = false;
  writableLength = 0;
  readonly #check: OutputCheck;
  readonly #isSlow: () => boolean;

  constructor(check: OutputCheck, isSlow: () => boolean) {
    super();
    this.#check = check;
    this.#isSlow = isSlow;
  }

  write(bytes: Buffer, done: () => void): boolean {
    assert.ok(!this.writableEnded, 'a write behind the end');
    this.#check.read(bytes);
    this.writableLength = bytes.length;
    const finish = (): void => {
      this.writableLength = 0;
      if (!this.destroyed) turn.guard(done);
    };
    if (this.#isSlow()) setTimeout(finish, 1);
    else void setImmediate().then(finish);
    return true;
  }

  pause(): this {
    this.isPaused = true;
    return this;
  }

  resume(): this {
    this.isPaused = false;
    return this;
  }

  end(): void {
    this.writableEnded = true;
  }

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit('close');
  }
}

/** What connections came to. */
export interface Tally {
  frames: number;
  /** Requests, and those of them that the edge would take. */
  requests: number;
  taken: number;
  /** Connections that the engine ended. */
  ended: number;
}

/** Runs one connection to its end. */
export async function http2Round(seed: number, tally: Tally): Promise<void> {
  const pick = random(seed);
  const wild = [0, 1, 10, 100][pick(4)] as number;
  const source = new FrameSource(seed, wild);
  const check = new OutputCheck(pick(20) === 0);
  const socket = new FuzzSocket(check, () => pick(200) === 0);
  const user = new FuzzUser(pick, slabs);
  let nowMs = 1_000;
  const clock = { now: () => nowMs, monotonic: () => nowMs };
  const connection = new Http2ServerConnection(socket as unknown as Socket, user, { ...shared, clock });
  connection.start();
  socket.emit('data', Buffer.concat([PREFACE, settingsFrame([4, 1 << pick(31)])]));
  for (let round = 0; round < MOST_ROUNDS && !connection.isOver && !socket.destroyed; round++) {
    const began = performance.now();
    feed(pick, socket, source.round(FRAMES_PER_ROUND));
    user.act();
    await setImmediate();
    assert.ok(performance.now() - began < HANG_MS, 'a round hangs');
    assert.ok(user.unread <= MOST_UNREAD, `${user.unread} bytes were given and not read`);
    nowMs += pick(pick(4) === 0 ? 3_000 : 300);
    if (pick(4) === 0) connection.sweep(nowMs);
    user.check();
    turn.check();
  }
  if (connection.isOver) tally.ended++;
  if (pick(8) === 0) connection.drain();
  user.act();
  await setImmediate();
  socket.destroy();
  user.check();
  turn.check();
  user.checkEnd();
  assert.equal(budget.left, BUDGET, 'windows are given back');
  tally.frames += source.frames;
  tally.requests += user.requests;
  tally.taken += user.taken;
}

/** As reads of any size. */
function feed(pick: (below: number) => number, socket: FuzzSocket, bytes: Buffer): void {
  const style = pick(4);
  let at = 0;
  while (at < bytes.length && !socket.isPaused && !socket.destroyed) {
    const most = [65_536, 16_384, 1_000, 30][style] as number;
    const end = Math.min(bytes.length, at + 1 + pick(most));
    socket.emit('data', bytes.subarray(at, end));
    at = end;
  }
}
