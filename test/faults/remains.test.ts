/** A data folder that lost its database: a volume that is not mounted, a file of 0 bytes, a restore that stopped half way. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silentLog } from '../../src/base/log.ts';
import { backupDatabase } from '../../src/server/backup/command.ts';
import { startServer } from '../../src/server/start.ts';
import { run, tempHome } from '../../src/cli/fixtures/in-process.ts';
import { FakeNode, LOOSE, settingsFor } from '../../src/control/core/testing/harness.ts';

function emptyFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-remains-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const start = (dataDir: string, newServer = false) =>
  startServer(settingsFor(dataDir, LOOSE), {
    version: '1.2.3',
    log: silentLog,
    startNode: new FakeNode().start,
    newServer,
  });

/** A folder on which a server has run and stopped. */
async function usedFolder(t: TestContext): Promise<string> {
  const folder = emptyFolder(t);
  await (await start(folder)).close();
  return folder;
}

function loseDatabase(folder: string): void {
  for (const name of readdirSync(folder)) if (name.startsWith('culvert.db')) rmSync(join(folder, name));
}

test('first start: a data folder without its database is refused, and nothing in it changes', async (t) => {
  const folder = await usedFolder(t);
  loseDatabase(folder);
  const key = readFileSync(join(folder, 'seal.key'));
  await assert.rejects(start(folder), (error: Error) => {
    assert.equal(error.name, 'RemainsError');
    assert.match(error.message, /there is no culvert\.db: found seal\.key, certificates\/agents\.crt/);
    assert.match(error.message, /culvert serve --new-server/);
    return true;
  });
  assert.equal(existsSync(join(folder, 'culvert.db')), false);
  assert.deepEqual(readFileSync(join(folder, 'seal.key')), key);
});

test('first start: a database of 0 bytes beside a key or certificates is refused, by commands too', async (t) => {
  const folder = await usedFolder(t);
  truncateSync(join(folder, 'culvert.db'), 0);
  await assert.rejects(start(folder), /culvert\.db is empty \(0 bytes\): found seal\.key/);
  rmSync(join(folder, 'seal.key'));
  await assert.rejects(start(folder), /culvert\.db is empty \(0 bytes\): found certificates\/agents\.crt/);
  const copy = join(folder, 'copy.db');
  assert.throws(() => backupDatabase(settingsFor(folder, LOOSE), copy, 'culvert backup'), /is empty \(0 bytes\)/);
  assert.equal(existsSync(copy), false);
});

test('first start: a database without tables is begun again beside its key alone, as a killed start leaves it', async (t) => {
  const folder = emptyFolder(t);
  const { openDatabase } = await import('../../src/control/db/open.ts');
  openDatabase(folder).close();
  writeFileSync(join(folder, 'seal.key'), Buffer.alloc(32, 7), { mode: 0o600 });
  mkdirSync(join(folder, 'snapshots'));
  writeFileSync(join(folder, 'snapshots', 'old.db'), 'x');
  await assert.rejects(start(folder), /culvert\.db has no tables: found snapshots\/old\.db/);
  rmSync(join(folder, 'snapshots'), { recursive: true });
  const server = await start(folder);
  assert.ok(server.firstOwner !== undefined);
  await server.close();
});

test('--new-server: begins over remains, which it moves aside, and refuses a folder with a database', async (t) => {
  const folder = await usedFolder(t);
  const oldKey = readFileSync(join(folder, 'seal.key'));
  await assert.rejects(start(folder, true), /has the database of a server/);
  truncateSync(join(folder, 'culvert.db'), 0);
  const server = await start(folder, true);
  assert.ok(server.firstOwner !== undefined);
  await server.close();
  assert.notDeepEqual(readFileSync(join(folder, 'seal.key')), oldKey);
  const aside = readdirSync(folder).find((name) => name.startsWith('replaced-')) ?? '';
  assert.deepEqual(readFileSync(join(folder, aside, 'seal.key')), oldKey);
  assert.deepEqual(readdirSync(join(folder, aside, 'certificates')), ['agents.crt', 'agents.key']);
  await (await start(folder)).close();
});

test('culvert serve: a start over remains ends with exit code 2 and one line', async (t) => {
  const home = tempHome(t);
  const data = join(home, 'data');
  mkdirSync(data);
  writeFileSync(join(data, 'seal.key'), Buffer.alloc(32, 7));
  writeFileSync(join(home, 'server.toml'), `data_dir = "${data}"\n[log]\nlevel = "error"\n`);
  const { code, stdout, stderr } = await run(['serve', '--config', 'server.toml'], { home });
  assert.equal(code, 2);
  assert.equal(stdout, '');
  const said = stderr.split('\n').filter((line) => line.startsWith('culvert: '));
  assert.equal(said.length, 1);
  assert.match(said[0] ?? '', /has files of another server, but there is no culvert\.db: found seal\.key\./);
});
