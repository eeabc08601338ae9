/** Folders (0700) for files on their way into or out of a backup. Those of a process that was killed go with the next one. */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** By this thread. */
const made = new Set<string>();

/** Makes `<prefix><process id>-<random>` in a folder. The prefix begins with a name, not with a path. */
export function makeWorkFolder(parent: string, prefix: string): string {
  removeLeftOver(parent, prefix);
  // mkdtemp gives it to this user alone.
  const folder = mkdtempSync(join(parent, `${prefix}${process.pid}-`));
  made.add(folder);
  return folder;
}

/** Removes those whose process is gone. */
export function removeLeftOver(parent: string, prefix: string): void {
  for (const name of readdirSync(parent)) {
    const id = name.startsWith(prefix) ? /^(\d+)-/.exec(name.slice(prefix.length))?.[1] : undefined;
    const path = join(parent, name);
    if (id === undefined || made.has(path) || isRunning(Number(id)) || !isOwn(path)) continue;
    rmSync(path, { recursive: true, force: true });
  }
}

function isOwn(path: string): boolean {
  const me = process.getuid?.();
  return me === undefined || statSync(path, { throwIfNoEntry: false })?.uid === me;
}

function isRunning(id: number): boolean {
  // In a container each server has the same id; those of this process are in `made`.
  if (id === process.pid) return false;
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, as another user.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
