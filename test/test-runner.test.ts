/** What `npm test` runs on (scripts/test/): a file that fails, dies or says nothing is seen, and none changes the world of the next. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import { touchedBy } from '../scripts/test/changed.ts';
import { findTestFiles, type Group, type Limits, limitsOf, named, ROOT, type TestFile } from '../scripts/test/files.ts';
import type { ResultEvent } from '../scripts/test/lane-events.ts';
import { packagesFor } from '../scripts/test/packages.ts';
import { runFiles } from '../scripts/test/pool.ts';
import { Queue } from '../scripts/test/queue.ts';
import { passedWith, restOf } from '../scripts/test/rest.ts';

const folder = mkdtempSync(join(tmpdir(), 'culvert-runner-'));
after(() => rmSync(folder, { recursive: true }));

function testFile(name: string, lines: string): TestFile {
  const file = join(folder, `${name}.test.mjs`);
  writeFileSync(
    file,
    `import { before, suite, test } from 'node:test';\nimport assert from 'node:assert/strict';\n${lines}\n`,
  );
  return { path: relative(ROOT, file), group: 'main', place: 'shared', againWhenBuilt: false };
}

/** Runs the files in one lane; what was said of each, by its name. */
async function ran(files: readonly TestFile[], env: NodeJS.ProcessEnv = {}, limits?: (group: Group) => Limits) {
  const results: ResultEvent[] = [];
  const said: string[] = [];
  const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1, -'.test.mjs'.length);
  const cost = Object.fromEntries(files.map(({ path }, index) => [path, { wall: 1000 - index, cpu: 1000 }]));
  await runFiles(
    new Queue(files, cost),
    { bundle: '', lanes: 1, env: { ...process.env, ...env }, name: undefined, ...(limits && { limitsOf: limits }) },
    {
      result: (_, event) => results.push(event),
      finished: (path, _, output) => said.push(`finished ${nameOf(path)} ${output}`.trim()),
      broke: (path, why) => said.push(`broke ${nameOf(path)}: ${why}`),
      fault: (text) => said.push(`fault ${text}`),
    },
  );
  return { results, said };
}

test('files of a lane run one after the other, each with its own hooks', async () => {
  const hooked = testFile(
    'hooked',
    `globalThis.hooks = 0;
     before(() => globalThis.hooks++);
     test('a', () => assert.equal(globalThis.hooks, 1)); suite('s', () => test('b', () => {}));`,
  );
  const plain = testFile(
    'plain',
    `test('c', { skip: 'not installed: frobnicate' }, () => {});
     test('d', () => assert.equal(globalThis.hooks, 1));`,
  );
  const { results, said } = await ran([hooked, plain]);
  assert.deepEqual(said, ['finished hooked', 'finished plain']);
  const told = results.map(({ names, type, ok, skip }) => [...names.slice(1), type, ok, skip]);
  assert.deepEqual(told, [
    ['a', 'test', true, false],
    ['s', 'b', 'test', true, false],
    ['s', 'suite', true, false],
    ['suite', true, false],
    ['c', 'test', true, 'not installed: frobnicate'],
    ['d', 'test', true, false],
    ['suite', true, false],
  ]);
});

test('a file that leaves something open fails the run, and is named with what it left', async () => {
  const left = testFile(
    'left',
    `import { createServer } from 'node:net';
     test('leaves a server', (_, done) => createServer().listen(0, '127.0.0.1', done));`,
  );
  const { said } = await ran([left, testFile('behind', `test('d', () => {});`)], { LANE_END_MS: '300' });
  assert.deepEqual(said.slice(0, 2), ['finished left', 'finished behind']);
  assert.match(said[2] ?? '', /^fault its process ended with 1, though no test of it failed\nheld open by:\n/);
  assert.match(said[2] ?? '', /Server.*, first seen after .*left\.test\.mjs$/m);
  assert.equal(said.length, 3);
});

test('tests are chosen by a part of their name, in each file that has some', () => {
  const run = (name: string): string => {
    const files = ['src/mux/flight.test.ts', 'src/mux/window.test.ts'];
    const { stdout } = spawnSync(process.execPath, ['scripts/test.ts', ...files, '--name', name], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    return stdout;
  };
  const [first = ''] = /test\('(.*?)'/.exec(readFileSync(join(ROOT, 'src/mux/window.test.ts'), 'utf8'))?.slice(1) ?? [];
  assert.match(run(first), /ℹ tests 1\n[^]*ℹ pass 1\n[^]*ℹ fail 0\n/);
  assert.match(run('no such name'), /no test ran: none has a name that fits/);
});

test('a failure says what failed and where', async () => {
  const { results } = await ran([testFile('failing', `test('one is two', () => assert.equal(1, 2));`)]);
  const [failed] = results;
  assert.equal(failed?.ok, false);
  assert.match(failed?.error ?? '', /1 !== 2/);
  assert.match(failed?.at ?? '', /failing\.test\.mjs:3:1$/);
});

test('a file that can not be loaded fails', async () => {
  const { results } = await ran([testFile('broken', `import './nothing-here.mjs';`)]);
  assert.deepEqual(
    results.map(({ ok, depth }) => [ok, depth]),
    [[false, 0]],
  );
});

test('a file whose process ends is named, and the next one runs in another', async () => {
  const dies = testFile('dies', `test('x', () => process.exit(7));`);
  const { said } = await ran([dies, testFile('lives', `test('y', () => {});`)]);
  assert.deepEqual(said, ['broke dies: its process ended with 7', 'finished lives']);
});

test('a file has the time of its group, and so has each of its tests', async () => {
  const takes = (name: string, test: string): TestFile => testFile(name, `test('x', ${test});`);
  const waits = '() => new Promise((done) => setTimeout(done, 400))';
  const slow: TestFile = { ...takes('slow', waits), group: 'slow' };
  const limits = (file: number, silence: number) => (group: Group) =>
    group === 'slow' ? { file: 60_000, silence: 60_000 } : { file, silence };
  const late = await ran([takes('late', waits), slow], {}, limits(200, 60_000));
  assert.match(late.results.find(({ depth, ok }) => depth === 0 && !ok)?.error ?? '', /timed out after 200ms/);
  assert.deepEqual(late.said, ['finished late', 'finished slow']);
  const hung = takes('hung', '() => { for (;;); }');
  const silent = await ran([slow, hung], {}, limits(60_000, 300));
  assert.deepEqual(silent.said, ['finished slow', 'broke hung: nothing happened for 0.3 s']);
});

test('no test asks for more time than its group has', () => {
  for (const { path, group } of findTestFiles()) {
    const { file, silence } = limitsOf(group);
    for (const [line, ms = ''] of readFileSync(join(ROOT, path), 'utf8').matchAll(/^.*\btimeout: (\d[\d_]{5,})\b/gm)) {
      const most = line.startsWith('suite(') ? file : silence;
      assert.ok(Number(ms.replaceAll('_', '')) <= most, `${path}: ${line}`);
    }
  }
});

test('the folder of the tests is open to another user, who can not list it', {
  skip: process.env['CULVERT_TEST_PROGRAM'] === undefined && 'not run by npm test',
}, () => {
  assert.equal(statSync(tmpdir()).mode & 0o777, 0o711);
});

test('an error after the end of a test fails the run', async () => {
  const late = testFile(
    'late',
    `test('x', () => void setTimeout(() => { throw new Error('too late'); }, 50)); test('y', () => new Promise((done) => setTimeout(done, 200)));`,
  );
  const { said } = await ran([late]);
  assert.match(said.join('\n'), /too late/);
});

test('an error that nothing catches fails the test that it comes from, whatever it waited for', async () => {
  const causes = {
    timer: `setTimeout(() => { throw new Error('a timer'); }, 20)`,
    promise: `void Promise.reject(new Error('a promise'))`,
    socket: `const server = createServer().listen(0, '127.0.0.1', () => {
      connect(server.address().port, '127.0.0.1', function () { this.destroy(); server.close(); throw new Error('a socket'); });
    })`,
  };
  const files = Object.entries(causes).map(([name, cause]) =>
    testFile(
      name,
      `import { connect, createServer } from 'node:net';
       const wait = (ms) => new Promise((done) => setTimeout(done, ms));
       suite('at once', { concurrency: true }, () => {
         test('beside', () => wait(300));
         test('fails', (t) => { ${cause}; return new Promise((done) => t.signal.addEventListener('abort', done)); });
       });
       suite('hooks', () => { before(async () => { await wait(1); }); test('inside', (t) => t.test('deeper', () => wait(1))); });`,
    ),
  );
  const { results } = await ran(files);
  const failed = results.filter(({ ok, type }) => !ok && type === 'test');
  assert.deepEqual(
    failed.map(({ names, error = '' }) => [...names.slice(1), /Error: (a \w+)/.exec(error)?.[1]]),
    Object.keys(causes).map((name) => ['at once', 'fails', `a ${name}`]),
  );
  const passed = results.filter(({ ok }) => ok).map(({ names }) => names.slice(1).join(' > '));
  assert.deepEqual(passed.slice(0, 4), ['at once > beside', 'hooks > inside > deeper', 'hooks > inside', 'hooks']);
});

test('environment, folder, umask, listeners and mocks are put back', async () => {
  const changes = `test('x', (t) => {
    process.env.LEFT = 'here'; delete process.env.HOME; process.chdir('/'); process.umask(0o77);
    process.on('warning', () => {}); globalThis.left = [process.env.HOME, process.cwd()];
  });`;
  const looks = `test('y', () => {
    assert.equal(process.env.LEFT, undefined); assert.ok('HOME' in process.env); assert.notEqual(process.cwd(), '/');
    assert.equal(process.umask(), ${process.umask()}); assert.deepEqual(globalThis.left, [undefined, '/']);
    assert.equal(process.listenerCount('warning'), globalThis.warnings);
  });`;
  const counts = `test('z', () => { globalThis.warnings = process.listenerCount('warning'); });`;
  const { results } = await ran([testFile('counts', counts), testFile('changes', changes), testFile('looks', looks)]);
  assert.deepEqual(
    results.filter(({ ok }) => !ok),
    [],
  );
});

test('a file that lowers the priority of its process fails, and the next one runs in another', async () => {
  const slows = testFile('slows', `import { setPriority } from 'node:os'; test('x', () => setPriority(1));`);
  const { said } = await ran([slows, testFile('behind-it', `test('y', () => {});`)]);
  assert.deepEqual(said, ['broke slows: its process ended with 1', 'finished behind-it']);
});

test('the longest file comes first, and lanes that wait are given what waits', () => {
  const files = ['a', 'b', 'c', 'd'].map(
    (path): TestFile => ({ path, group: 'main', place: 'shared', againWhenBuilt: false }),
  );
  const costs = { a: { wall: 10, cpu: 9 }, b: { wall: 20, cpu: 1 }, c: { wall: 30, cpu: 30 }, d: { wall: 40, cpu: 2 } };
  const queue = new Queue(files, costs);
  const order = [queue.take('computing'), queue.take('waiting'), queue.take('waiting'), queue.take('waiting')];
  assert.deepEqual(
    order.map((file) => file?.path),
    ['c', 'd', 'b', 'a'],
  );
  assert.equal(queue.take('computing'), undefined);
});

test('patterns name files by path, folder and part, and a pattern that names none is refused', () => {
  const files = findTestFiles();
  assert.deepEqual(
    named(files, ['test/test-runner.test.ts']).map(({ path }) => path),
    ['test/test-runner.test.ts'],
  );
  assert.ok(named(files, ['src/mux']).every(({ path }) => path.startsWith('src/mux/')));
  assert.ok(named(files, ['src/control/auth/mfa/*.test.ts']).length >= 2);
  assert.throws(() => named(files, ['no/such/thing']), /no test file is named by "no\/such\/thing"/);
});

test('a change touches the tests that import it, however far, and those that name a changed document', () => {
  const file = (path: string): TestFile => ({ path, group: 'main', place: 'shared', againWhenBuilt: false });
  const input = (...paths: string[]) => ({
    bytes: 1,
    imports: paths.map((path) => ({ path, kind: 'import-statement' as const })),
  });
  const inputs = {
    'src/a.test.ts': input('src/a.ts'),
    'src/a.ts': input('src/b.ts'),
    'src/b.ts': input('src/a.ts', 'src/c.ts'),
    'src/c.ts': input(),
    'src/d.test.ts': input('src/d.ts'),
    'src/d.ts': input(),
  };
  const tests = [file('src/a.test.ts'), file('src/d.test.ts')];
  assert.deepEqual(touchedBy(['src/c.ts'], tests, inputs), [tests[0]]);
  assert.deepEqual(touchedBy(['src/d.test.ts'], tests, inputs), [tests[1]]);
  assert.deepEqual(touchedBy([], tests, inputs), []);
  const settings = named(findTestFiles(), ['test/docs-config.test.ts']);
  assert.deepEqual(touchedBy(['config.example.toml'], settings, {}), settings);
});

test('what passed is not run again, unless other rounds or another program change what it tests', () => {
  const input = (...imports: string[]) => ({
    bytes: 1,
    imports: imports.map((path) => ({ path, kind: 'import-statement' as const })),
  });
  const inputs = {
    'src/mux/window.test.ts': input('src/mux/window.ts'),
    'src/mux/window.ts': input(),
    'src/mux/pipe.test.ts': input('src/base/testing.ts'),
    'src/base/testing.ts': input(),
    'test/flows/budget.test.ts': input('test/harness/spawned.ts'),
    'test/flows/restart.test.ts': input('test/harness/spawned.ts'),
    'test/dashboard/keys.test.ts': input('test/harness/spawned.ts'),
    'test/harness/spawned.ts': input(),
  };
  const paths = [
    'src/mux/pipe.test.ts',
    'src/mux/window.test.ts',
    'test/flows/budget.test.ts',
    'test/flows/restart.test.ts',
    'test/dashboard/keys.test.ts',
  ];
  const [withRounds, , , ofTheFile, ofAnotherGroup] = paths;
  const files = paths.flatMap((path) => named(findTestFiles(), [path]));
  const rest = (passed: readonly string[], env: NodeJS.ProcessEnv) =>
    restOf(files, passedWith({ CULVERT_BIN: 'dist/culvert' }, passed), env, inputs).map(({ path }) => path);
  const same = { CULVERT_BIN: 'dist/culvert' };
  assert.deepEqual(rest([], same), paths);
  assert.deepEqual(rest(paths.slice(1, 3), same), [withRounds, ofTheFile, ofAnotherGroup]);
  assert.deepEqual(rest(paths, same), []);
  assert.deepEqual(rest(paths, {}), [ofTheFile, ofAnotherGroup]);
  assert.deepEqual(rest(paths, { CULVERT_BIN: 'another' }), [ofTheFile, ofAnotherGroup]);
  assert.deepEqual(rest(paths, { ...same, CULVERT_TEST_ROUNDS: 'many' }), [withRounds]);
  assert.deepEqual(rest(paths, { CULVERT_BIN: '', CULVERT_TEST_ROUNDS: 'many' }), [
    withRounds,
    ofTheFile,
    ofAnotherGroup,
  ]);
  // As in .ci/run: a run of the main files with the bundle and all rounds, then one of all with the executable.
  const bare = passedWith({ CULVERT_TEST_ROUNDS: 'many' }, paths.slice(0, 4));
  const built = { ...same, CULVERT_TEST_ROUNDS: 'many' };
  assert.deepEqual(
    restOf(files, bare, built, inputs).map(({ path }) => path),
    [ofTheFile, ofAnotherGroup],
  );
});

test('programs that are missing are named by their packages, each once', () => {
  assert.deepEqual(packagesFor(['wg', 'wg-quick', 'ssh', 'no-such']), ['no-such', 'openssh-client', 'wireguard-tools']);
});
