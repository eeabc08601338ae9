/** A release behind its signature: its version, and the archive for each platform. */
import { messageOf } from '../errors.ts';
import type { ReleaseSource } from './source.ts';
import { readSums, verifySums } from './verify.ts';

export const SUMS_FILE = 'SHA256SUMS';
export const SIGNATURE_FILE = 'SHA256SUMS.sig';
/** A line is some 110 bytes, and a release has some 30. */
const MAX_SUMS_BYTES = 1_000_000;
const MAX_SIGNATURE_BYTES = 10_000;
/** Far above the largest archive. */
export const MAX_ARCHIVE_BYTES = 500_000_000;
const ARCHIVE = /^culvert-(\d[0-9A-Za-z.+-]*?)-((?:linux|darwin|windows)-(?:x64|arm64))\.(?:tar\.gz|zip)$/;
/** Besides archives, what `get.sh --from` and users of an archive need. */
export const INSTALLER_FILES = ['get.sh', 'install.ps1', 'culvert.pub'] as const;

export interface SignedRelease {
  readonly version: string;
  /** SHA-256 by file name. */
  readonly sums: ReadonlyMap<string, string>;
  /** File names by platform, e.g. `linux-x64`. */
  readonly archives: ReadonlyMap<string, string>;
  /** The two files as they are. */
  readonly list: Buffer;
  readonly signature: Buffer;
}

/** Reads the signed list at a source. @throws when it is missing, or not signed by the owner of `publicKey`. */
export async function readRelease(source: ReleaseSource, publicKey: string): Promise<SignedRelease> {
  const list = await source.read(SUMS_FILE, MAX_SUMS_BYTES);
  const signature = await source.read(SIGNATURE_FILE, MAX_SIGNATURE_BYTES);
  return checkRelease({ list, signature }, publicKey, source.place);
}

/** The same of files that were read. `place`: for messages. */
export function checkRelease(
  { list, signature }: Pick<SignedRelease, 'list' | 'signature'>,
  publicKey: string,
  place: string,
): SignedRelease {
  if (!verifySums(list, signature, publicKey)) {
    throw new Error(
      `the signature of ${SUMS_FILE} at ${place} is not of the key of this program. The files were changed, or are of another maker.`,
    );
  }
  const sums = sumsOf(list, place);
  const found = [...sums.keys()].flatMap((name) => {
    const [, version, platform] = ARCHIVE.exec(name) ?? [];
    return version === undefined || platform === undefined ? [] : [{ name, version, platform }];
  });
  const [first] = found;
  if (first === undefined) throw new Error(`the release at ${place} has no archives`);
  if (found.some(({ version }) => version !== first.version)) throw new Error(`${place} has archives of two versions`);
  const archives = new Map(found.map(({ platform, name }) => [platform, name]));
  return { version: first.version, sums, archives, list, signature };
}

function sumsOf(list: Buffer, place: string): ReadonlyMap<string, string> {
  try {
    return readSums(list);
  } catch (cause) {
    throw new Error(`the release at ${place} can not be read: ${messageOf(cause)}`, { cause });
  }
}

/** The platform of this machine, as archives name it. */
export function ownPlatform(): string {
  return `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
}
