/**
 * Opens compressed messages of a recorded WebSocket (permessage-deflate, RFC 7692), so that rules can mask what is inside and people can read it.
 * A message may refer to the 32 KB before it: they are opened in order, each direction by itself. Called by masking/record-masks.ts.
 */
import { constants, inflateRawSync } from 'node:zlib';
import type { RecordedFrame } from '../../../plane/inspection.ts';

/** Kept of a message when it is opened, and of all: as a node keeps of what is not compressed (data/inspect/websocket/frame-capture.ts). */
const MAX_KEPT = 16_384;
const MAX_KEPT_IN_ALL = 131_072;
/** Opened of a message, and of all of a connection: a few bytes may stand for very many. */
const MAX_OPENED = 262_144;
const MAX_OPENED_IN_ALL = 1 << 20;
const WINDOW = 32_768;
/** What zlib allocates at a time: most messages are short, and its own 16 KB would stay with each. */
const CHUNK = 1_024;
/** What a sender leaves out at the end of each message. */
const TAIL = Buffer.from([0, 0, 0xff, 0xff]);
const NOTHING = Buffer.alloc(0);

/** The frames, with those opened that can be; what can't stays as it is. */
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
      // To find out that it is too long took as much work as to open the longest.
      if (isTried) opened += most;
      // Later ones may refer to it: they are opened as far as they do not.
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

/** null: it is none, refers to what is not there, or is too long. */
function inflated(bytes: Uint8Array, window: Buffer, maxOutputLength: number): Buffer | null {
  try {
    return inflateRawSync(Buffer.concat([bytes, TAIL]), {
      finishFlush: constants.Z_SYNC_FLUSH,
      chunkSize: CHUNK,
      maxOutputLength,
      ...(window.length === 0 ? {} : { dictionary: window }),
    });
  } catch {
    // Whatever it was: it is kept as it passed.
    return null;
  }
}
