/**
 * What each request of a soak will do, drawn from a seed: sizes both ways, framing, who breaks it off and where, who is slow. Client and
 * origin read the same plan by its number, so each knows what the other must see.
 */
import { createHash } from 'node:crypto';

export const MAX_BYTES = 2 * 1024 * 1024;
/** Sizes at which buffers, windows and frames begin and end. */
const CORNERS = [0, 1, 2, 1023, 1024, 16_383, 16_384, 65_535, 65_536, 65_537, 262_143, 262_144, 262_145, MAX_BYTES];

export type Framing = 'length' | 'chunked';
/**
 * Who breaks the request off:
 *   visitor-up, visitor-down   the visitor, in the middle of its body or of the response's
 *   origin-head                the service, before it answers
 *   origin-end, origin-reset   the service, in the middle of its response: by FIN, by RST (the agent then resets the stream)
 */
export type Abort = 'none' | 'visitor-up' | 'visitor-down' | 'origin-head' | 'origin-end' | 'origin-reset';

export interface Plan {
  readonly id: number;
  readonly up: number;
  readonly down: number;
  readonly upFraming: Framing;
  /** `close`: the service marks the end of its response by closing, as HTTP/1.0 did. */
  readonly downFraming: Framing | 'close';
  readonly abort: Abort;
  /** Bytes of the body after which it is broken off. */
  readonly abortAt: number;
  readonly slow: 'none' | 'visitor' | 'origin';
  /** To the tunnel whose agent is killed now and then. */
  readonly shaky: boolean;
}

/** Numbers in [0, 1) from a seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function makePlans(count: number, random: () => number): Plan[] {
  return Array.from({ length: count }, (_, id) => makePlan(id, random));
}

function makePlan(id: number, random: () => number): Plan {
  const chance = random();
  const shaky = chance < 0.05;
  const abort = shaky ? 'none' : drawAbort(random());
  const up = abort === 'visitor-up' ? atLeastTwo(drawSize(random)) : random() < 0.3 ? 0 : drawSize(random);
  const down = abort === 'none' || abort === 'origin-head' ? drawSize(random) : atLeastTwo(drawSize(random));
  const broken = abort === 'visitor-up' ? up : down;
  // Where its end marks the response's, an end half way through is a whole response to every reader; a reset is not.
  const closes = random() < (shaky || abort === 'origin-reset' ? 0.3 : abort === 'none' ? 0.08 : 0);
  return {
    id,
    up,
    down,
    upFraming: random() < 0.5 ? 'length' : 'chunked',
    downFraming: closes ? 'close' : random() < 0.5 ? 'length' : 'chunked',
    abort,
    abortAt: 1 + Math.floor(random() * (broken - 1)),
    slow: random() < 0.92 ? 'none' : random() < 0.5 ? 'visitor' : 'origin',
    shaky,
  };
}

function drawAbort(chance: number): Abort {
  if (chance < 0.04) return 'visitor-up';
  if (chance < 0.08) return 'visitor-down';
  if (chance < 0.1) return 'origin-head';
  if (chance < 0.125) return 'origin-end';
  return chance < 0.15 ? 'origin-reset' : 'none';
}

/** From nothing to MAX_BYTES, each order of magnitude alike; one in seven is a corner. */
function drawSize(random: () => number): number {
  if (random() < 0.15) return CORNERS[Math.floor(random() * CORNERS.length)] ?? 0;
  return Math.min(MAX_BYTES, Math.floor(2 ** (random() * 21.01)));
}

const atLeastTwo = (size: number): number => Math.max(2, size);

/** Bodies: a different stretch of one pool of random bytes for each request and direction. */
export class Bodies {
  readonly #pool: Buffer;

  constructor(random: () => number) {
    this.#pool = Buffer.allocUnsafe(2 * MAX_BYTES + 65_536);
    for (let at = 0; at + 4 <= this.#pool.length; at += 4) this.#pool.writeUInt32LE(Math.floor(random() * 2 ** 32), at);
  }

  up(plan: Plan): Buffer {
    return this.#stretch(plan.id * 7919, plan.up);
  }

  down(plan: Plan): Buffer {
    return this.#stretch(plan.id * 104_729 + 13, plan.down);
  }

  #stretch(from: number, size: number): Buffer {
    const start = from % MAX_BYTES;
    return this.#pool.subarray(start, start + size);
  }
}

export function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64');
}
