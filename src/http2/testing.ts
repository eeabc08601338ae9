/** Blocks of HPACK for tests: made from fields by the simplest encoding, and read into what the parser of heads would see. Used by tests alone. */
import { Decoder } from './decoder.ts';
import type { Kind } from './field-kind.ts';
import { writeInteger } from './primitives.ts';
import { HeadScratch } from './request-head.ts';

export type Field = readonly [name: string, value: string];

export const LIMITS = { headBytes: 32_768, headFields: 500 } as const;

/** First bytes of a literal with a new name. */
export const LITERAL = { indexing: 0x40, plain: 0, never: 0x10 } as const;

/** The fields as literals with new names, without Huffman code. */
export function blockOf(fields: readonly Field[], first: number = LITERAL.plain): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.of(first), stringOf(name), stringOf(value)]));
}

function stringOf(text: string): Buffer {
  const out = Buffer.alloc(text.length + 5);
  const at = writeInteger(out, 0, 0, 7, text.length);
  return out.subarray(0, at + out.write(text, at, 'latin1'));
}

export function indexed(index: number): Buffer {
  const out = Buffer.alloc(5);
  return out.subarray(0, writeInteger(out, 0, 0x80, 7, index));
}

export function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(/\s/g, ''), 'hex');
}

/** Takes whatever fields come, also those of responses. */
export class Recorder extends HeadScratch {
  readonly fields: Field[] = [];

  constructor() {
    super(LIMITS);
  }

  override take(_kind: Kind, from: Buffer, start: number, nameEnd: number, end: number): void {
    this.fields.push([from.toString('latin1', start, nameEnd), from.toString('latin1', nameEnd + 2, end - 2)]);
  }

  override takeRow(): false {
    return false;
  }
}

/** All fields of a block, or null: the connection is broken. */
export function fieldsOf(block: Buffer, decoder: Decoder = new Decoder()): readonly Field[] | null {
  const into = new Recorder();
  return decoder.decode(block, 0, block.length, into) ? into.fields : null;
}

/** The head of a block as text; or why it is refused. */
export function headOf(block: Buffer, isWhole = true, into = new HeadScratch(LIMITS), decoder = new Decoder()): string {
  if (!decoder.decode(block, 0, block.length, into)) return 'COMPRESSION_ERROR';
  into.finish(isWhole, block.length);
  return into.reason === '' ? into.bytes.toString('latin1', into.start, into.end) : into.reason;
}
