/**
 * Puts a restored folder where the server will look for it. A kill at any moment leaves the data folder as it was, or whole: the folder is made
 * beside it and renamed. Where that can't be (a mount point, a parent of another user), it is made inside, and the database moves last: until then
 * `culvert serve` refuses to start, and the next restore begins anew.
 */
import {
  accessSync,
  chownSync,
  constants,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../../base/errors.ts';
import { flushFolder } from '../../base/process/durable-file.ts';
import { DATABASE_FILE } from '../../control/db/open.ts';
import { SEAL_KEY_FILE } from '../../control/core/secrets/sealing.ts';
import { BackupError } from './format.ts';
import { makeWorkFolder, removeLeftOver } from './work-folder.ts';

const INSIDE = '.restoring-';
/** What a restore moves, in this order. */
const MOVED = ['certificates', SEAL_KEY_FILE, DATABASE_FILE] as const;
/** Of the file system, and no data. */
const HARMLESS = new Set(['lost+found']);
const MAX_NAMED = 5;

/** A place for the folder, until it is put there. */
export interface Place {
  /** Empty; to be filled. */
  readonly folder: string;
  /** Gives the folder its name. */
  readonly put: () => void;
  /** Removes what was not put. */
  readonly drop: () => void;
}

/** Throws BackupError when there are data in the folder, or it can't be written. `dataDir`: absolute. */
export function openPlace(dataDir: string, isRenamable = canRename): Place {
  requireEmpty(dataDir);
  const owner = statSync(dataDir, { throwIfNoEntry: false });
  if (owner === undefined || isRenamable(dataDir)) return placeBeside(dataDir, owner);
  return placeInside(dataDir, owner);
}

/** The folder that a symbolic link names: the link stays, and can't be replaced by a folder. Throws for a link to nothing. */
export function realFolder(dataDir: string): string {
  if (lstatSync(dataDir, { throwIfNoEntry: false }) === undefined) return dataDir;
  try {
    return realpathSync(dataDir);
  } catch (cause) {
    throw new BackupError(`${dataDir} is a link that leads nowhere (${codeOf(cause) ?? 'error'}). Create its folder.`, {
      cause,
    });
  }
}

type Owner = Pick<Stats, 'uid' | 'gid'>;

/** Also throws for a file, and where a server has left something. */
export function requireEmpty(dataDir: string): void {
  let names: string[];
  try {
    names = readdirSync(dataDir);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw new BackupError(`${dataDir} can't be used as a data folder: ${codeOf(error) ?? 'error'}. Choose another.`, {
      cause: error,
    });
  }
  const isCutShort = names.some((name) => name.startsWith(INSIDE)) && !names.includes(DATABASE_FILE);
  const own = (name: string): boolean =>
    name.startsWith(INSIDE) || (isCutShort && (MOVED as readonly string[]).includes(name));
  const found = names.filter((name) => !HARMLESS.has(name) && !own(name)).sort();
  if (found.length === 0) return;
  const more = found.length > MAX_NAMED ? ` and ${found.length - MAX_NAMED} more` : '';
  throw new BackupError(
    `${dataDir} is not empty: ${found.slice(0, MAX_NAMED).join(', ')}${more}. A restore replaces no data. ` +
      'Stop the server and move this folder away, or choose another one.',
  );
}

/** Its name can be given to another folder: it is no mount point, and its parent takes new names. */
function canRename(dataDir: string): boolean {
  const parent = dirname(dataDir);
  if (statSync(parent).dev !== statSync(dataDir).dev) return false;
  try {
    accessSync(parent, constants.W_OK);
    return true;
  } catch {
    // By the rights of the parent: the other way remains.
    return false;
  }
}

function placeBeside(dataDir: string, owner: Owner | undefined): Place {
  const parent = dirname(dataDir);
  mkdirSync(parent, { recursive: true });
  const folder = makeWorkFolder(parent, `${basename(dataDir)}.restoring-`);
  return {
    folder,
    put: () => {
      // A server may have started there meanwhile.
      requireEmpty(dataDir);
      give(folder, owner);
      // Removes what an earlier restore has left inside, which a rename would refuse.
      if (owner !== undefined) emptyOut(dataDir);
      if (process.platform === 'win32' && owner !== undefined) rmdirSync(dataDir);
      try {
        renameSync(folder, dataDir);
      } catch (cause) {
        throw new BackupError(
          `the restored folder can't get the name ${dataDir}: ${codeOf(cause) ?? 'error'}. Choose another --data-dir.`,
          { cause },
        );
      }
      flushFolder(parent);
    },
    drop: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function placeInside(dataDir: string, owner: Owner): Place {
  removeLeftOver(dataDir, INSIDE);
  const folder = makeWorkFolder(dataDir, INSIDE);
  return {
    folder,
    put: () => {
      requireEmpty(dataDir);
      give(folder, owner);
      const names = new Set(readdirSync(folder));
      for (const name of MOVED) {
        // Of a restore that was cut short.
        rmSync(join(dataDir, name), { recursive: true, force: true });
        if (names.has(name)) renameSync(join(folder, name), join(dataDir, name));
        flushFolder(dataDir);
      }
      rmdirSync(folder);
      // Also what a restore that was killed has left: all data are in place.
      for (const name of readdirSync(dataDir).filter(isUnfinished)) rmSync(join(dataDir, name), { recursive: true });
    },
    drop: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function isUnfinished(name: string): boolean {
  return name.startsWith(INSIDE);
}

/** Never the database, nor what a restore does not make: those are of a server. A rename then fails, since the folder is not empty. */
function emptyOut(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    const isMoved = name !== DATABASE_FILE && (MOVED as readonly string[]).includes(name);
    if (isUnfinished(name) || isMoved) rmSync(join(dataDir, name), { recursive: true, force: true });
  }
}

/** Root restores for the user of the folder that is there: files of root would lock the server out. */
function give(folder: string, owner: Owner | undefined): void {
  if (owner === undefined || process.getuid?.() !== 0) return;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    chownSync(join(folder, name), owner.uid, owner.gid);
  }
  chownSync(folder, owner.uid, owner.gid);
}
