/**
 * Masks recorded frames of a WebSocket by the JSON paths of their tunnel. Protocols put words in front of JSON (Socket.IO, STOMP): all from the
 * first bracket on is read as JSON, and left out where it is none, for nothing that a rule might mean may pass. Called by record-masks.ts.
 */
import type { RecordedFrame } from '../../../plane/inspection.ts';
import { maskJson } from './json-mask.ts';
import type { MaskRules } from './rules.ts';

const TEXT = 1;
const BINARY = 2;
const NOTHING = Buffer.alloc(0);

/** The frames themselves where no rule is about them. */
export function maskFrames(frames: readonly RecordedFrame[], { paths }: MaskRules): readonly RecordedFrame[] {
  if (paths.length === 0) return frames;
  return frames.map((frame) => {
    if (frame.opcode !== TEXT && frame.opcode !== BINARY) return frame;
    // It could not be opened.
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

/** -1: there is no JSON in it. Bytes that are no text may hold any bracket: only what begins with one counts. */
function startOfJson(bytes: Buffer, opcode: number): number {
  if (opcode === BINARY) return /^\s*[[{]/.test(bytes.toString('latin1', 0, 64)) ? 0 : -1;
  return bytes.toString('latin1').search(/[[{]/);
}
