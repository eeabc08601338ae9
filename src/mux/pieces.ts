/**
 * How large the pieces are in which a sender puts its frames together, and how much of them it lets stand in line. Large ones cost least and
 * are right for a session that goes as fast as it can. On one with a bandwidth limit a piece that has begun to go, and what stands in
 * line before it, holds up all that comes later: at 1 Mbps a slab of 256 KB does for 2 s.
 */
import { SLAB_BYTES } from '../base/bytes/slab.ts';
import { HEADER_BYTES } from './frame.ts';

/** All in bytes. */
export interface Pieces {
  /** The bulk lane begins another slab when one holds this much. */
  readonly slab: number;
  /** What a stream puts there before it is another's turn. */
  readonly turn: number;
  /** A burst longer than this is a download, not a message. */
  readonly burst: number;
  /** A lane with this much queued asks its streams to wait; below half of it they go on. */
  readonly congested: number;
  /** The bulk lane takes no more data with this much queued. */
  readonly full: number;
}

/** Without a limit. */
export const WHOLE: Pieces = {
  slab: SLAB_BYTES,
  turn: Number.MAX_SAFE_INTEGER,
  burst: 65_536,
  congested: 1 << 20,
  full: 4 << 20,
};

/** Pieces of `step` bytes, one of which goes while another is put together. */
export function piecesOf(step: number): Pieces {
  if (step >= SLAB_BYTES) return WHOLE;
  const turn = step - HEADER_BYTES;
  return { slab: step, turn, burst: Math.min(WHOLE.burst, turn), congested: 2 * step, full: 2 * step };
}
