/** A command fails if it can't write its output: a key, a whole list, a password. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { loggedInAt, playServer, refreshWith } from '../fixtures/played-server.ts';
import { run, start, tempHome } from '../fixtures/program.ts';

const FULL = '/dev/full';
const NONCE = '5f2b1c9e8d7a4f60b3c2d1e0f9a8b7c6';
const KEY = 'mtk_0123456789abcdefghijABCDEFGHIJ0123456789abc';
const MINTED = { name: 'ci', nonce: NONCE, kind: 'agent', expiresAt: 4_000_000_000, apiKey: KEY };
const SETTINGS = `[api]
listen = "127.0.0.1:0"
[edge]
http_listen = "127.0.0.1:0"
tcp_ports = ""
[agents]
listen = "127.0.0.1:0"
`;

/** A file that takes nothing, as one on a full disk. */
function full(t: TestContext): number {
  const file = openSync(FULL, 'w');
  t.after(() => closeSync(file));
  return file;
}

/** A logged-in user creates a key; it goes to `stdout`, or to a reader that has left. */
async function minting(t: TestContext, stdout: number | undefined, ...options: string[]) {
  const server = await playServer(t);
  const { home } = loggedInAt(t, server.url);
  const words = ['tokens', 'mint', 'ci', '--server', server.url, ...options];
  const program = start(t, words, { home, ...(stdout === undefined ? {} : { stdout }) });
  if (stdout === undefined) program.child.stdout?.destroy();
  refreshWith(await server.next(), 'cookie-1');
  (await server.next()).answer(200, MINTED);
  const code = await program.exit;
  return { code, stderr: program.stderr, url: server.url };
}

test('a key that could not be printed fails the command, which says how to make another', async (t) => {
  for (const stdout of [full(t), undefined]) {
    for (const options of [['--output-env'], ['--json'], []]) {
      const { code, stderr, url } = await minting(t, stdout, ...options);
      assert.equal(code, 1, options.join(' '));
      const advice = `The key of ci is lost. Create another: culvert tokens rotate ${NONCE} --server ${url}`;
      assert.match(stderr, /^culvert: standard output can't be written: .*(ENOSPC|EPIPE)/m);
      assert.ok(stderr.includes(advice), stderr);
      assert.ok(!stderr.includes(KEY));
    }
  }
});

test('a write that a full disk cuts short is no success, though it is no error yet', async (t) => {
  const home = tempHome(t);
  const file = join(home, 'env');
  // No file of this process grows beyond 1 KB, or 512 bytes: the first write is cut short there.
  writeFileSync(file, 'x'.repeat(500));
  const script = `ulimit -f 1; exec "$0" "$1" "$2" >> env`;
  const body = `import { handOver, processIo } from ${JSON.stringify(resolve(import.meta.dirname, '../terminal/io.ts'))};
    await handOver(processIo().stdout, 'x'.repeat(800), 'Make another.');`;
  const options = { cwd: home, timeout: 30_000 };
  const [code, stderr] = await new Promise<[number | null, string]>((done) => {
    const words = ['-c', script, process.execPath, '--input-type=module', `--eval=${body}`];
    const child = execFile('sh', words, options, (_error, _stdout, text) => done([child.exitCode, text]));
  });
  assert.notEqual(code, 0);
  assert.match(stderr, /standard output can't be written: EFBIG.* Make another\./);
  const { size } = statSync(file);
  assert.ok(size > 500 && size < 1_301, `${size} bytes: the write was cut short`);
});

test('a key that is safe in its file is a success, wherever the rest went; a list on a full disk is none', async (t) => {
  const server = await playServer(t);
  const { home } = loggedInAt(t, server.url);
  const program = start(t, ['tokens', 'mint', 'ci', '--save-file', 'key'], { home, stdout: full(t) });
  refreshWith(await server.next(), 'cookie-1');
  (await server.next()).answer(200, MINTED);
  assert.equal(await program.exit, 0);
  assert.equal(readFileSync(join(home, 'key'), 'utf8'), `${KEY}\n`);

  for (const [stdout, wanted] of [
    [full(t), 1],
    [undefined, 0], // `| head -1` has what it wants
  ] as const) {
    const list = start(t, ['projects', '--json'], { home, ...(stdout === undefined ? {} : { stdout }) });
    if (stdout === undefined) list.child.stdout?.destroy();
    refreshWith(await server.next(), 'cookie-2');
    (await server.next()).answer(200, []);
    assert.equal(await list.exit, wanted, list.stderr);
    assert.match(list.stderr, wanted === 0 ? /^$/ : /^culvert: standard output can't be written: ENOSPC[^\n]*\n$/);
  }
});

test("an owner's password that could not be shown is made anew by a command that the log names; the server goes on", async (t) => {
  const home = tempHome(t);
  writeFileSync(join(home, 'server.toml'), SETTINGS);
  const config = ['--config', 'server.toml'];
  const server = start(t, ['serve', ...config], { home, stdout: full(t) });
  await server.until(() => server.stderr.includes('could not print'));
  assert.match(server.stderr, /ENOSPC.*`?culvert admin reset-password admin@localhost --config server\.toml/);

  const words = ['admin', 'reset-password', 'admin@localhost', ...config];
  const lost = await run(words, { home, stdout: full(t) });
  assert.equal(lost.code, 1);
  assert.match(
    lost.stderr,
    /The password is lost\. Create another: culvert admin reset-password admin@localhost --config server\.toml/,
  );
  const again = await run(words, { home });
  assert.match(again.stdout, /^admin@localhost\n\S{16,}\n$/, again.stderr);
  server.signal('SIGTERM');
  assert.equal(await server.exit, 0);
});
