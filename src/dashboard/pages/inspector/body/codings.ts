/** Undoes content codings, as far as this browser can and never beyond a bound: a few recorded kilobytes may stand for gigabytes. */

/** Of what comes out. */
export const MAX_OPENED_BYTES = 1_000_000;
/** No real message has more. */
const MAX_CODINGS = 3;

/** Names of DecompressionStream by those of RFC 9110. */
const FORMATS: Readonly<Record<string, string>> = {
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
  br: 'brotli',
  zstd: 'zstd',
};

export interface Opened {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Codings that were undone, the outermost first. */
  readonly undone: readonly string[];
  /** What could not be undone, and why; undefined: all was. */
  readonly remark?: string;
}

/** `coding`: the header as it came. */
export async function openCodings(bytes: Uint8Array<ArrayBuffer>, coding: string): Promise<Opened> {
  const names = coding
    .toLowerCase()
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '' && one !== 'identity')
    .toReversed();
  const undone: string[] = [];
  let opened = bytes;
  if (names.length > MAX_CODINGS) return { bytes, undone, remark: 'It has too many content encodings.' };
  for (const name of names) {
    const stream = streamFor(name);
    if (stream === undefined) return { bytes: opened, undone, remark: `This browser can't decode ${name}.` };
    const { bytes: out, isCut, isWhole } = await readThrough(opened, stream);
    if (out.length === 0 && !isWhole) return { bytes: opened, undone, remark: `It is not valid ${name}.` };
    opened = out;
    undone.push(name);
    if (isCut) return { bytes: opened, undone, remark: 'Only the first decoded megabyte is shown.' };
    if (!isWhole) return { bytes: opened, undone, remark: `The end of the ${name} data is missing.` };
  }
  return { bytes: opened, undone };
}

function streamFor(name: string): DecompressionStream | undefined {
  const format = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
  if (format === undefined) return undefined;
  try {
    return new DecompressionStream(format as ConstructorParameters<typeof DecompressionStream>[0]);
  } catch {
    // A TypeError: this browser does not know the format.
    return undefined;
  }
}

interface Read {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** There is more than may come out. */
  readonly isCut: boolean;
  /** It came to its end. */
  readonly isWhole: boolean;
}

async function readThrough(bytes: Uint8Array<ArrayBuffer>, stream: DecompressionStream): Promise<Read> {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  try {
    while (length <= MAX_OPENED_BYTES) {
      const { done, value } = await reader.read();
      if (done) return { bytes: joined(parts, length), isCut: false, isWhole: true };
      parts.push(value);
      length += value.length;
    }
    await reader.cancel();
    return { bytes: joined(parts, MAX_OPENED_BYTES), isCut: true, isWhole: false };
  } catch {
    // Cut in the middle, or no such thing: what came out until then is shown.
    return { bytes: joined(parts, length), isCut: false, isWhole: false };
  }
}

function joined(parts: readonly Uint8Array<ArrayBuffer>[], most: number): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(most);
  let at = 0;
  for (const part of parts) {
    const fits = part.subarray(0, most - at);
    all.set(fits, at);
    at += fits.length;
  }
  return all.subarray(0, at);
}
