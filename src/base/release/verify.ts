/**
 * Verifies a release: `SHA256SUMS` names each file of it with its hash, `SHA256SUMS.sig` is the signature of that list (Ed25519, in the format of
 * OpenBSD's signify). Callers check the version too: an old release is signed as well.
 */
import { createHash, createPublicKey, verify } from 'node:crypto';

/** `Ed`, the number of the key, then the key or the signature. */
const ALGORITHM = 'Ed';
const KEY_NUMBER_END = 10;
const KEY_LENGTH = 42;
const SIGNATURE_LENGTH = 74;
/** What stands before the 32 bytes of an Ed25519 key in DER. */
const DER_HEAD = Buffer.from('302a300506032b6570032100', 'hex');
const SUM_LINE = /^([0-9a-f]{64}) [ *]([A-Za-z0-9][A-Za-z0-9._+~-]*)$/;

/**
 * True when `signature` (the content of SHA256SUMS.sig) is of `sums` (the content of SHA256SUMS) by the owner of `publicKey` (the second line of a
 * signify key, or the whole file).
 */
export function verifySums(sums: Uint8Array, signature: Uint8Array, publicKey: string): boolean {
  const key = decode(publicKey, KEY_LENGTH);
  const signed = decode(Buffer.from(signature).toString('latin1'), SIGNATURE_LENGTH);
  if (key === undefined || signed === undefined) return false;
  if (!key.subarray(0, KEY_NUMBER_END).equals(signed.subarray(0, KEY_NUMBER_END))) return false; // of another key
  const der = Buffer.concat([DER_HEAD, key.subarray(KEY_NUMBER_END)]);
  const verifier = createPublicKey({ key: der, format: 'der', type: 'spki' });
  return verify(null, sums, verifier, signed.subarray(KEY_NUMBER_END));
}

/**
 * Hashes (SHA-256, hex) by file name, of a verified SHA256SUMS.
 * @throws when a line is not as `sha256sum` writes it, or a name stands twice: no line is passed over.
 */
export function readSums(sums: Uint8Array): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const lines = Buffer.from(sums).toString('utf8').split('\n');
  if (lines.pop() !== '') throw new Error('SHA256SUMS is cut off: its last line has no end');
  for (const line of lines) {
    const [, sum, name] = SUM_LINE.exec(line) ?? [];
    if (sum === undefined || name === undefined)
      throw new Error(`SHA256SUMS has a line of another form: ${line.slice(0, 100)}`);
    if (files.has(name)) throw new Error(`SHA256SUMS names ${name} twice`);
    files.set(name, sum);
  }
  return files;
}

/** The hash of a file in a verified SHA256SUMS; undefined when it is not in the list. */
export function sumOf(sums: Uint8Array, name: string): string | undefined {
  return readSums(sums).get(name);
}

/** SHA-256 in hex, as SHA256SUMS has it. */
export function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** The bytes of a signify file: its last line that is no comment. */
function decode(text: string, length: number): Buffer | undefined {
  const lines = text.trim().split(/\r?\n/);
  const line = lines.length === 2 && lines[0]?.startsWith('untrusted comment:') ? lines[1] : lines[0];
  if (line === undefined || !/^[A-Za-z0-9+/]+={0,2}$/.test(line)) return undefined;
  const bytes = Buffer.from(line, 'base64');
  return bytes.length === length && bytes.toString('latin1', 0, 2) === ALGORITHM ? bytes : undefined;
}
