/**
 * Masks recorded frames of a WebSocket by the JSON paths of their tunnel. Protocols put text in front of JSON (Socket.IO, STOMP): the part
 * from the first bracket on is read as JSON. If it is not valid, it is left out: it may hold a value that a rule masks. Called by record-masks.ts.
 */
import type { RecordedFrame } from '../../../plane/inspection.ts';
import { maskJson } from './json-mask.ts';
import type { MaskRules } from './rules.ts';

const TEXT = 1;
const BINARY = 2;
const NOTHING = Buffer.alloc(0);

/** The same frames if no rule applies. */
export function maskFrames(frames: readonly RecordedFrame[], { paths }: MaskRules): readonly RecordedFrame[] {
  if (paths.length === 0) return frames;
  return frames.map((frame) => {
    if (frame.opcode !== TEXT && frame.opcode !== BINARY) return frame;
    // It could not be decompressed.
    if (frame.isCompressed) return { ...frame, bytes: NOTHING, isTruncated: true };
    const bytes = Buffer.from(frame.bytes.buffer, frame.bytes.byteOffset, frame.bytes.length);
    const start = startOfJson(bytes, frame.opcode);
    if (start < 0) return frame;
    const masked = maskJson(
      bytes.subarray(start),
      paths.map(({ path }) => path),
    );
    if (masked.hit.size === 0 && !masked.isCut) return frame;
    return {
      ...frame,
      bytes: Buffer.concat([bytes.subarray(0, start), masked.bytes]),
      isTruncated: frame.isTruncated || masked.isCut,
    };
  });
}

/** -1: no JSON. Binary data may hold any bracket: it is JSON only if it begins with one. */
function startOfJson(bytes: Buffer, opcode: number): number {
  if (opcode === BINARY) return /^\s*[[{]/.test(bytes.toString('latin1', 0, 64)) ? 0 : -1;
  return bytes.toString('latin1').search(/[[{]/);
}
