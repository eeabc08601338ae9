/** Runs an attack from one connection and says what it cost the server. */
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type TLSSocket } from 'node:tls';
import { setTimeout } from 'node:timers/promises';
import { FRAME } from '../../harness/h2-frames.ts';
import { PREFACE, settingsFrame } from '../raw-client.ts';
import type { Attack } from './attacks.ts';
import type { Target } from './target.ts';

export interface Cost {
  /** The server closed the connection. */
  readonly isEnded: boolean;
  /** The code of GOAWAY; null: none came. */
  readonly goaway: number | null;
  readonly sent: number;
  readonly cpuMs: number;
  /** Bytes of memory. */
  readonly growth: number;
  /** Drops that were counted meanwhile. */
  readonly dropped: Readonly<Record<string, number>>;
}

/** What an attacker waits for room to write. */
const ROOM_MS = 2_000;
const FLOOD_BYTES = 256 << 20;
/** The end of a connection that is flooded may come after what is under way. */
const END_MS = 3_000;

/** A connection that keeps nothing of what it reads but the last GOAWAY. */
class Attacker {
  readonly socket: TLSSocket;
  isOver = false;
  goaway: number | null = null;
  sent = 0;
  #head = Buffer.alloc(0);
  #skip = 0;

  constructor(socket: TLSSocket) {
    this.socket = socket;
    socket.on('data', (bytes: Buffer) => this.#read(bytes));
    socket.on('error', () => undefined); // 'close' follows
    socket.on('close', () => (this.isOver = true));
  }

  static async open(port: number, isDeaf: boolean): Promise<Attacker> {
    const to = { host: '127.0.0.1', port, servername: 'shop.example.test', ALPNProtocols: ['h2'] };
    const socket = connect({ ...to, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const attacker = new Attacker(socket);
    if (isDeaf) socket.pause();
    return attacker;
  }

  /** Resolves when more can be written, or never will be. */
  async send(bytes: Buffer): Promise<void> {
    if (this.isOver || this.socket.destroyed) return;
    this.sent += bytes.length;
    if (this.socket.write(bytes)) return;
    const waits = new AbortController();
    const events = ['drain', 'close'].map((event) =>
      once(this.socket, event, { signal: waits.signal }).catch(() => []),
    );
    await Promise.race([...events, setTimeout(ROOM_MS, undefined, { ref: false })]);
    waits.abort();
  }

  async over(withinMs: number): Promise<boolean> {
    const until = performance.now() + withinMs;
    while (!this.isOver && performance.now() < until) await setTimeout(20);
    return this.isOver;
  }

  #read(bytes: Buffer): void {
    let all = this.#head.length === 0 ? bytes : Buffer.concat([this.#head, bytes]);
    for (;;) {
      const skipped = Math.min(this.#skip, all.length);
      all = all.subarray(skipped);
      this.#skip -= skipped;
      if (all.length < 9) break;
      const length = all.readUIntBE(0, 3);
      if (all[3] === FRAME.goaway) {
        if (all.length < 9 + length) break;
        this.goaway = all.readUInt32BE(13);
      }
      this.#skip = 9 + length;
    }
    this.#head = Buffer.from(all);
  }
}

/** Sends what the attack says until the server ends the connection, for `floodMs` at most. */
export async function run(target: Target, attack: Attack, floodMs = 20_000): Promise<Cost> {
  const before = await target.measure();
  const attacker = await Attacker.open(target.port, attack.isDeaf === true);
  await attacker.send(Buffer.concat([PREFACE, settingsFrame(), attack.first ?? Buffer.alloc(0)]));
  const began = performance.now();
  for (let stream = 1; !attacker.isOver && attacker.sent < FLOOD_BYTES && performance.now() - began < floodMs; ) {
    const [bytes, next] = attack.more(stream);
    stream = next;
    await attacker.send(bytes);
    // What came is read between two rounds.
    await setTimeout(0);
  }
  // One that reads nothing learns of the end when it writes or reads again.
  attacker.socket.resume();
  const isEnded = await attacker.over(END_MS);
  const after = await target.measure();
  attacker.socket.destroy();
  return {
    ...{ isEnded, goaway: attacker.goaway, sent: attacker.sent },
    cpuMs: after.cpuMs - before.cpuMs,
    growth: after.rss - before.rss,
    dropped: difference(before.dropped, after.dropped),
  };
}

/** A connection that sends this and then waits: the server's drops are watched until one of the reasons is counted. */
export async function wait(target: Target, frames: Buffer, reasons: readonly string[], isDeaf: boolean): Promise<Cost> {
  const before = await target.measure();
  const attacker = await Attacker.open(target.port, isDeaf);
  await attacker.send(frames);
  const until = performance.now() + 10_000;
  let after = before;
  const isCounted = (): boolean =>
    reasons.some((reason) => (difference(before.dropped, after.dropped)[reason] ?? 0) > 0);
  let growth = 0;
  while (!isCounted() && performance.now() < until) {
    await setTimeout(250);
    after = await target.measure();
    growth = Math.max(growth, after.rss - before.rss);
  }
  attacker.socket.destroy();
  return {
    ...{ isEnded: attacker.isOver, goaway: attacker.goaway, sent: attacker.sent, growth },
    cpuMs: after.cpuMs - before.cpuMs,
    dropped: difference(before.dropped, after.dropped),
  };
}

/** What `count` requests cost the server in processor time, milliseconds: one after the other, on a connection that attacks nothing. */
export async function honest(target: Target, count: number): Promise<number> {
  const before = await target.measure();
  const session = connectHttp2('https://shop.example.test', {
    ...{ host: '127.0.0.1', port: target.port, rejectUnauthorized: false },
  });
  for (let i = 0; i < count; i++) {
    const stream = session.request({ ':path': '/' });
    stream.resume().end();
    await once(stream, 'close');
  }
  session.close();
  return (await target.measure()).cpuMs - before.cpuMs;
}

function difference(
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
): Record<string, number> {
  const entries = Object.entries(after).map(([reason, count]) => [reason, count - (before[reason] ?? 0)] as const);
  return Object.fromEntries(entries.filter(([, count]) => count > 0));
}
