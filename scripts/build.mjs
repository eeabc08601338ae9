/**
 * `npm run build`: src/main.ts → dist/culvert.mjs (for Node 26, with the code of its threads beside it) → dist/culvert (single executable, server and agent,
 * native addons inside). Runs on the Node that it embeds. `--bundle` stops after the first; `--dashboard` makes dashboard and documentation alone, which is enough to
 * run from source; `--out FOLDER` builds elsewhere than in dist/.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { buildDashboard } from './build-dashboard.mjs';
import { buildDocs } from './build-docs.mjs';
import { addonFiles, nativePlugin } from './esbuild-native.mjs';

const root = join(import.meta.dirname, '..');
const { values: options } = parseArgs({
  options: { bundle: { type: 'boolean' }, dashboard: { type: 'boolean' }, out: { type: 'string' } },
});
const out = resolve(options.out ?? join(root, 'dist'));
mkdirSync(out, { recursive: true });
// Everything is made here and moved into place at the end: a running `culvert` keeps its file, and a failed build leaves the last one.
const work = mkdtempSync(join(out, '.build-'));
const bundle = join(work, 'culvert.mjs');
/** Code of threads, by name. */
const WORKERS = {
  'argon2-worker': join(root, 'src/argon2/argon2-worker.ts'),
  'data-worker': join(root, 'src/data/data-worker.ts'),
  'usage-worker': join(root, 'src/control/db/usage/usage-worker.ts'),
};
const workers = Object.keys(WORKERS).map((name) => join(work, `${name}.cjs`));
const executable = join(work, process.platform === 'win32' ? 'culvert.exe' : 'culvert');

/** CommonJS packages inside the bundle ask for these. */
const BANNER = [
  "import { createRequire as __createRequire } from 'node:module';",
  "import { dirname as __pathDirname } from 'node:path';",
  "import { fileURLToPath as __toPath } from 'node:url';",
  'const require = __createRequire(import.meta.url);',
  'const __filename = __toPath(import.meta.url);',
  'const __dirname = __pathDirname(__filename);',
].join('\n');

function step(name, run) {
  const start = performance.now();
  const result = run();
  const done = (value) => {
    console.log(`${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
    return value;
  };
  return result instanceof Promise ? result.then(done) : done(result);
}

/** The commit being built, `+` behind it when the tree differs from it; null outside of a git checkout. */
function commit() {
  try {
    const git = (...args) =>
      execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    return (
      git('rev-parse', '--short=12', 'HEAD') + (git('status', '--porcelain', '--untracked-files=no') === '' ? '' : '+')
    );
  } catch {
    return null; // A build from an archive: the version alone says which one it is.
  }
}

async function makeBundle() {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { metafile } = await build({
    entryPoints: [join(root, 'src/main.ts')],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    target: 'node26',
    format: 'esm',
    minify: true,
    keepNames: true, // errors and logs show class names
    legalComments: 'eof', // licences of what is inside stay with it
    mainFields: ['module', 'main'],
    external: [], // a bare import left outside would end the executable at its start
    define: {
      'process.env.NODE_ENV': '"production"',
      // What ws would like to have beside it and does not need.
      'process.env.WS_NO_BUFFER_UTIL': '"1"',
      'process.env.WS_NO_UTF_8_VALIDATE': '"1"',
      CULVERT_BUILD: JSON.stringify({ version, commit: commit() }),
    },
    banner: { js: BANNER },
    plugins: [nativePlugin],
    metafile: true,
    logLevel: 'warning',
  });
  const [output] = Object.values(metafile.outputs);
  const outside = output.imports.filter(({ path }) => !path.startsWith('node:') && !isBuiltinName(path));
  if (outside.length > 0) throw new Error(`left outside of the bundle: ${outside.map(({ path }) => path).join(', ')}`);
}

/** The threads' code: a file of its own, as an asset of the executable and beside the plain bundle (src/base/process/assets.ts, startWorker). */
async function makeWorkers() {
  await build({
    entryPoints: WORKERS,
    outdir: work,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    target: 'node26',
    format: 'cjs', // what a thread can be started from without a file
    minify: true,
    define: { 'import.meta.url': '__moduleUrl' },
    banner: { js: "const __moduleUrl = require('node:url').pathToFileURL(__filename).href;" },
    plugins: [nativePlugin],
    logLevel: 'warning',
  });
}

function isBuiltinName(name) {
  return process.getBuiltinModule(name) !== undefined;
}

/** Files of npm packages that the server serves as they are (src/base/process/assets.ts, readPackageFile). */
function servedFiles() {
  const names = ['swagger-ui-dist/swagger-ui-bundle.js', 'swagger-ui-dist/swagger-ui.css'];
  return Object.fromEntries(names.map((name) => [name, fileURLToPath(import.meta.resolve(name))]));
}

/** A stripped copy of Node: 116 instead of 150 MB. Stripping after the injection would break the executable. */
function makeBase() {
  const base = join(work, 'node-base');
  copyFileSync(process.execPath, base);
  chmodSync(base, 0o755);
  if (process.platform !== 'linux') return base;
  try {
    execFileSync('strip', ['--strip-all', base], { stdio: 'ignore' });
  } catch {
    console.log('strip is not here (Debian: binutils): the executable stays 35 MB larger');
  }
  return base;
}

/** `served`: what the builds of dashboard and documentation have made. */
function makeExecutable(served) {
  const base = makeBase();
  const settings = join(work, 'sea.json');
  writeFileSync(
    settings,
    JSON.stringify({
      main: bundle,
      mainFormat: 'module',
      executable: base,
      output: executable,
      disableExperimentalSEAWarning: true,
      useCodeCache: true, // a third off the start
      execArgvExtension: 'none', // NODE_OPTIONS of the environment must not run code in a server
      // A signal that opens a debugger would expose every key of the server to its sender.
      // A server behind a company's own authority is trusted where the machine trusts it, by agent and server alike.
      execArgv: ['--disable-warning=ExperimentalWarning', '--disable-sigusr1', '--use-system-ca'],
      assets: {
        ...addonFiles(),
        ...servedFiles(),
        ...served,
        ...Object.fromEntries(workers.map((file) => [basename(file), file])),
      },
    }),
  );
  execFileSync(process.execPath, ['--build-sea', settings], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  // Apple's kernel ends a program whose signature does not fit; --build-sea removes the one of Node.
  if (process.platform === 'darwin') execFileSync('codesign', ['--sign', '-', executable], { stdio: 'inherit' });
  chmodSync(executable, 0o755);
}

function moveIntoPlace(file) {
  const target = join(out, basename(file));
  renameSync(file, target);
  console.log(`${target}: ${(statSync(target).size / 1e6).toFixed(1)} MB`);
  return target;
}

/** Median time from start to exit of `culvert version`. */
function startTime(program) {
  const times = Array.from({ length: 7 }, () => {
    const start = performance.now();
    execFileSync(program, ['version'], { stdio: 'ignore' });
    return performance.now() - start;
  });
  return times.sort((a, b) => a - b)[3];
}

async function makeProgram() {
  const served = {
    ...(await step('dashboard', () => buildDashboard(out))),
    ...(await step('documentation', () => buildDocs(out))),
  };
  if (options.dashboard) return;
  await step('bundle', makeBundle);
  await step('threads', makeWorkers);
  if (!options.bundle) step('executable', () => makeExecutable(served));
  moveIntoPlace(bundle);
  for (const file of workers) moveIntoPlace(file);
  if (!options.bundle) {
    const program = moveIntoPlace(executable);
    console.log(execFileSync(program, ['version'], { encoding: 'utf8' }).trim());
    console.log(`start: ${startTime(program).toFixed(0)} ms (culvert version, median of 7)`);
  }
}

try {
  await makeProgram();
} finally {
  rmSync(work, { recursive: true, force: true });
}
