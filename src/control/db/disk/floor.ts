/**
 * Two levels of free space on the disk of the data folder. Below the first nothing is recorded, so that the main database can go on; below the
 * second, what was recorded is deleted for it.
 */
import type { DiskSpace } from '../../../base/process/disk-space.ts';

const MB = 1024 * 1024;
/** Room for years of a large server's database; more would keep a large disk from being used. */
const MOST = 1_024 * MB;
/** A database, its log, and the copy of it that is made before a migration. */
const LEAST = 64 * MB;
const SHARE = 0.05;
/** A small disk is for recordings too. */
const SMALL_DISK_SHARE = 1 / 3;
/** What the main database writes within minutes. */
const CRITICAL = 32 * MB;

/** Bytes, or computed from the size of the disk. 0: no level. */
export type MinFree = number | 'auto';

/** Below so many free bytes nothing is recorded. */
export function floorOf({ total }: DiskSpace, minFree: MinFree): number {
  if (minFree !== 'auto') return minFree;
  return Math.floor(Math.min(Math.max(total * SHARE, LEAST), total * SMALL_DISK_SHARE, MOST));
}

/** Below so many free bytes recordings are deleted. */
export function criticalOf(space: DiskSpace, minFree: MinFree): number {
  return Math.floor(Math.min(floorOf(space, minFree) / 4, CRITICAL));
}

/** False also where the file system does not say how large it is. */
export function isBelow(space: DiskSpace, level: number): boolean {
  return space.total > 0 && space.free < level;
}
