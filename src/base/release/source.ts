/** Where a release comes from: a URL or a folder. Everything that is read has a limit; nothing is trusted here (verify.ts). */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { codeOf, messageOf } from '../errors.ts';
import { Outbound } from '../net/outbound/outbound.ts';
import { download } from './download.ts';

/** Until the head of a response, and between two pieces of it. */
const SILENCE_MS = 30_000;

export interface ReleaseSource {
  /** As the user named it. */
  readonly place: string;
  /** In a folder: the file is there. False of a URL, which would have to be asked. */
  has(name: string): boolean;
  /** A small file, whole. @throws when it is not there, or is larger. */
  read(name: string, maxBytes: number): Promise<Buffer>;
  /**
   * Writes a file to `to`, a new path or an open descriptor, which is closed. @throws when it is not there, is larger, or has another hash than
   * `sum`; `to` may hold a part then.
   */
  save(name: string, to: string | number, expected: Expected): Promise<void>;
}

export interface Expected {
  readonly sum: string;
  readonly maxBytes: number;
  /** Called for each piece that came. */
  readonly onBytes?: (count: number) => void;
}

interface SourceMeans {
  readonly silenceMs?: number;
  /** The way to a URL; directly when not given. */
  readonly outbound?: Outbound;
}

/** `from`: an http(s) URL, or a folder. */
export function openSource(from: string, means: SourceMeans = {}): ReleaseSource {
  const isUrl = /^https?:\/\//i.test(from);
  const open = (name: string): AsyncIterable<Uint8Array> => (isUrl ? request(from, name, means) : openFile(from, name));
  return {
    place: from,
    has: (name) => !isUrl && existsSync(join(from, name)),
    read: async (name, maxBytes) => {
      const pieces: Uint8Array[] = [];
      for await (const piece of bounded(open(name), { name, maxBytes })) pieces.push(piece);
      return Buffer.concat(pieces);
    },
    save: async (name, to, { sum, maxBytes, onBytes }) => {
      const hash = createHash('sha256');
      const pieces = bounded(open(name), { name, maxBytes });
      await pipeline(
        pieces,
        async function* (input: AsyncIterable<Uint8Array>) {
          for await (const piece of input) {
            hash.update(piece);
            onBytes?.(piece.length);
            yield piece;
          }
        },
        typeof to === 'number'
          ? createWriteStream('', { fd: to, flush: true })
          : createWriteStream(to, { flags: 'wx', mode: 0o644, flush: true }),
      );
      if (hash.digest('hex') !== sum)
        throw new Error(`${name} of ${from} is not the signed file: its checksum differs`);
    },
  };
}

/** The files of one source that are there, and those of another. */
export function firstOf(first: ReleaseSource, second: ReleaseSource): ReleaseSource {
  return { ...second, save: (name, ...rest) => (first.has(name) ? first : second).save(name, ...rest) };
}

async function* bounded(
  pieces: AsyncIterable<Uint8Array>,
  { name, maxBytes }: { name: string; maxBytes: number },
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > maxBytes) throw new Error(`${name} is larger than ${maxBytes} bytes, so it is no file of a release`);
    yield piece;
  }
}

function openFile(folder: string, name: string): AsyncIterable<Uint8Array> {
  const file = join(folder, name);
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) throw new Error(`there is no ${name} in ${folder}`);
  return createReadStream(file);
}

async function* request(
  base: string,
  name: string,
  { silenceMs = SILENCE_MS, outbound = new Outbound() }: SourceMeans,
): AsyncGenerator<Uint8Array> {
  const url = `${base.replace(/\/+$/, '')}/${encodeURIComponent(name)}`;
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(new Error(`no data for ${silenceMs / 1000} s`)), silenceMs);
  try {
    const response = await download(url, { outbound, signal: abort.signal });
    for await (const piece of response as AsyncIterable<Buffer>) {
      yield piece;
      timer.refresh();
    }
  } catch (cause) {
    throw new Error(`${url} can not be fetched: ${reasonOf(cause)}`, { cause });
  } finally {
    clearTimeout(timer);
  }
}

/** Of an abort the cause says why. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'AbortError') return messageOf(error.cause);
  return codeOf(error) ?? messageOf(error);
}
