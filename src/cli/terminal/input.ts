/** What a command sends as it is: a file that is named, or standard input (`-`). */
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { ExitError, usageError } from './exit.ts';
import type { Io } from './io.ts';

/** The largest body that the API takes. */
const MAX_INPUT_BYTES = 1024 * 1024;

/** The text of a file, or of standard input for `-`. @throws ExitError (usage) */
export async function readInput(io: Io, path: string): Promise<string> {
  if (path === '-') {
    if (io.stdin.isTTY === true) throw usageError('-: standard input is a terminal. Pass a file or a pipe');
    return gather(io.stdin, 'standard input');
  }
  try {
    await using file = await open(resolve(io.cwd, path), 'r');
    return await gather(file.createReadStream({ autoClose: false }), path);
  } catch (cause) {
    if (cause instanceof ExitError) throw cause;
    throw usageError(`${path}: can't be read: ${messageOf(cause)}`, cause);
  }
}

async function gather(source: AsyncIterable<Buffer | string>, name: string): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of source) {
    const bytes = Buffer.from(part);
    size += bytes.length;
    if (size > MAX_INPUT_BYTES) throw usageError(`${name}: is larger than ${MAX_INPUT_BYTES} bytes`);
    parts.push(bytes);
  }
  return Buffer.concat(parts).toString('utf8');
}
