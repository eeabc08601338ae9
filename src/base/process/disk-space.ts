/** Free space of the disk that a folder is on. */
import { statfsSync, type StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';

/** Bytes. */
export interface DiskSpace {
  /** What this user may still write. */
  readonly free: number;
  /** 0: the file system does not say. */
  readonly total: number;
}

/** Does not hold the thread; on a disk that does not respond it never settles. Rejects as the system does. */
export async function diskSpace(folder: string): Promise<DiskSpace> {
  return spaceOf(await statfs(folder));
}

/** The same, at once: for a thread of its own, and for a start. Throws as the system does. */
export function diskSpaceNow(folder: string): DiskSpace {
  return spaceOf(statfsSync(folder));
}

function spaceOf({ bavail, blocks, bsize }: StatsFs): DiskSpace {
  return { free: bavail * bsize, total: blocks * bsize };
}

/** For log lines and errors: `1.5 MB`. */
export function sizeText(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1_024 && unit < units.length - 1) {
    value /= 1_024;
    unit++;
  }
  return `${value >= 10 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}
