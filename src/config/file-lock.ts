/**
 * One process at a time changes a file: a lock file beside it, which exists while somebody is at work. Used by credentials.ts. The work is
 * synchronous and takes milliseconds, so a lock that stays the same for seconds was left by a process that died, and is taken away.
 */
import { closeSync, fstatSync, openSync, rmSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../base/errors.ts';

/** By the clock of the waiting process: the clock of a file server may be a different one. */
const ABANDONED_MS = 5_000;
/** A thousand commands at once are through long before that. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 10;

/** Does the work while no other process holds the lock at `path`. @throws Error when the lock can't be made, or is not to be had in 30 s. */
export async function withFileLock<T>(path: string, work: () => T): Promise<T> {
  const mine = await take(path);
  try {
    return work();
  } finally {
    // Not one that another made after taking this for abandoned.
    if (holderOf(path) === mine) rmSync(path, { force: true });
  }
}

async function take(path: string): Promise<string> {
  const started = performance.now();
  let seen: string | undefined;
  let since = started;
  while (true) {
    const mine = create(path);
    if (mine !== undefined) return mine;
    const now = performance.now();
    const holder = holderOf(path);
    if (holder !== seen) {
      seen = holder;
      since = now;
    } else if (holder !== undefined && now - since > ABANDONED_MS) {
      rmSync(path, { force: true });
      continue; // whoever is first now has it, this process or another that waits
    }
    if (now - started > PATIENCE_MS) throw new Error(`other commands hold ${path}: try again later`);
    await sleep(PAUSE_MS);
  }
}

/** Who holds the lock that was made here; undefined when somebody else has it. */
function create(path: string): string | undefined {
  try {
    const fd = openSync(path, 'wx', 0o600);
    try {
      return identity(fstatSync(fd, { bigint: true }));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return undefined;
    throw error;
  }
}

function holderOf(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? undefined : identity(stat);
}

function identity({ ino, mtimeNs }: { readonly ino: bigint; readonly mtimeNs: bigint }): string {
  return `${ino}/${mtimeNs}`;
}
