/**
 * Conversations by chance: the frames of one connection, exchange by exchange. A conversation is made of its seed alone, so that both engines are
 * sent the same bytes and a failure is repeated by its number.
 */
import { random } from '../../fuzz/mux-model.ts';
import { FLAG, FRAME, frame, u32 } from '../../harness/h2-frames.ts';
import { dependency, ping, priority, UNKNOWN, windowUpdate } from '../conformance/case.ts';
import type { Field } from '../hpack.ts';
import { type Pick, RandomEncoder } from './encoder.ts';
import { anyHead, anyTrailers } from './heads.ts';

export interface Exchange {
  readonly stream: number;
  /** Names it to the service. */
  readonly key: string;
  readonly head: readonly Field[];
  readonly isHead: boolean;
  readonly trailers: readonly Field[] | null;
  /** They do not end the stream, as they must (RFC 9113 §8.1). */
  readonly isUnended: boolean;
  /** What is sent first: all frames of the head. */
  readonly opening: readonly Buffer[];
  /** What is sent once the service, or a refusal, has come. */
  readonly rest: readonly Buffer[];
  /** Bytes of DATA; null: the head ends the stream. */
  readonly bodyBytes: number | null;
  /** The visitor resets the stream behind `rest`. */
  readonly isReset: boolean;
  /** The service may answer before `rest` is there: what is wrong in it then comes before or behind the answer. */
  readonly isEarly: boolean;
}

export interface Conversation {
  readonly seed: number;
  readonly exchanges: readonly Exchange[];
}

/** The body is not as long as its head, or what follows it, says. */
export function isMisjudged({ head, trailers, bodyBytes }: Exchange): boolean {
  return [...head, ...(trailers ?? [])].some(
    ([name, value]) => name === 'content-length' && Number(value) !== (bodyBytes ?? 0),
  );
}

const MOST_EXCHANGES = 12;
const BODY_SIZES = [0, 1, 10, 100, 1_000, 9_000];

export function anyConversation(seed: number): Conversation {
  const pick = random(seed);
  const encoder = new RandomEncoder(pick);
  const count = 1 + pick(MOST_EXCHANGES);
  const exchanges = Array.from({ length: count }, (_, i) => anyExchange(pick, encoder, 2 * i + 1, `${seed}.${i}`));
  return { seed, exchanges };
}

function anyExchange(pick: Pick, encoder: RandomEncoder, stream: number, key: string): Exchange {
  const pieces = anyPieces(pick);
  const head = anyHead(pick, key);
  const hasBody = pick(3) === 0;
  const length = pieces.reduce((sum, size) => sum + size, 0);
  if (hasBody && pick(2) === 0) head.push(['content-length', String(pick(12) === 0 ? length + 1 - pick(3) : length)]);
  const trailers = hasBody ? anyTrailers(pick) : null;
  const opening = headFrames(pick, stream, encoder.encode(head), !hasBody);
  const isReset = pick(25) === 0;
  const body = hasBody ? bodyFrames(pick, stream, pieces, trailers === null && !isReset) : [];
  let isUnended = false;
  let ending: Buffer[] = [];
  if (hasBody && trailers !== null) {
    const block = encoder.encode(trailers);
    isUnended = pick(30) === 0;
    ending = headFrames(pick, stream, block, !isUnended);
  }
  const rest = [...body, ...ending, ...(isReset ? [frame(FRAME.rst, 0, stream, u32(pick(14)))] : [])];
  return {
    ...{ stream, key, head, trailers, isUnended, opening, rest, isReset },
    isHead: head.some(([name, value]) => name === ':method' && value === 'HEAD'),
    isEarly: hasBody && head.some(([name, value]) => name === 'content-length' && value === '0'),
    bodyBytes: hasBody ? length : null,
  };
}

function anyPieces(pick: Pick): number[] {
  return Array.from({ length: pick(4) }, () => BODY_SIZES[pick(BODY_SIZES.length)] as number);
}

/** HEADERS and CONTINUATIONs, with padding and the old priority now and then, and other frames in front. */
function headFrames(pick: Pick, stream: number, block: Buffer, isEnd: boolean): Buffer[] {
  const cuts = [0, block.length];
  if (pick(6) === 0) for (let i = 1 + pick(2); i > 0; i--) cuts.push(pick(block.length + 1));
  for (let at = 16_000; at < block.length; at += 16_000) cuts.push(at);
  cuts.sort((a, b) => a - b);
  const parts = cuts.slice(1).map((end, i) => block.subarray(cuts[i], end));
  const others = pick(8) === 0 ? [anyOther(pick, stream)] : [];
  return [...others, ...parts.map((part, i) => headFrame(pick, stream, part, i, i === parts.length - 1, isEnd))];
}

function headFrame(pick: Pick, stream: number, part: Buffer, index: number, isLast: boolean, isEnd: boolean): Buffer {
  const end = isLast ? FLAG.endHeaders : 0;
  if (index > 0) return frame(FRAME.continuation, end, stream, part);
  let flags = end | (isEnd ? FLAG.endStream : 0);
  let payload = part;
  if (pick(10) === 0) {
    flags |= FLAG.priority;
    payload = Buffer.concat([dependency(0, pick(256)), payload]);
  }
  return maybePadded(pick, FRAME.headers, flags, stream, payload);
}

/** Padding in one of five. */
function maybePadded(pick: Pick, type: number, flags: number, stream: number, payload: Buffer): Buffer {
  if (pick(5) > 0) return frame(type, flags, stream, payload);
  const padding = pick(256);
  return frame(type, flags | FLAG.padded, stream, Buffer.concat([Buffer.of(padding), payload, Buffer.alloc(padding)]));
}

function bodyFrames(pick: Pick, stream: number, pieces: readonly number[], isEnded: boolean): Buffer[] {
  const frames = pieces.map((size) => maybePadded(pick, FRAME.data, 0, stream, Buffer.alloc(size, 'x')));
  if (pick(5) === 0) frames.splice(pick(frames.length + 1), 0, anyOther(pick, stream));
  if (isEnded) frames.push(maybePadded(pick, FRAME.data, FLAG.endStream, stream, Buffer.alloc(0)));
  return frames;
}

/** A frame that changes nothing. */
function anyOther(pick: Pick, stream: number): Buffer {
  switch (pick(5)) {
    case 0:
      return ping();
    case 1:
      return windowUpdate(0, 1 + pick(1_000));
    case 2:
      return priority(stream, dependency(0, pick(256)));
    case 3:
      return frame(FRAME.settings, 0, 0);
    default:
      return UNKNOWN;
  }
}
