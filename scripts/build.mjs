/**
 * `npm run build`: src/main.ts → dist/culvert.mjs (for Node 26, with the code of its threads beside it) → dist/culvert (single executable, server and agent,
 * native addons inside) and dist/share/ (completion, man page). Runs on the Node that it embeds. `--bundle` stops after the first; `--dashboard` makes dashboard and documentation alone, which is enough to
 * run from source; `--out FOLDER` builds elsewhere than in dist/. `npm run release` gives the rest: `--release-key KEY` (verifies releases) and `--test-release` go
 * into the program, `--inputs FILE` gets the paths of everything that was bundled.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { buildDashboard } from './build-dashboard.mjs';
import { buildDocs } from './build-docs.mjs';
import { addonFiles, nativePlugin } from './esbuild-native.mjs';
import { makeExecutable } from './release/executable.ts';
import { shareEntries } from './release/share/share.ts';
import { servedFiles } from './release/platform.ts';
import { readVersion, shortCommit } from './release/source.ts';
import { hostTarget } from './release/targets.ts';

const root = join(import.meta.dirname, '..');
const { values: options } = parseArgs({
  options: {
    bundle: { type: 'boolean' },
    dashboard: { type: 'boolean' },
    inputs: { type: 'string' },
    out: { type: 'string' },
    'release-key': { type: 'string' },
    'test-release': { type: 'boolean', default: false },
  },
});
const out = resolve(options.out ?? join(root, 'dist'));
mkdirSync(out, { recursive: true });
// Everything is made here and moved into place at the end: a running `culvert` keeps its file, and a failed build leaves the last one.
const work = mkdtempSync(join(out, '.build-'));
const bundle = join(work, 'culvert.mjs');
/** Paths of all files in the bundles, as esbuild names them. */
const inputs = new Set();
/** Code of threads, by name. */
const WORKERS = {
  'argon2-worker': join(root, 'src/argon2/argon2-worker.ts'),
  'backup-worker': join(root, 'src/server/backup/backup-worker.ts'),
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

async function makeBundle() {
  const releaseKey = options['release-key'] ?? null;
  const info = { version: readVersion(), commit: shortCommit(), releaseKey, isTestRelease: options['test-release'] };
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
      CULVERT_BUILD: JSON.stringify(info),
    },
    banner: { js: BANNER },
    plugins: [nativePlugin],
    metafile: true,
    logLevel: 'warning',
  });
  note(metafile);
  const [output] = Object.values(metafile.outputs);
  const outside = output.imports.filter(({ path }) => !path.startsWith('node:') && !isBuiltinName(path));
  if (outside.length > 0) throw new Error(`left outside of the bundle: ${outside.map(({ path }) => path).join(', ')}`);
}

function note(metafile) {
  for (const path of Object.keys(metafile.inputs)) inputs.add(path);
}

/** The threads' code: a file of its own, as an asset of the executable and beside the plain bundle (src/base/process/assets.ts, startWorker). */
async function makeWorkers() {
  const { metafile } = await build({
    entryPoints: WORKERS,
    metafile: true,
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
  note(metafile);
}

function isBuiltinName(name) {
  return process.getBuiltinModule(name) !== undefined;
}

/** `served`: what the builds of dashboard and documentation have made. */
function makeProgramFile(served) {
  const target = hostTarget();
  if (target === undefined) throw new Error(`no executable can be made for ${process.platform}-${process.arch}`);
  const assets = {
    ...addonFiles(),
    ...servedFiles(),
    ...served,
    ...Object.fromEntries(workers.map((file) => [basename(file), file])),
  };
  const { strip } = makeExecutable({ target, node: process.execPath, folder: work, assets });
  if (strip === null && process.platform === 'linux') {
    console.log('strip is not here (Debian: binutils): the executable stays 35 MB larger');
  }
}

function moveIntoPlace(file) {
  const target = join(out, basename(file));
  renameSync(file, target);
  console.log(`${target}: ${(statSync(target).size / 1e6).toFixed(1)} MB`);
  return target;
}

/** Completion scripts and the man page, for install.sh. */
function makeShare() {
  const epoch = Number(process.env['SOURCE_DATE_EPOCH'] ?? Math.floor(Date.now() / 1000));
  for (const { name, content } of shareEntries({ version: readVersion(), epoch, system: 'other', isPacked: false })) {
    const file = join(out, 'share', name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
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
    ...(await step('dashboard', () => buildDashboard(out, note))),
    ...(await step('documentation', () => buildDocs(out, note))),
  };
  if (options.dashboard) return;
  await step('bundle', makeBundle);
  await step('threads', makeWorkers);
  if (!options.bundle) step('executable', () => makeProgramFile(served));
  moveIntoPlace(bundle);
  for (const file of workers) moveIntoPlace(file);
  if (options.inputs !== undefined) writeFileSync(options.inputs, JSON.stringify([...inputs].sort()));
  if (!options.bundle) {
    makeShare();
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
