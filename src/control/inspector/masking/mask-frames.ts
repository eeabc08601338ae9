/**
 * Masks recorded frames of a WebSocket by the JSON paths of their tunnel. Protocols put text or bytes in front of JSON (Socket.IO, STOMP, MQTT):
 * the part from the first bracket on is read as JSON. If it is not valid, it is left out: it may hold a value that a rule masks. Called by
 * record-masks.ts.
 */
import type { RecordedFrame } from '../../../plane/inspection.ts';
import { maskMessage } from './json-mask.ts';
import type { MaskRules } from './rules.ts';

const CLOSE = 8;
/** In front of the reason of a close frame. */
const CLOSE_CODE_BYTES = 2;
const NOTHING = Buffer.alloc(0);

/** The same frames if no rule applies. */
export function maskFrames(frames: readonly RecordedFrame[], { paths }: MaskRules): readonly RecordedFrame[] {
  if (paths.length === 0) return frames;
  return frames.map((frame) => {
    // It could not be decompressed.
    if (frame.isCompressed) return { ...frame, bytes: NOTHING, isTruncated: true };
    const bytes = Buffer.from(frame.bytes.buffer, frame.bytes.byteOffset, frame.bytes.length);
    const start = frame.opcode === CLOSE ? CLOSE_CODE_BYTES : 0;
    const masked = maskMessage(
      bytes.subarray(start),
      paths.map(({ path }) => path),
    );
    if (masked === undefined || (masked.hit.size === 0 && !masked.isCut)) return frame;
    return {
      ...frame,
      bytes: Buffer.concat([bytes.subarray(0, start), masked.bytes]),
      isTruncated: frame.isTruncated || masked.isCut,
    };
  });
}
