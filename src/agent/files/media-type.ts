/** Content types by the endings of names, and which of them are worth a compressed copy beside the file. */
import { getMimeType, mimes } from 'hono/utils/mime';

/** What people publish from a folder and the library does not know. */
const MORE: Readonly<Record<string, string>> = {
  flac: 'audio/flac',
  heic: 'image/heic',
  jxl: 'image/jxl',
  log: 'text/plain; charset=utf-8',
  m3u8: 'application/vnd.apple.mpegurl',
  m4a: 'audio/mp4',
  m4v: 'video/mp4',
  md: 'text/markdown; charset=utf-8',
  mkv: 'video/matroska',
  mov: 'video/quicktime',
  toml: 'application/toml',
  vtt: 'text/vtt; charset=utf-8',
  wav: 'audio/wav',
  yaml: 'application/yaml',
  yml: 'application/yaml',
};
const ALL = { ...mimes, ...MORE };

export function mediaTypeOf(name: string): string {
  return getMimeType(name, ALL) ?? 'application/octet-stream';
}

export function isCompressible(type: string): boolean {
  return /^text\/|^image\/svg|[/+](?:json|xml|javascript|wasm|yaml|toml)\b/.test(type);
}

/** Encodings of copies beside a file, the best first, with the endings of their names. */
const COPIES = [
  { encoding: 'br', ending: '.br' },
  { encoding: 'gzip', ending: '.gz' },
] as const;
export type Copy = (typeof COPIES)[number];

/** The copies that a client takes, by its `Accept-Encoding`. */
export function acceptedCopies(accept: string | string[] | undefined): Copy[] {
  if (typeof accept !== 'string') return [];
  const refused = /;\s*q=0(?:\.0*)?\s*$/i;
  const taken = new Set(
    accept
      .split(',')
      .filter((item) => !refused.test(item))
      .map((item) => item.split(';')[0]?.trim().toLowerCase()),
  );
  return COPIES.filter(({ encoding }) => taken.has(encoding));
}
