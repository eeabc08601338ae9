/**
 * One bundle of many test files, and one of the program for tests that start it. Used by scripts/test.ts. Modules run when they
 * are first needed, in one scope a bundle; each file keeps its own `import.meta`, so fixtures are found. Packages of tests that are
 * large or look for files of their own stay outside. Reasons: docs/decisions/0018-one-bundle-four-lanes.md.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type BuildOptions, type Metafile, type Plugin } from 'esbuild';
import { ROOT } from './files.ts';

/** Inside node_modules: what stays outside of the bundle is found from there, and git and formatters pass it over. */
export const CACHE = join(ROOT, 'node_modules/.cache/tests');
/** The name of a bundle's thread starter, beside the code of its threads. */
const BESIDE = 'thread.js';

const OUTSIDE = [
  '@grpc/grpc-js',
  '@node-rs/argon2',
  'axe-core',
  'better-sqlite3',
  'dns2',
  'drizzle-kit',
  'drizzle-kit/api',
  'esbuild',
  'oidc-provider',
  'playwright-core',
  'smtp-server',
  'typescript',
  'vite',
  'yamux-js',
];

/** Files that start a thread whose code lies beside them (src/base/process/assets.ts, startWorker): of the bundle it lies beside the bundle. */
const THREADS = {
  'argon2-worker': 'src/argon2/argon2-worker.ts',
  'backup-worker': 'src/server/backup/backup-worker.ts',
  'data-worker': 'src/data/data-worker.ts',
  'usage-worker': 'src/control/db/usage/usage-worker.ts',
};
const STARTERS = new Set([
  'src/argon2/argon2-threads.ts',
  'src/data/data-thread.ts',
  'src/control/db/usage/usage-thread.ts',
  'src/server/backup/schedule.ts',
]);

const PROGRAM = `
import { runProgram } from './src/cli/program.ts';
import { processIo } from './src/cli/terminal/io.ts';
void runProgram(process.argv.slice(2), processIo()).then((code) => process.exit(code));`;

const BANNER = `import { createRequire as __createRequire } from 'node:module';
const require = __createRequire(${JSON.stringify(join(ROOT, 'package.json'))});`;

/** Loaded when it is first needed: a static import of a package would load it in every process. */
const lazyPackages: Plugin = {
  name: 'packages outside',
  setup(setup) {
    const names = new Set(OUTSIDE);
    // What stands in for a package asks Node for the package itself.
    setup.onResolve({ filter: /.*/, namespace: 'outside' }, ({ path }) => ({ path, external: true }));
    setup.onResolve({ filter: /^[@a-z]/ }, ({ path }) =>
      names.has(path) ? { path, namespace: 'outside' } : undefined,
    );
    setup.onLoad({ filter: /.*/, namespace: 'outside' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
      loader: 'js',
    }));
  },
};

/** Not in one word with what is asked of it: this file is in a bundle too. */
const META = 'import.meta';

const sourceAddresses = (folder: string): Plugin => ({
  name: 'import.meta of the source',
  setup(setup) {
    setup.onLoad({ filter: /\/(src|test|scripts)\/.*\.(ts|tsx|mjs)$/ }, ({ path }) => {
      if (path.includes('/node_modules/')) return undefined;
      const text = readFileSync(path, 'utf8');
      if (!text.includes(`${META}.`)) return undefined;
      const own = STARTERS.has(path.slice(ROOT.length + 1)) ? join(folder, BESIDE) : path;
      const contents = text
        .replaceAll(`${META}.url`, JSON.stringify(pathToFileURL(own).href))
        .replaceAll(`${META}.dirname`, JSON.stringify(join(path, '..')));
      return { contents, loader: path.endsWith('x') ? 'tsx' : path.endsWith('.mjs') ? 'js' : 'ts' };
    });
  },
});

const common = (folder: string) =>
  ({
    absWorkingDir: ROOT,
    bundle: true,
    platform: 'node',
    target: 'node26',
    format: 'esm',
    jsx: 'automatic',
    mainFields: ['module', 'main'],
    banner: { js: BANNER },
    plugins: [lazyPackages, sourceAddresses(folder)],
    logLevel: 'warning',
  }) satisfies BuildOptions;

/** A folder for the bundles of one run, removed with the process: two may run at the same time. */
export function makeFolder(): string {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'run-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * A bundle that exports `files`: by path, what imports the test file. Its source map lies beside it; `metafile` says what each file imports.
 * `atOnce`: the import is done when the call returns. Node looks for the tests that `--test-name-pattern` names in what a suite has made by then.
 */
export async function bundleTests(
  folder: string,
  paths: readonly string[],
  { atOnce }: { readonly atOnce: boolean },
): Promise<{ readonly file: string; readonly metafile: Metafile }> {
  const outfile = join(folder, 'tests.mjs');
  const how = atOnce ? 'require' : 'import';
  const entries = paths.map((path) => `${JSON.stringify(path)}: () => ${how}(${JSON.stringify(`./${path}`)}),`);
  const { metafile } = await build({
    ...common(folder),
    stdin: { contents: `export const files = {\n${entries.join('\n')}\n};`, resolveDir: ROOT, loader: 'js' },
    outfile,
    sourcemap: 'external',
    sourcesContent: false,
    metafile: true,
  });
  return { file: outfile, metafile };
}

/** A script that a test starts many times, as one file in `folder`; returns its path. Reading its modules one by one takes a second each time. */
export async function bundleScript(path: string, folder: string): Promise<string> {
  const outfile = join(folder, basename(path).replace(/\.ts$/, '.mjs'));
  await build({ ...common(folder), entryPoints: [path], outfile });
  return outfile;
}

/**
 * The program as tests start it, and its threads. Returns the file to run; what was compiled at one start is there for the next. Without comments
 * and spaces it is half as long to read; the names of functions stay, for the stack traces of failures.
 */
export async function bundleProgram(folder: string): Promise<string> {
  const threads = Object.fromEntries(Object.entries(THREADS).map(([name, path]) => [name, join(ROOT, path)]));
  const { outputFiles } = await build({
    ...common(folder),
    write: false,
    // What main.ts does: a file of CommonJS can't wait at its top.
    stdin: { contents: PROGRAM, resolveDir: ROOT, loader: 'ts' },
    entryPoints: threads,
    outdir: folder,
    outExtension: { '.js': '.code.cjs' },
    format: 'cjs',
    banner: { js: '' },
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    lineLimit: 160, // Node prints the line of an error
  });
  for (const { path, text } of outputFiles) writeFileSync(path, inAscii(text));
  const starter = JSON.stringify(join(import.meta.dirname, 'kept-code.mjs'));
  for (const name of Object.keys(threads)) {
    const code = JSON.stringify(join(folder, `${name}.code.cjs`));
    writeFileSync(join(folder, `${name}.cjs`), `require(${starter}).run(${code}, 'thread');\n`);
  }
  const program = join(folder, 'program.mjs');
  const code = JSON.stringify(join(folder, 'stdin.code.cjs'));
  writeFileSync(
    program,
    `import { run } from ${starter};\nrun(${code}, /^[a-z-]+$/.exec(process.argv[2] ?? '')?.[0] ?? 'other');\n`,
  );
  return program;
}

/** esbuild writes strings so, and leaves regular expressions as they are. */
function inAscii(text: string): string {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
