/** Folders (0700) for files on their way into or out of a backup. Those of a process that was killed go with the next one. */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { HOUR_MS } from '../../base/clock.ts';

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

/**
 * Removes those whose process is gone. Servers in containers that share a volume may all have process id 1: a folder of this id that this thread
 * did not make goes once nothing was written to it for an hour.
 */
export function removeLeftOver(parent: string, prefix: string): void {
  for (const name of readdirSync(parent)) {
    const id = name.startsWith(prefix) ? /^(\d+)-/.exec(name.slice(prefix.length))?.[1] : undefined;
    const path = join(parent, name);
    if (id === undefined || made.has(path) || isInUse(path, Number(id)) || !isOwn(path)) continue;
    rmSync(path, { recursive: true, force: true });
  }
}

function isOwn(path: string): boolean {
  const me = process.getuid?.();
  return me === undefined || statSync(path, { throwIfNoEntry: false })?.uid === me;
}

function isInUse(path: string, id: number): boolean {
  return id === process.pid ? Date.now() - lastChange(path) < HOUR_MS : isRunning(id);
}

/** Of the folder and what is directly in it: a long copy changes its file alone. */
function lastChange(folder: string): number {
  const timeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return Math.max(timeOf(folder), ...readdirSync(folder).map((name) => timeOf(join(folder, name))));
}

function isRunning(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, as another user.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
