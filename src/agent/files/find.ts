/**
 * From names in a URL to a file or folder on the disk, never outside the published folder: the real path counts, with every symbolic link
 * followed. A visitor can't write to the folder; that its user moves things between the look and the opening is the user's affair.
 */
import type { BigIntStats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { codeOf } from '../../base/errors.ts';
import { isHidden } from './url-path.ts';

export interface Found {
  readonly path: string;
  readonly stats: BigIntStats;
}

/** Of what a request may name: there is nothing, or nothing that this user may read. */
const ABSENT: ReadonlySet<string | undefined> = new Set([
  'ENOENT',
  'ENOTDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'EACCES',
  'EPERM',
]);

/** Undefined: there is no such thing, or it is outside, or hidden by its real name. */
export async function findIn(root: string, names: readonly string[]): Promise<Found | undefined> {
  try {
    // Each time: a build may replace the folder, and the root may be a link to the latest one.
    const base = await realpath(root);
    const path = await realpath(join(base, ...names));
    if (!isInside(base, path)) return undefined;
    return { path, stats: await stat(path, { bigint: true }) };
  } catch (error) {
    if (ABSENT.has(codeOf(error))) return undefined;
    throw error;
  }
}

/** Both are real paths. Hidden by its real name is as good as outside: a link, or a short name of Windows, leads to it. */
function isInside(base: string, path: string): boolean {
  if (path === base) return true;
  const start = base.endsWith(sep) ? base : base + sep;
  return path.startsWith(start) && !isHidden(path.slice(start.length).split(sep));
}
