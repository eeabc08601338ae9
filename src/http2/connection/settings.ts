/** SETTINGS (RFC 9113 §6.5): what this side says of itself, and what a visitor says. */
import { HEADER_BYTES, MAX_NUMBER, MAX_PAYLOAD, readUint32, TYPE, writeHeader, writeUint32 } from './frame.ts';
import { CODE, type Http2Limits } from '../types.ts';
import { STREAM_WINDOW } from './windows.ts';

const SETTING = {
  tableSize: 1,
  enablePush: 2,
  maxStreams: 3,
  initialWindow: 4,
  maxFrameSize: 5,
  maxHeaderList: 6,
  enableConnect: 8,
  noOldPriorities: 9,
} as const;

const ENTRY_BYTES = 6;
/** A client has ten settings to set at most; more in one frame are work for nothing. */
const MAX_ENTRIES = 32;
const LARGEST_FRAME_SIZE = 0xff_ffff;
/** Every window starts at this (RFC 9113 §6.9.2). */
export const FIRST_WINDOW = 65_535;

/** The frame that this side's half of a connection begins with. */
export function serverSettings(limits: Http2Limits): Buffer {
  const entries: ReadonlyArray<readonly [number, number]> = [
    [SETTING.maxStreams, limits.maxStreams],
    [SETTING.initialWindow, STREAM_WINDOW],
    [SETTING.maxHeaderList, limits.headBytes],
    [SETTING.enableConnect, 1],
    [SETTING.noOldPriorities, 1],
  ];
  const frame = Buffer.alloc(HEADER_BYTES + ENTRY_BYTES * entries.length);
  writeHeader(frame, 0, TYPE.settings, 0, 0, ENTRY_BYTES * entries.length);
  let at = HEADER_BYTES;
  for (const [id, value] of entries) {
    frame[at + 1] = id;
    writeUint32(frame, at + 2, value);
    at += ENTRY_BYTES;
  }
  return frame;
}

/** What becomes of a visitor's settings. */
export interface SettingsTarget {
  tableSize(max: number): void;
  /** False: a window of a stream would be too large by it. */
  initialWindow(size: number): boolean;
}

/** Takes the entries in `bytes[start, start + length)`. Answers the error that they are, or `CODE.none`. */
export function readSettings(bytes: Uint8Array, start: number, length: number, target: SettingsTarget): number {
  if (length % ENTRY_BYTES !== 0 || length > ENTRY_BYTES * MAX_ENTRIES) return CODE.frameSize;
  for (let at = start; at < start + length; at += ENTRY_BYTES) {
    const value = readUint32(bytes, at + 2);
    switch (((bytes[at] as number) << 8) | (bytes[at + 1] as number)) {
      case SETTING.tableSize:
        target.tableSize(value);
        break;
      case SETTING.enablePush:
      case SETTING.noOldPriorities:
        if (value > 1) return CODE.protocol;
        break;
      case SETTING.initialWindow:
        if (value > MAX_NUMBER || !target.initialWindow(value)) return CODE.flowControl;
        break;
      case SETTING.maxFrameSize:
        // Frames that are sent here are never longer than the least of these.
        if (value < MAX_PAYLOAD || value > LARGEST_FRAME_SIZE) return CODE.protocol;
        break;
      default: // unknown ones mean nothing
    }
  }
  return CODE.none;
}
