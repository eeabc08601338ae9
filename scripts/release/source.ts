/** What is built: version, commit and its time, from package.json and git. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

export interface Source {
  readonly version: string;
  /** Full hash; null outside of a git checkout. */
  readonly commit: string | null;
  /** Files differ from the commit. */
  readonly isChanged: boolean;
  /** Seconds since 1970 for everything that carries a time. */
  readonly epoch: number;
}

/** @throws when neither git nor SOURCE_DATE_EPOCH tells a time. */
export function readSource(): Source {
  const commit = git('rev-parse', 'HEAD');
  const time = process.env['SOURCE_DATE_EPOCH'] ?? git('log', '-1', '--format=%ct');
  if (time === null) throw new Error('This is no git checkout. Set SOURCE_DATE_EPOCH to the time of the release.');
  const epoch = Number(time);
  if (!Number.isSafeInteger(epoch) || epoch < 0) throw new Error(`SOURCE_DATE_EPOCH is not a time: ${time}`);
  return { version: readVersion(), commit, isChanged: isChanged(), epoch };
}

/** Short hash of the commit, `+` behind it when the files differ from it; null outside of a git checkout. */
export function shortCommit(): string | null {
  const commit = git('rev-parse', '--short=12', 'HEAD');
  return commit === null ? null : commit + (isChanged() ? '+' : '');
}

export function readVersion(): string {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };
  return manifest.version;
}

function isChanged(): boolean {
  return (git('status', '--porcelain', '--untracked-files=no') ?? '') !== '';
}

/** Null when git is missing or this is no checkout: a build from an archive has its version alone. */
function git(...args: string[]): string | null {
  try {
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return null;
  }
}
