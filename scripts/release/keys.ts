/**
 * The key that signs a release (Ed25519), and the files of signify that it makes. The private key is a PEM file outside of the repository:
 * `openssl genpkey -algorithm ed25519 -out culvert-release.pem`.
 */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { sha256 } from '../../src/base/release/verify.ts';

export interface ReleaseKey {
  /** Second line of a signify key: what goes into the program and into installers. */
  readonly publicKey: string;
  /** Made for this run alone: the release is for tests. */
  readonly isThrowAway: boolean;
  /** The content of SHA256SUMS.sig. */
  sign(sums: Buffer): Buffer;
}

const KEY_BYTES = 32;

/** The key of the file; a throw-away key when there is none. @throws when the file holds no Ed25519 key. */
export function openReleaseKey(file: string | undefined): ReleaseKey {
  const privateKey =
    file === undefined ? generateKeyPairSync('ed25519').privateKey : createPrivateKey(readFileSync(file));
  if (privateKey.asymmetricKeyType !== 'ed25519') throw new Error(`${file} is not an Ed25519 key`);
  const { head, bytes } = publicPart(privateKey);
  return {
    publicKey: Buffer.concat([head, bytes]).toString('base64'),
    isThrowAway: file === undefined,
    sign: (sums) => {
      const signature = Buffer.concat([head, sign(null, sums, privateKey)]).toString('base64');
      return Buffer.from(`untrusted comment: verify with culvert.pub\n${signature}\n`);
    },
  };
}

/** The content of a public key file. */
export function publicKeyFile({ publicKey, isThrowAway }: ReleaseKey): Buffer {
  const comment = isThrowAway ? 'throw-away key of a test release' : 'public key of Culvert releases';
  return Buffer.from(`untrusted comment: ${comment}\n${publicKey}\n`);
}

/** Adds SHA256SUMS, the list of all files with their hashes, and its signature. */
export function signFiles(files: Map<string, Buffer>, key: ReleaseKey): void {
  const lines = [...files].map(([name, content]) => `${sha256(content)}  ${name}\n`);
  const sums = Buffer.from(lines.sort((a, b) => (a.slice(66) < b.slice(66) ? -1 : 1)).join(''));
  files.set('SHA256SUMS', sums);
  files.set('SHA256SUMS.sig', key.sign(sums));
}

/** signify names keys by a random number; here it follows from the key. */
function publicPart(privateKey: KeyObject): { head: Buffer; bytes: Buffer } {
  const der = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  const bytes = der.subarray(-KEY_BYTES);
  const number = createHash('sha256').update(bytes).digest().subarray(0, 8);
  return { head: Buffer.concat([Buffer.from('Ed'), number]), bytes };
}
