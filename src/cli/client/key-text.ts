/** The text of a key file. Only its owner may read it, and its size is bounded. */
import { open } from 'node:fs/promises';
import { codeOf, messageOf } from '../../base/errors.ts';
import { usageError } from '../terminal/exit.ts';

/** Read or write for users who are neither the owner nor in the group. */
const OTHERS = 0o006;

export interface KeyText {
  /** Where it is; `shown` is what the person called it. */
  readonly path: string;
  readonly shown: string;
  readonly maxBytes: number;
  /** What is said of a longer one. */
  readonly tooLong: string;
  /** What is no file but a pipe or a terminal may be as its system made it. */
  readonly mayBePipe?: boolean;
}

/** @throws ExitError (usage) that says what is wrong with the file and never what is in it. */
export async function readKeyText({ path, shown, maxBytes, tooLong, mayBePipe = false }: KeyText): Promise<string> {
  try {
    await using file = await open(path, 'r');
    const found = await file.stat();
    const isChecked = process.platform !== 'win32' && (found.isFile() || !mayBePipe);
    if (isChecked && (found.mode & OTHERS) !== 0)
      throw usageError(`${shown}: other users of this machine can read the key: chmod 600 ${shown}`);
    // The size of a pipe or a device says nothing: it is read until there is too much.
    const bytes = Buffer.alloc(maxBytes + 1);
    for (let length = 0; length <= maxBytes; ) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length, null);
      if (bytesRead === 0) return bytes.toString('utf8', 0, length);
      length += bytesRead;
    }
    throw usageError(`${shown}: ${tooLong}`);
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') throw usageError(`${shown}: there is no such key file`, cause);
    if (codeOf(cause) !== undefined)
      throw usageError(`${shown}: the key file can't be read: ${messageOf(cause)}`, cause);
    throw cause;
  }
}
