/**
 * The files that are still to be run when another run of the same tree has passed (`--except`): not those in which every test passed, unless
 * their rounds or the program that they start may be others now. Used by scripts/test.ts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { importersOf } from './changed.ts';
import { ROOT, type TestFile } from './files.ts';

/** How rounds and program are named to a test. */
const READS = /process\.env(\.|\[')CULVERT_(BIN|TEST_)/;

/** `passed`: paths that `--save-passed` wrote. `inputs`: what the bundle of `files` was made of. */
export function restOf(
  files: readonly TestFile[],
  passed: readonly string[],
  inputs: Metafile['inputs'],
): readonly TestFile[] {
  const own = Object.keys(inputs).filter((path) => /^(src|test|scripts)\/.*\.(ts|tsx|mjs)$/.test(path));
  const readers = own.filter((path) => READS.test(readFileSync(join(ROOT, path), 'utf8')));
  const differing = importersOf(readers, inputs);
  const same = new Set(passed.filter((path) => !differing.has(path)));
  return files.filter(({ path }) => !same.has(path));
}
