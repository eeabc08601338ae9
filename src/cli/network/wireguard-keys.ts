/**
 * WireGuard keys on this machine: made here, read from a file or standard input, and the public key of a private one. A private key goes into a
 * configuration that the person asked for and nowhere else: no request to the server has one. Used by the `network` commands.
 */
import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { Secret } from '../../base/secret.ts';
import { usageError } from '../terminal/exit.ts';
import type { Io } from '../terminal/io.ts';
import { readKeyText } from '../client/key-text.ts';

const KEY_BYTES = 32;
/** 32 bytes in base64, as `wg genkey` and `wg pubkey` write them: the last letter holds four bits. */
const KEY = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;
/** The line of a configuration. Names are in any letter case there (wg(8)). */
const KEY_LINE = /^[ \t]*PrivateKey[ \t]*=[ \t]*(\S+)[ \t]*(?:#.*)?$/im;
/** In front of the 32 bytes of an X25519 key in PKCS #8 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex');
/** A configuration with a thousand peers is 150 KB. */
const MAX_BYTES = 1024 * 1024;
const TOO_LONG = 'is larger than a key';

/** A new private key, as `wg genkey` makes one: random bytes with the bits set that X25519 fixes (RFC 7748, section 5). */
export function makePrivateKey(): Secret {
  const bytes = randomBytes(KEY_BYTES);
  bytes.writeUInt8(bytes.readUInt8(0) & 0xf8, 0);
  bytes.writeUInt8((bytes.readUInt8(31) & 0x7f) | 0x40, 31);
  return new Secret(bytes.toString('base64'));
}

/** What `wg pubkey` says of the key. */
export function publicKeyOf(key: Secret): string {
  const der = Buffer.concat([PKCS8, Buffer.from(key.reveal(), 'base64')]);
  const { x } = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })).export({ format: 'jwk' });
  return Buffer.from(x ?? '', 'base64url').toString('base64');
}

/** Is the text a key of WireGuard, public or private? */
export function isWireGuardKey(text: string): boolean {
  return KEY.test(text);
}

/** The public key that `--public-key` gives. @throws ExitError (usage) for anything else. */
export function checkedPublicKey(text: string): string {
  if (KEY.test(text)) return text;
  throw usageError(
    '--public-key: is not a WireGuard public key. `wg pubkey` prints one: 44 characters with "=" at the end',
  );
}

/**
 * The private key in the file of `--key-file`, which holds it alone (`wg genkey`) or is a configuration; `-` is standard input.
 * @throws ExitError (usage) that says what is wrong with the file and never what is in it.
 */
export async function readPrivateKey(path: string, io: Io): Promise<Secret> {
  // Without this the key would stand in the message that there is no such file.
  if (KEY.test(path)) {
    throw usageError(
      '--key-file: needs a file. Other users of this machine can read a key on the command line. Create another key',
    );
  }
  const text = path === '-' ? await fromInput(io) : await fromFile(path, io.cwd);
  const key = KEY_LINE.exec(text)?.[1] ?? text.trim();
  if (KEY.test(key)) return new Secret(key);
  const name = path === '-' ? 'standard input' : path;
  throw usageError(`${name}: has no private key. Use one from \`wg genkey\`, or a configuration with PrivateKey`);
}

async function fromInput(io: Io): Promise<string> {
  if (io.stdin.isTTY === true) throw usageError('--key-file -: reads a pipe, as in `wg genkey | culvert …`');
  let text = '';
  io.stdin.setEncoding('utf8');
  for await (const part of io.stdin) {
    text += String(part);
    if (text.length > MAX_BYTES) throw usageError(`standard input: ${TOO_LONG}`);
  }
  return text;
}

function fromFile(path: string, cwd: string): Promise<string> {
  const shown = { shown: path, tooLong: TOO_LONG };
  return readKeyText({ path: resolve(cwd, path), ...shown, maxBytes: MAX_BYTES, mayBePipe: true });
}
