/**
 * Recorded requests as the bytes of an HTTP archive, entry by entry: each is written by itself, so that no turn of the loop is long, and what
 * counts is what comes out, for a recorded kilobyte may stand for a megabyte. Called by inspector/service.ts.
 */
import { BodyDecoder } from './decoded-body.ts';
import { entryOf } from './har.ts';
import type { ShownRequest } from '../views.ts';

/** Entries of an archive of many, as they are written. */
export const MAX_ARCHIVE_BYTES = 16 * 1024 * 1024;
const COMMA = Buffer.from(',\n');

export interface FoundRequest {
  readonly shown: ShownRequest;
  /** How many more there are behind it. */
  readonly older: number;
}

export interface Archive {
  /** One after another they are a document of HAR 1.2, the oldest entry first. */
  readonly parts: readonly Buffer[];
  /** Of all parts. */
  readonly byteLength: number;
}

/** Takes `newest`, the newest first, until the next one would make it too large. What is left out is said. */
export async function archiveOfMany(newest: AsyncIterable<FoundRequest>, version: string): Promise<Archive> {
  const decoder = new BodyDecoder();
  const entries: Buffer[] = [];
  let room = MAX_ARCHIVE_BYTES;
  for await (const { shown, older } of newest) {
    const entry = storedBytes(shown) > room ? undefined : await entryBytes(shown, { decoder, room });
    if (entry === undefined || entry.length > room) return archive(entries, { version, leftOut: older + 1 });
    room -= entry.length;
    entries.push(entry);
  }
  return archive(entries, { version, leftOut: 0 });
}

/** Of one request, whatever its size: it is bounded by what a record keeps, and by what of a coding is opened. */
export async function archiveOfOne(shown: ShownRequest, version: string): Promise<Archive> {
  const opening = { decoder: new BodyDecoder(), room: Number.POSITIVE_INFINITY };
  return archive([await entryBytes(shown, opening)], { version, leftOut: 0 });
}

/** At least so many bytes come out. */
function storedBytes({ record }: ShownRequest): number {
  const head = record.requestHead.length + (record.responseHead?.length ?? 0);
  return head + record.requestBody.length + record.responseBody.length;
}

async function entryBytes(shown: ShownRequest, opening: Parameters<typeof entryOf>[1]): Promise<Buffer> {
  return Buffer.from(JSON.stringify(await entryOf(shown, opening)));
}

/** `entries`: the newest first. */
function archive(entries: readonly Buffer[], { version, leftOut }: { version: string; leftOut: number }): Archive {
  const head = JSON.stringify({ version: '1.2', creator: { name: 'Culvert', version }, pages: [] }).slice(0, -1);
  const comment = `${leftOut} older requests were left out: they would make it too large.`;
  const parts = [
    Buffer.from(`{"log":${head},"entries":[`),
    ...entries.toReversed().flatMap((entry, i) => (i === 0 ? [entry] : [COMMA, entry])),
    Buffer.from(leftOut === 0 ? ']}}' : `],"comment":${JSON.stringify(comment)}}}`),
  ];
  return { parts, byteLength: parts.reduce((sum, part) => sum + part.length, 0) };
}
