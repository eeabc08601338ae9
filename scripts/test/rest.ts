/**
 * The files that are still to be run when another run of the same tree has passed (`--except`): not those in which every test passed, unless
 * a setting that was another one in that run makes them test another thing. Used by scripts/test.ts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { importersOf } from './changed.ts';
import { ROOT, type TestFile } from './files.ts';

/**
 * The settings of a run that change what a test does: the executable that it starts instead of the bundle, and its rounds. Executable and bundle
 * are made of the same source; addons, threads, served files and flags of Node differ. So of the main files that start a program those run again
 * that say why (`// built file:`, files.ts), and of the other groups all.
 */
const PROGRAM = 'CULVERT_BIN';
const ROUNDS = 'CULVERT_TEST_ROUNDS';

/** What `--save-passed` writes. */
export interface Passed {
  readonly settings: Readonly<Record<string, string>>;
  /** Paths of the files in which every test passed. */
  readonly files: readonly string[];
}

/** `env`: of the tests. */
export function passedWith(env: NodeJS.ProcessEnv, files: readonly string[]): Passed {
  return { settings: Object.fromEntries([PROGRAM, ROUNDS].map((name) => [name, env[name] ?? ''])), files };
}

/** `inputs`: what the bundle of `files` was made of. */
export function restOf(
  files: readonly TestFile[],
  { settings, files: passed }: Passed,
  env: NodeJS.ProcessEnv,
  inputs: Metafile['inputs'],
): readonly TestFile[] {
  const isOther = (name: string): boolean => settings[name] !== (env[name] ?? '');
  const repeating = isOther(ROUNDS) ? importersOf(readersOf(ROUNDS, inputs), inputs) : new Set();
  const starting = isOther(PROGRAM) ? importersOf(readersOf(PROGRAM, inputs), inputs) : new Set();
  const takesAgain = ({ path, group, againWhenBuilt }: TestFile): boolean =>
    repeating.has(path) || (starting.has(path) && (group !== 'main' || againWhenBuilt));
  const done = new Set(passed);
  return files.filter((file) => !done.has(file.path) || takesAgain(file));
}

/** The files of the repository in the bundle that read this variable of the environment. */
function readersOf(name: string, inputs: Metafile['inputs']): string[] {
  const own = Object.keys(inputs).filter((path) => /^(src|test|scripts)\/.*\.(ts|tsx|mjs)$/.test(path));
  return own.filter((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    return text.includes(`process.env['${name}']`) || text.includes(`process.env.${name}`);
  });
}
