/** What a visitor's HTTP/2 session may do, as node:http2 takes it: nghttp2 counts, and ends the connection that goes beyond. */
import type { ServerSessionOptions } from 'node:http2';
import type { EdgeLimits } from '../exchange/context.ts';

/** What a stream and a connection may be sent before it is read on: as much as a stream of the tunnel takes, and several of them. */
const STREAM_WINDOW = 262_144;
export const CONNECTION_WINDOW = 1 << 20;
/** What of a body may be under way, and passed by, when its stream is ended before. */
export const UNREAD_BYTES = 4 * STREAM_WINDOW;
/** A visitor that takes so many bytes of its answers has reason to send one byte: WINDOW_UPDATE, twice 13 bytes for every 4 KB or more. */
export const BYTES_PER_UPDATE = 128;
/** Fields as they come: cookies are in crumbs. The head that is made of them is bounded like every other one. */
const MAX_CRUMBS = 400;
/** A longer head is answered in words (431) up to here, and reset beyond. */
const READ_BYTES = 65_536;
/** What nghttp2 counts beside name and value of each field. */
const PAIR_BYTES = 32;

export function sessionOptions(limits: EdgeLimits): ServerSessionOptions {
  return {
    settings: {
      maxConcurrentStreams: limits.http2MaxStreams,
      initialWindowSize: STREAM_WINDOW,
      maxHeaderListSize: Math.max(limits.head.headBytes, READ_BYTES) + PAIR_BYTES * (limits.head.fields + MAX_CRUMBS),
      enablePush: false,
      enableConnectProtocol: false,
    },
    // Of a response: Node sends no head beyond it.
    maxSendHeaderBlockLength: limits.responseHead.headBytes + PAIR_BYTES * limits.responseHead.fields,
    maxHeaderListPairs: limits.head.fields + MAX_CRUMBS,
    // Entries of one SETTINGS frame; answers that a visitor has not taken yet.
    maxSettings: 32,
    maxOutstandingPings: 10,
    // Megabytes, of what nghttp2 holds for one connection. Beyond it new streams are refused.
    maxSessionMemory: 16,
    maxSessionInvalidFrames: 100,
    maxSessionRejectedStreams: 100,
    // Of nghttp2 itself, also before a stream comes here; connection.ts counts those that were given work.
    streamResetBurst: 1_000,
    streamResetRate: 33,
    // What a service may say twice it may say twice here.
    strictSingleValueFields: false,
  };
}
