/**
 * Decompresses messages of a recorded WebSocket (permessage-deflate, RFC 7692), so that mask rules apply and users can read them.
 * A message may refer to the 32 KB before it, so each direction is decompressed in order. Called by masking/record-masks.ts.
 */
import { constants, inflateRawSync } from 'node:zlib';
import type { RecordedFrame } from '../../../plane/inspection.ts';

/** Bytes to keep per message and per connection, as for uncompressed messages (data/inspect/websocket/frame-capture.ts). */
const MAX_KEPT = 16_384;
const MAX_KEPT_IN_ALL = 131_072;
/** Decompressed bytes per message and per connection, against compression bombs. */
const MAX_OPENED = 262_144;
const MAX_OPENED_IN_ALL = 1 << 20;
const WINDOW = 32_768;
/** Bytes that zlib allocates at a time: most messages are short, and its default of 16 KB would stay with each. */
const CHUNK = 1_024;
/** Bytes that a sender leaves out at the end of each message (§7.2.1). */
const TAIL = Buffer.from([0, 0, 0xff, 0xff]);
const NOTHING = Buffer.alloc(0);

/** Decompresses frames. A frame that can't be decompressed stays as it is. */
export function inflateFrames(frames: readonly RecordedFrame[]): readonly RecordedFrame[] {
  if (!frames.some(({ isCompressed }) => isCompressed)) return frames;
  const windows = { visitor: NOTHING, service: NOTHING };
  let opened = 0;
  let kept = 0;
  return frames.map((frame) => {
    const { from } = frame;
    const most = Math.min(MAX_OPENED, MAX_OPENED_IN_ALL - opened);
    const isTried = frame.isCompressed && !frame.isTruncated && most > 0;
    const content = isTried ? inflated(frame.bytes, windows[from], most) : null;
    if (content === null) {
      // The failed attempt cost as much work as the longest message.
      if (isTried) opened += most;
      // Later messages that refer to it fail; others succeed.
      if (frame.isCompressed) windows[from] = NOTHING;
      kept += frame.bytes.length;
      return frame;
    }
    opened += content.length;
    windows[from] = Buffer.concat([windows[from], content]).subarray(-WINDOW);
    // A copy: a part would keep all of it in the memory.
    const bytes = Buffer.from(content.subarray(0, Math.max(0, Math.min(MAX_KEPT, MAX_KEPT_IN_ALL - kept))));
    kept += bytes.length;
    return { ...frame, isCompressed: false, isTruncated: bytes.length < content.length, bytes };
  });
}

/** null: not valid, refers to missing data, or too long. */
function inflated(bytes: Uint8Array, window: Buffer, maxOutputLength: number): Buffer | null {
  try {
    return inflateRawSync(Buffer.concat([bytes, TAIL]), {
      finishFlush: constants.Z_SYNC_FLUSH,
      chunkSize: CHUNK,
      maxOutputLength,
      ...(window.length === 0 ? {} : { dictionary: window }),
    });
  } catch {
    // After any error the frame is kept as transferred.
    return null;
  }
}
