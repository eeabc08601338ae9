/** Messages of gRPC and gRPC-Web: a flag, a length of four bytes, the message. Pure: tested without a browser. */
import { bytesOf } from './bytes.ts';

export interface GrpcFrame {
  readonly isCompressed: boolean;
  /** Of gRPC-Web: fields behind the messages, as text. */
  readonly isTrailers: boolean;
  /** As the sender says it. */
  readonly length: number;
  /** Fewer than `length` where the body is cut. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface GrpcFrames {
  readonly frames: readonly GrpcFrame[];
  /** Frames that are not listed. */
  readonly more: number;
  /** Bytes at the end that are no frame, and no part of one. */
  readonly rest: number;
}

/** What a page lists. */
const MAX_FRAMES = 1_000;
const HEAD_BYTES = 5;
const COMPRESSED = 0x01;
const TRAILERS = 0x80;

/** Undefined: it is none. `type`: the media type alone. */
export function framesOf(body: Uint8Array<ArrayBuffer>, type: string): GrpcFrames | undefined {
  const bytes = type.startsWith('application/grpc-web-text') ? decodedText(body) : body;
  if (bytes === undefined) return undefined;
  const frames: GrpcFrame[] = [];
  let count = 0;
  let at = 0;
  while (at + HEAD_BYTES <= bytes.length) {
    const flags = bytes[at] ?? 0;
    if ((flags & ~(COMPRESSED | TRAILERS)) !== 0) break;
    const length = new DataView(bytes.buffer, bytes.byteOffset + at + 1, 4).getUint32(0);
    const content = bytes.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length);
    count++;
    if (frames.length < MAX_FRAMES)
      frames.push({
        isCompressed: (flags & COMPRESSED) !== 0,
        isTrailers: (flags & TRAILERS) !== 0,
        length,
        bytes: content,
      });
    at += HEAD_BYTES + content.length;
  }
  return count === 0 ? undefined : { frames, more: count - frames.length, rest: bytes.length - at };
}

/** Pieces of base64, each padded by itself, one behind the other. Undefined: it is none. */
function decodedText(body: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  const text = new TextDecoder('latin1').decode(body).replaceAll(/\s/g, '');
  if (!/^[A-Za-z0-9+/=]*$/.test(text)) return undefined;
  const pieces = text.split(/=+/).map((piece) => bytesOf(piece.length % 4 === 1 ? piece.slice(0, -1) : piece));
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
