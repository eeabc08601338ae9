// built file: the thread of a backup is inside it
/** A server that is backed up under load, lost, and restored elsewhere; and restores that are killed. Server, agent and commands are processes. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { run } from '../../src/cli/fixtures/in-process.ts';
import { spawnCulvert } from '../harness.ts';
import { culvertCommand } from '../harness/spawned.ts';
import { backupStory, runCulvert } from './backup-story.ts';

/** Ten times what a two-core machine takes, for one that is busy. The documentation promises a minute for a database of this size. */
const RTO_MS = 60_000;

test('backup: a server under writes is restored elsewhere, with keys, secrets and the pin of its agent', {
  timeout: 240_000,
}, async (t) => {
  const { writes, restoreMs } = await backupStory(t, 'a passphrase of a test');
  assert.ok(writes > 0, 'the server went on writing');
  assert.ok(restoreMs < RTO_MS, `${restoreMs} ms`);
});

test('backup: the schedule makes one at the first start, and restore --check reads it', {
  timeout: 120_000,
}, async (t) => {
  const target = mkdtempSync(join(tmpdir(), 'culvert-backups-'));
  t.after(() => rmSync(target, { recursive: true, force: true }));
  const culvert = await spawnCulvert(t, { toml: `[backup]\nfolder = "${target}"\n` });
  const made = (): string | undefined => readdirSync(target).find((name) => name.endsWith('.culvert'));
  while (made() === undefined) await pause(100);
  const { code, stdout, stderr } = await runCulvert(culvert.folder, ['restore', join(target, made() ?? ''), '--check']);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /: ok\. Made at .*\n.*\n {2}1 organization, 1 user$/m);
});

test('restore: killed at any moment, the data folder is absent or whole', { timeout: 240_000 }, async (t) => {
  const culvert = await spawnCulvert(t);
  const { folder } = culvert;
  const config = join(folder, 'server.toml');
  const file = join(folder, 'shop.culvert');
  assert.equal((await runCulvert(folder, ['backup', file, '--config', config])).code, 0);
  await culvert.killServer();
  const dataDir = join(folder, 'restored');
  const [program = '', ...first] = culvertCommand();
  let absent = 0;
  // Until one is done: each is killed a little later, from when its folder for the work is there. On a busy machine the first one may be done before.
  for (let delay = 0; ; delay = absent === 0 ? 0 : delay + 3) {
    const child = spawn(program, [...first, 'restore', file, '--data-dir', dataDir], { stdio: 'ignore' });
    const ended = once(child, 'exit') as Promise<[number | null]>;
    // Its own: a run that was killed leaves another.
    const own = `restored.restoring-${child.pid}-`;
    const hasBegun = (): boolean => readdirSync(folder).some((name) => name === 'restored' || name.startsWith(own));
    while (child.exitCode === null && !hasBegun()) await pause(1);
    await pause(delay);
    child.kill('SIGKILL');
    const [code] = await ended;
    if (existsSync(dataDir)) {
      assert.deepEqual(readdirSync(dataDir).sort(), ['certificates', 'culvert.db', 'seal.key']);
      if (code === 0 && absent > 0) break;
      rmSync(dataDir, { recursive: true });
    } else absent++;
  }
  const leftOver = readdirSync(folder).filter((name) => name.startsWith('restored.'));
  assert.ok(leftOver.length <= 1, leftOver.join());
});

test('backup and restore: mistakes in the command line are named', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-mistakes-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'short'), 'abc\n');
  for (const [args, code, message] of [
    [['restore', 'x.culvert'], 2, /--data-dir is missing/],
    [['restore', 'x.culvert', '--check', '--data-dir', 'd'], 2, /--data-dir: --check keeps nothing/],
    [['restore', 'x.culvert', '--data-dir', 'd'], 1, /the backup .*x\.culvert can't be read/],
    [['restore', 'x.culvert', '--check', '--passphrase-file', 'none'], 1, /the passphrase file .*none can't be read/],
    [['restore', 'x.culvert', '--check', '--passphrase-file', 'short'], 1, /has 3 characters\. A passphrase needs 8/],
    [['backup', 'x.db', '--passphrase-file', 'short'], 2, /a copy of the database \(\.db\) is not encrypted/],
  ] as const) {
    const result = await (process.env['CULVERT_BIN'] ? runCulvert(folder, args) : run(args, { home: folder }));
    assert.deepEqual([result.code, result.stdout], [code, ''], args.join(' '));
    assert.match(result.stderr, message);
  }
});
