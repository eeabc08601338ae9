/**
 * The tests that a change touches: those that import a changed file, directly or by way of others, and those whose text names a changed file
 * that is not code (a settings file, a document). What a test starts as a program is not seen: `npm test` runs them all. Used by scripts/test.ts.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Metafile } from 'esbuild';
import { ROOT, type TestFile } from './files.ts';

/** Paths that differ from a commit, the uncommitted and the new ones included. */
export function changedSince(commit: string): string[] {
  const git = (...args: string[]): string[] =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== '');
  const against = git('merge-base', commit, 'HEAD')[0] ?? commit;
  return [...git('diff', '--name-only', '--no-renames', against), ...git('ls-files', '--others', '--exclude-standard')];
}

/** `inputs`: what the bundle of all tests was made of. */
export function touchedBy(
  changed: readonly string[],
  files: readonly TestFile[],
  inputs: Metafile['inputs'],
): TestFile[] {
  const code = changed.filter((path) => path in inputs);
  const touched = importersOf(code, inputs);
  const others = changed.filter((path) => !(path in inputs)).map((path) => basename(path));
  return files.filter(({ path }) => {
    if (touched.has(path)) return true;
    if (others.length === 0) return false;
    const text = readFileSync(join(ROOT, path), 'utf8');
    return others.some((name) => text.includes(name));
  });
}

/** These files and all that import them, directly or by way of others. */
export function importersOf(paths: readonly string[], inputs: Metafile['inputs']): ReadonlySet<string> {
  const importers = new Map<string, string[]>();
  for (const [importer, { imports }] of Object.entries(inputs)) {
    for (const { path } of imports) importers.set(path, [...(importers.get(path) ?? []), importer]);
  }
  const found = new Set(paths);
  // A set that grows while it is walked is walked to its new end.
  for (const path of found) for (const importer of importers.get(path) ?? []) found.add(importer);
  return found;
}
