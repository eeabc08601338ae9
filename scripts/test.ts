/**
 * `npm test`: builds what tests run on, runs the test files, and says how it went. `--help` says what it takes. The parts are in scripts/test/.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundleProgram, bundleTests, CACHE, makeFolder } from './test/bundle.ts';
import { changedSince, touchedBy } from './test/changed.ts';
import { haveDashboard } from './test/dashboard.ts';
import { findTestFiles, named, type TestFile } from './test/files.ts';
import { runFiles } from './test/pool.ts';
import { Queue, readCosts, writeCosts } from './test/queue.ts';
import { type Passed, passedWith, restOf } from './test/rest.ts';
import { Results } from './test/results.ts';
import { Sources } from './test/sources.ts';

const HELP = `npm test [-- PATTERN ...] [options]     the main tests, or the files that the patterns name
npm run test:all                         those with browsers, fuzzers and other servers, too
npm run test:slow                        those that take long by their nature, alone
npm run test:changed [-- COMMIT]         what has changed since COMMIT (HEAD)

PATTERN is a path, a folder, a glob or a part of a path.
  --name REGEXP     only tests whose name fits
  --lanes N         files that run at a time (4)
  --verbose         name every test (so it is for up to three files)
  --needs-all       a program that is missing is a failure, and no reason to skip
  --save-costs      keep how long each file took in scripts/test/costs.json
  --save-passed F   write the files in which every test passed to F
  --except F        not the files in F, unless rounds or CULVERT_BIN make them test another thing

Example: npm test -- src/mux src/control/auth/mfa/service.test.ts --name "recovery"`;

/** Four on two cores: many tests wait for timers and children. */
const LANES = 4;
/** Where every test is named: few enough to read them. */
const FEW = 3;
/** What all tests together leave in their temporary folders at a time is far less. */
const ROOM = 2 * 1024 ** 3;
const MEMORY = '/dev/shm';

const { values: options, positionals: patterns } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean', default: false },
    changed: { type: 'boolean', default: false },
    except: { type: 'string' },
    help: { type: 'boolean', default: false },
    lanes: { type: 'string', default: String(LANES) },
    name: { type: 'string' },
    'needs-all': { type: 'boolean', default: false },
    'save-costs': { type: 'boolean', default: false },
    'save-passed': { type: 'string' },
    slow: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});

async function main(): Promise<boolean> {
  const lanes = Number(options.lanes);
  if (!Number.isInteger(lanes) || lanes < 1 || lanes > 64) throw new Error('--lanes wants a number from 1 to 64');
  if (options.name !== undefined && options['save-passed'] !== undefined)
    throw new Error('--save-passed: with --name, only a part of each file runs. Leave out one of them.');
  const started = performance.now();
  const settings = {
    ...process.env,
    // src/base/testing.ts
    ...(options.all || options.slow ? { CULVERT_TEST_ROUNDS: 'many' } : {}),
  };
  const [bundle, program, chosen] = await build(findTestFiles(), settings);
  if (chosen.length === 0) {
    console.log('No test file is left to run.');
    return true;
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`built in ${seconds} s; ${chosen.length} ${chosen.length === 1 ? 'file' : 'files'}, ${lanes} at a time`);

  const results = new Results(chosen.length, {
    sources: new Sources(bundle),
    everyTest: options.verbose || chosen.length <= FEW,
    needsAll: options['needs-all'],
  });
  const folder = temporaryFolder();
  const env = { ...settings, TMPDIR: folder, CULVERT_TEST_PROGRAM: program };
  await runFiles(new Queue(chosen, readCosts(CACHE)), { bundle, lanes, env, name: options.name }, results);
  const passed = results.finish();
  // Of a part of the tests in a file the time says nothing.
  if (options.name === undefined) {
    writeCosts(options['save-costs'] ? join(import.meta.dirname, 'test') : CACHE, results.costsOfPassed());
  }
  if (options['save-passed'] !== undefined) {
    writeFileSync(options['save-passed'], JSON.stringify(passedWith(settings, results.whollyPassed()), undefined, 1));
  }
  return passed;
}

/** The bundle, the program that tests start, and the files to run; all are made at the same time. */
async function build(
  all: readonly TestFile[],
  settings: NodeJS.ProcessEnv,
): Promise<[string, string, readonly TestFile[]]> {
  const wanted = options.changed ? all.filter(({ group }) => group === 'main') : choose(all);
  const folder = makeFolder();
  const [{ file, metafile }, program] = await Promise.all([
    bundleTests(
      folder,
      wanted.map(({ path }) => path),
      { atOnce: options.name !== undefined },
    ),
    bundleProgram(folder),
    haveDashboard(),
  ]);
  const { inputs } = metafile;
  const chosen = options.changed ? touchedBy(changedSince(patterns[0] ?? 'HEAD'), wanted, inputs) : wanted;
  if (options.except === undefined) return [file, program, chosen];
  const passed = JSON.parse(readFileSync(options.except, 'utf8')) as Passed;
  return [file, program, restOf(chosen, passed, settings, inputs)];
}

function choose(all: readonly TestFile[]): readonly TestFile[] {
  if (patterns.length > 0) return named(all, patterns);
  if (options.slow) return all.filter(({ group }) => group === 'slow');
  return all.filter(({ group }) => group === 'main' || (options.all && group !== 'slow'));
}

/** In memory where there is room for it: tests write thousands of small databases. */
function temporaryFolder(): string {
  const base = hasRoom() ? MEMORY : tmpdir();
  const folder = mkdtempSync(join(base, 'culvert-tests-'));
  // Database servers refuse to run as root: theirs is another user, who must get to the data in it.
  chmodSync(folder, 0o711);
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > ROOM;
  } catch {
    return false; // no such folder: not Linux
  }
}

// What was started and made is ended and removed on the way out.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));

if (options.help) {
  console.log(HELP);
} else {
  try {
    process.exitCode = (await main()) ? 0 : 1;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 2;
  }
}
