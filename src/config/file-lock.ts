/**
 * One process at a time changes a file: a lock file beside it, which exists during the work. Used by credentials.ts. How long work may
 * take is said with it, so a lock that stays the same for longer was left by a process that died, and is taken away.
 */
import { closeSync, fstatSync, openSync, rmSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../base/errors.ts';

const PAUSE_MS = 10;

/** Milliseconds, by the clock of the waiting process: the clock of a file server may be a different one. */
export interface LockTimes {
  /** A lock that was not renewed for so long is a dead process's. Longer than the work ever takes. */
  readonly abandonedMs: number;
  /** Who waits gives up after this. */
  readonly patienceMs: number;
}

/** Does the work while no other process holds the lock at `path`. @throws Error when the lock can't be made, or is not to be had in time. */
export async function withFileLock<T>(path: string, times: LockTimes, work: () => T | Promise<T>): Promise<T> {
  const mine = await take(path, times);
  try {
    return await work();
  } finally {
    // Not one that another made after taking this for abandoned.
    if (holderOf(path) === mine) rmSync(path, { force: true });
  }
}

async function take(path: string, { abandonedMs, patienceMs }: LockTimes): Promise<string> {
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
    } else if (holder !== undefined && now - since > abandonedMs) {
      rmSync(path, { force: true });
      continue; // the first to try has it now, this process or another
    }
    if (now - started > patienceMs) throw new Error(`other commands are using ${path}: try again later`);
    await sleep(PAUSE_MS);
  }
}

/** The content of this process's lock; undefined when another process holds it. */
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
