/**
 * A file of a megabyte that holds room for a start on a full disk: SQLite opens a database only where it can write a little. Removed by a start that
 * needs it, and written again once there is space (operator/disk-watch.ts).
 */
import { existsSync, rmSync, statSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type DiskSpace, diskSpaceNow, sizeText } from '../../../base/process/disk-space.ts';
import type { Logger } from '../../../base/log.ts';
import { isBelow } from './floor.ts';
import { DATABASE_FILE } from '../open.ts';
import { GAVE_WAY, removeRecords } from '../usage/usage-file.ts';

export const RESERVE_FILE = 'disk-reserve';
const MOST = 1024 * 1024;
const SHARE = 1 / 16;

/** Bytes. */
export function reserveSize({ total }: DiskSpace): number {
  return Math.floor(Math.min(total * SHARE, MOST));
}

/** Writes the file if it is missing. Rejects as the disk does, without a part of it. */
export async function keepReserve(dataDir: string, space: DiskSpace): Promise<void> {
  const path = join(dataDir, RESERVE_FILE);
  if (existsSync(path)) return;
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(Buffer.alloc(reserveSize(space)));
    await file.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** Before the database is opened, by the holder of the lock: on a full disk frees the reserve, and recorded requests when that is not enough. */
export function makeStartRoom(dataDir: string, log: Logger): void {
  const space = diskSpaceNow(dataDir);
  const needed = reserveSize(space) / 2;
  if (!isBelow(space, needed)) return;
  log.error({ data_dir: dataDir, free: sizeText(space.free) }, 'the disk of data_dir is full. Free some space on it');
  rmSync(join(dataDir, RESERVE_FILE), { force: true });
  if (!isBelow(diskSpaceNow(dataDir), needed)) return;
  // Without a database they are remains of another server, and not this one's to delete.
  if ((statSync(join(dataDir, DATABASE_FILE), { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  const files = removeRecords(dataDir);
  if (files.length > 0) log.error({ files }, GAVE_WAY);
}
