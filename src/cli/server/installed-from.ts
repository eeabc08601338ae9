/** Where a program was installed from: `get.sh` writes the value of its `--from` beside it. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const NOTE = '../share/culvert/installed-from';
const MAX_NOTE_BYTES = 4_096;

/** A URL or folder; undefined when it was installed another way, or the folder is gone. */
export function installedFrom(program: string): string | undefined {
  const note = join(dirname(program), NOTE);
  const size = statSync(note, { throwIfNoEntry: false })?.size;
  if (size === undefined || size > MAX_NOTE_BYTES) return undefined;
  const from = readFileSync(note, 'utf8').trim();
  return /^https?:\/\/\S+$/.test(from) || (from.startsWith('/') && existsSync(from)) ? from : undefined;
}
