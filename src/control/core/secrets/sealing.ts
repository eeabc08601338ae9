/**
 * Seals what must be read back (private keys now) with the key file of the data folder, so that a copy of the database alone
 * gives nothing away. AES-256-GCM; the purpose is authenticated, so that a sealed value can't be moved to another column.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeDurably } from '../../../base/process/durable-file.ts';
import { codeOf } from '../../../base/errors.ts';

export const SEAL_KEY_FILE = 'seal.key';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const PREFIX = 's1.';

export class Sealer {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    if (key.length !== KEY_BYTES) throw new Error('the sealing key must have 32 bytes');
    this.#key = key;
  }

  /** Text that only this key opens, and only for the same purpose. */
  seal(purpose: string, secret: Buffer): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv).setAAD(Buffer.from(purpose));
    const body = Buffer.concat([cipher.update(secret), cipher.final()]);
    return PREFIX + Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url');
  }

  /**
   * A hash, hex, that only the holder of the key can make: for codes that are too short for a plain hash to protect.
   * The same text gives another hash for another purpose.
   */
  mac(purpose: string, text: string): string {
    return createHmac('sha256', this.derive(`mac/${purpose}`))
      .update(text)
      .digest('hex');
  }

  /** A key of 32 bytes of its own for a purpose (HKDF, RFC 5869). */
  derive(purpose: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#key, '', purpose, KEY_BYTES));
  }

  /** The secret. Throws when the text was changed, is for another purpose, or was sealed by another key. */
  open(purpose: string, sealed: string): Buffer {
    const bytes = Buffer.from(sealed.startsWith(PREFIX) ? sealed.slice(PREFIX.length) : '', 'base64url');
    const iv = bytes.subarray(0, IV_BYTES);
    const tag = bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key, iv, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(purpose)).setAuthTag(tag);
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
    } catch (cause) {
      throw new Error(
        `a secret in the database can't be decrypted: ${SEAL_KEY_FILE} is not the key that encrypted it`,
        { cause },
      );
    }
  }
}

/** Reads the key file of the data folder. Throws with what to do when there is none, or no key in it. */
export function openSealer(dataDir: string): Sealer {
  const file = join(dataDir, SEAL_KEY_FILE);
  const key = readKey(file);
  if (key.length !== KEY_BYTES) {
    throw new Error(
      `${file} is damaged: it has ${key.length} bytes instead of ${KEY_BYTES}. Restore it from your backup. ` +
        'If this server has never run, delete the data folder and start again.',
    );
  }
  return new Sealer(key);
}

function readKey(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') throw cause;
    throw new Error(missingKey(dirname(file)), { cause });
  }
}

/** What to do about a database without its key: another key opens nothing of what is sealed in it. */
export function missingKey(dataDir: string): string {
  return (
    `there is no ${SEAL_KEY_FILE} next to the database in ${dataDir}: restore it from your backup. ` +
    "A new key can't decrypt the secrets in that database."
  );
}

/**
 * Makes the key file (0600) unless there is one. For a folder whose database holds nothing yet, and for no other. It has its name once it is
 * whole and on the disk: what is sealed with a key that a power cut takes away is lost. Keeps the key of another process that was faster.
 */
export function makeSealKey(dataDir: string): void {
  try {
    writeDurably(join(dataDir, SEAL_KEY_FILE), randomBytes(KEY_BYTES), { replaces: false });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}
