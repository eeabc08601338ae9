/**
 * Encryption of a backup, as age does it: scrypt turns the passphrase into a key that wraps the file's own key; the payload is sealed chunk by chunk
 * (the STREAM construction), so that a chunk that is changed, moved, left out or cut off is noticed where it is read.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, scryptSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { codeOf, messageOf } from '../../base/errors.ts';
import { Secret } from '../../base/secret.ts';
import { BackupError, type Encryption, MAGIC } from './format.ts';

const CIPHER = 'chacha20-poly1305';
const KEY_BYTES = 32;
export const TAG_BYTES = 16;
export type ScryptCost = Pick<Encryption, 'log_n' | 'r' | 'p'>;

/** Half a second and 128 MB for each passphrase that an attacker tries. */
export const COST: ScryptCost = { log_n: 17, r: 8, p: 1 };
const MIN_PASSPHRASE = 8;
/** Each wrapping key is used once. */
const WRAP_NONCE = Buffer.alloc(12);

/** What to do about a secret file that can't be read. */
export function adviceFor(cause: unknown): string {
  return codeOf(cause) === 'EACCES' ? 'Let the user who runs this read it (chown, chmod 600).' : 'Correct its path.';
}

/** Reads a passphrase: the first line of the file. Throws BackupError with what to do. */
export function readPassphrase(file: string): Secret {
  let text: string;
  try {
    [text = ''] = readFileSync(file, 'utf8').split(/\r?\n/, 1);
  } catch (cause) {
    throw new BackupError(`the passphrase file ${file} can't be read: ${messageOf(cause)}. ${adviceFor(cause)}`, {
      cause,
    });
  }
  if (text.length >= MIN_PASSPHRASE) return new Secret(text);
  throw new BackupError(
    `the first line of ${file} has ${text.length} characters. A passphrase needs ${MIN_PASSPHRASE} or more, such as six random words.`,
  );
}

/** A key for one file, and what its header says of it. A reader takes the cost from there. */
export function newFileKey(
  passphrase: Secret,
  cost: ScryptCost,
): { readonly encryption: Encryption; readonly fileKey: Buffer } {
  const fileKey = randomBytes(KEY_BYTES);
  const salt = randomBytes(16);
  const cipher = createCipheriv(CIPHER, wrappingKey(passphrase, { ...cost, salt }), WRAP_NONCE, {
    authTagLength: TAG_BYTES,
  });
  const key = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()]).toString('base64');
  const nonce = randomBytes(16).toString('base64');
  return { fileKey, encryption: { kdf: 'scrypt', ...cost, salt: salt.toString('base64'), key, nonce } };
}

/** The key of a file. Throws BackupError when the passphrase is another one. */
export function openFileKey(encryption: Encryption, passphrase: Secret, file: string): Buffer {
  const wrapped = Buffer.from(encryption.key, 'base64');
  const { log_n, r, p } = encryption;
  const wrapping = wrappingKey(passphrase, { log_n, r, p, salt: Buffer.from(encryption.salt, 'base64') });
  try {
    const decipher = createDecipheriv(CIPHER, wrapping, WRAP_NONCE, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(wrapped.subarray(KEY_BYTES));
    return Buffer.concat([decipher.update(wrapped.subarray(0, KEY_BYTES)), decipher.final()]);
  } catch (cause) {
    throw new BackupError(
      `the passphrase does not open ${file}. Check the passphrase file, or the backup is damaged.`,
      {
        cause,
      },
    );
  }
}

function wrappingKey(passphrase: Secret, { log_n: logN, r, p, salt }: ScryptCost & { readonly salt: Buffer }): Buffer {
  const N = 2 ** logN;
  return scryptSync(passphrase.reveal(), Buffer.concat([Buffer.from(`${MAGIC} scrypt`), salt]), KEY_BYTES, {
    ...{ N, r, p },
    maxmem: 256 * N * r,
  });
}

/** The key of the payload. It depends on the header, so that a changed header opens nothing. */
export function payloadKey(fileKey: Buffer, { nonce }: Encryption, header: Buffer): Buffer {
  // HKDF takes at most 1,024 bytes of it.
  return Buffer.from(
    hkdfSync(
      'sha256',
      fileKey,
      Buffer.from(nonce, 'base64'),
      createHash('sha256').update(`${MAGIC} payload`).update(header).digest(),
      KEY_BYTES,
    ),
  );
}

/** Which chunk of a payload it is. */
export interface ChunkPlace {
  readonly index: number;
  readonly isLast: boolean;
}

export function sealChunk(key: Buffer, place: ChunkPlace, plain: Buffer): Buffer {
  const cipher = createCipheriv(CIPHER, key, nonceOf(place), { authTagLength: TAG_BYTES });
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Throws when it is not that chunk of that file. */
export function openChunk(key: Buffer, place: ChunkPlace, sealed: Buffer): Buffer {
  const end = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, key, nonceOf(place), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(end));
  return Buffer.concat([decipher.update(sealed.subarray(0, end)), decipher.final()]);
}

/** The chunk's number, and whether it is the last one. */
function nonceOf({ index, isLast }: ChunkPlace): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(index, 5, 6);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}
