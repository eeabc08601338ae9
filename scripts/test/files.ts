/**
 * Which test files there are, and what each says of itself in comments before its first statement:
 *
 *   // group: browser          runs with `npm run test:all` alone (or when it is named)
 *   // alone: <reason>         gets a process of its own: it reads memory, handles or other things of its process
 *   // from source: <reason>   the same, and runs from its source instead of the bundle
 *   // built file: <reason>    what it tests is another thing with the executable in CULVERT_BIN (rest.ts)
 *
 * Used by scripts/test.ts.
 */
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

/** `slow` is no part of `test:all`. */
export const GROUPS = ['main', 'browser', 'build', 'acme', 'fuzz', 'interop', 'soak', 'wireguard', 'slow'] as const;
export type Group = (typeof GROUPS)[number];

/** Milliseconds after which a test counts as hanging, on a busy machine. */
export interface Limits {
  /** A file. */
  readonly file: number;
  /** Between two results of a file. */
  readonly silence: number;
}

/** Tests of the group `slow` may take ten minutes each, and a file of it has up to fifty. */
export function limitsOf(group: Group): Limits {
  const minutes = 60_000;
  return group === 'slow'
    ? { file: 60 * minutes, silence: 11 * minutes }
    : { file: 10 * minutes, silence: 5 * minutes };
}

/** Folders whose files are all of one group. */
const FOLDERS: Readonly<Record<string, Group>> = {
  'test/interop/': 'interop',
  'test/soak/': 'soak',
  'test/wireguard/': 'wireguard',
};

export type Place = 'shared' | 'alone' | 'source';

export interface TestFile {
  /** From the root of the repository: `src/mux/frame.test.ts`. */
  readonly path: string;
  readonly group: Group;
  readonly place: Place;
  /** Has `// built file:`. */
  readonly againWhenBuilt: boolean;
}

/** All test files of the repository, by path. Throws for a group that is none, or a reason that is missing. */
export function findTestFiles(): TestFile[] {
  const paths = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: ROOT });
  return paths.sort().map((path) => describe(path, readFileSync(join(ROOT, path), 'utf8')));
}

function describe(path: string, text: string): TestFile {
  const head = text.slice(0, Math.max(0, text.search(/^(?!\/\/|\/\*| \*|$)/m)));
  const said = new Map(
    [...head.matchAll(/^\/\/ (group|alone|from source|built file):[ ]?(.*)$/gm)].map(([, key, value]) => [key, value]),
  );
  const folder = Object.keys(FOLDERS).find((prefix) => path.startsWith(prefix));
  const group = said.get('group') ?? (folder === undefined ? 'main' : FOLDERS[folder]);
  if (!GROUPS.some((name) => name === group)) throw new Error(`${path}: no such group: ${group}`);
  for (const key of ['alone', 'from source', 'built file']) {
    if (said.get(key) === '') throw new Error(`${path}: "// ${key}:" wants a reason behind it`);
  }
  const place = said.has('from source') ? 'source' : said.has('alone') ? 'alone' : 'shared';
  return { path, group: group as Group, place, againWhenBuilt: said.has('built file') };
}

/**
 * The files that the patterns name: a path from the root or from the working folder, a folder, a glob, or a part of a path (`auth/mfa`).
 * Throws for a pattern that names none.
 */
export function named(files: readonly TestFile[], patterns: readonly string[]): TestFile[] {
  const chosen = new Set<TestFile>();
  for (const pattern of patterns) {
    const path = relative(ROOT, join(process.cwd(), pattern));
    const exact = files.filter((file) => file.path === path || file.path.startsWith(`${path}/`));
    const globbed = new Set(/[*?]/.test(pattern) ? globSync(pattern, { cwd: ROOT }) : []);
    const found =
      exact.length > 0 ? exact : files.filter((file) => globbed.has(file.path) || file.path.includes(pattern));
    if (found.length === 0) throw new Error(`no test file is named by "${pattern}"`);
    for (const file of found) chosen.add(file);
  }
  return files.filter((file) => chosen.has(file));
}
