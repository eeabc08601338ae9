/** `culvert upgrade` and `--rollback`, killed before each of their steps: program and database fit together, and the next try succeeds. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openReleaseKey } from '../../scripts/release/keys.ts';
import { bundleScript } from '../../scripts/test/bundle.ts';
import { run } from '../harness/tools.ts';
import { makeFakeRelease } from './fake-release.ts';
import { hasKept, type Home, install, migrateToNew, runUpgrade, script, wordsIn } from './installed.ts';
import type { KillJob } from './upgrade-job.ts';

const folder = mkdtempSync(join(tmpdir(), 'culvert-kill-'));
after(() => rmSync(folder, { recursive: true }));
let upgradeJob: string;
before(async () => {
  upgradeJob = await bundleScript(join(import.meta.dirname, 'upgrade-job.ts'), folder);
});
const key = openReleaseKey(undefined);
const NEW = { version: '1.1.0', isNew: true };
const release = makeFakeRelease(join(folder, 'release'), { version: '1.1.0', program: script(NEW), key });
const skip = process.platform === 'win32' ? 'the programs of the test are shell scripts' : false;
const MAX_STEPS = 20;

/** True when it was killed, false when it was done before. */
function killed(job: Omit<KillJob, 'releaseKey'>): boolean {
  const argument = JSON.stringify({ ...job, releaseKey: key.publicKey });
  const { signal, status, stderr } = spawnSync(process.execPath, [upgradeJob, argument], { encoding: 'utf8' });
  assert.ok(signal === 'SIGKILL' || status === 0, stderr);
  return signal === 'SIGKILL';
}

/** The program's version, after it has opened the database of the server as a start would. */
async function started({ program, dataDir, config }: Home): Promise<string> {
  for (const args of [
    ['config', 'check', config],
    ['config', 'check', '--migrate', dataDir],
  ]) {
    const { code, stderr } = await run([program, ...args]);
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  }
  const { stdout } = await run([program, 'version']);
  return stdout.split(' ')[1] ?? '';
}

test('upgrade: a kill before any step leaves a server that starts, and the next upgrade succeeds', {
  skip,
}, async () => {
  const versions: string[] = [];
  for (let killAt = 1; killAt < MAX_STEPS; killAt++) {
    const home = install(folder, { version: '1.0.0' });
    const flags = { from: release.folder };
    if (!killed({ home, flags, version: '1.0.0', killAt })) break;
    versions.push(await started(home));
    const { code, stderr } = await runUpgrade({ home, flags, installed: { releaseKey: key.publicKey } });
    assert.equal(code, 0, stderr);
    assert.equal(await started(home), '1.1.0');
    const back = await runUpgrade({ home, flags: { rollback: true } });
    assert.equal(back.code, 0, back.stderr);
    assert.equal(await started(home), '1.0.0', 'the old program is kept, whatever the first try has left');
  }
  assert.deepEqual(
    versions,
    // 7 of the upgrade, and 2 for each of the four files that are kept for other machines.
    Array.from({ length: 15 }, () => '1.0.0'),
  );
});

test('rollback: a kill before any step leaves a server that starts, and the next rollback succeeds', {
  skip,
}, async () => {
  const versions: string[] = [];
  for (let killAt = 1; killAt < MAX_STEPS; killAt++) {
    const home = install(folder, { version: '1.0.0' });
    await runUpgrade({ home, flags: { from: release.folder }, installed: { releaseKey: key.publicKey } });
    migrateToNew(home);
    if (!killed({ home, flags: { rollback: true }, version: '1.1.0', killAt })) break;
    versions.push(await started(home));
    const { code, stderr } = await runUpgrade({ home, flags: { rollback: true } });
    assert.equal(code, 0, stderr);
    assert.equal(await started(home), '1.0.0');
    assert.deepEqual(wordsIn(join(home.dataDir, 'culvert.db')), ['before']);
    assert.equal(hasKept(home), false);
  }
  assert.deepEqual(
    versions,
    Array.from({ length: 7 }, () => '1.1.0'),
  );
});
