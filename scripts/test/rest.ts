/**
 * The files that are still to be run when another run of the same tree has passed (`--except`): not those in which every test passed, unless
 * they read a setting that was another one in that run. Used by scripts/test.ts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { importersOf } from './changed.ts';
import { ROOT, type TestFile } from './files.ts';

/** The settings of a run that change what a test does: the built file that it starts instead of the source, and its rounds. */
const SETTINGS = ['CULVERT_BIN', 'CULVERT_TEST_ROUNDS'] as const;

/** What `--save-passed` writes. */
export interface Passed {
  readonly settings: Readonly<Record<string, string>>;
  /** Paths of the files in which every test passed. */
  readonly files: readonly string[];
}

/** `env`: of the tests. */
export function passedWith(env: NodeJS.ProcessEnv, files: readonly string[]): Passed {
  return { settings: Object.fromEntries(SETTINGS.map((name) => [name, env[name] ?? ''])), files };
}

/** `inputs`: what the bundle of `files` was made of. */
export function restOf(
  files: readonly TestFile[],
  { settings, files: passed }: Passed,
  env: NodeJS.ProcessEnv,
  inputs: Metafile['inputs'],
): readonly TestFile[] {
  const others = SETTINGS.filter((name) => settings[name] !== (env[name] ?? ''));
  const own = Object.keys(inputs).filter((path) => /^(src|test|scripts)\/.*\.(ts|tsx|mjs)$/.test(path));
  const readers = own.filter((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    return others.some((name) => text.includes(`process.env['${name}']`) || text.includes(`process.env.${name}`));
  });
  const differing = importersOf(readers, inputs);
  const same = new Set(passed.filter((path) => !differing.has(path)));
  return files.filter(({ path }) => !same.has(path));
}
