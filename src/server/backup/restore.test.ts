/** Backups of a data folder, and what a restore does and refuses. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { Secret } from '../../base/secret.ts';
import { Plane } from '../../control/core/testing/plane.ts';
import { noteBackup } from '../../control/backups/state.ts';
import { checkServerConfig } from '../../config/load.ts';
import { createBackup } from './create.ts';
import { openPlace, requireEmpty } from './place.ts';
import { backupReport } from './report.ts';
import { checkBackup, restoreBackup } from './restore.ts';
import { type BackupSource, sourceOf } from './source.ts';
import { makeWorkFolder } from './work-folder.ts';

const NOW = Date.UTC(2026, 10, 21, 1);
const SETTINGS = '[edge]\ndomain = "example.com"\n[agents]\ncert_file = "FILE"\nkey_file = "FILE"\n';

interface Fixture {
  readonly home: string;
  readonly plane: Plane;
  readonly source: BackupSource;
}

async function fixture(t: TestContext): Promise<Fixture> {
  const home = mkdtempSync(join(tmpdir(), 'culvert-restore-'));
  const plane = new Plane();
  t.after(() => {
    plane.close();
    rmSync(home, { recursive: true, force: true });
  });
  const ann = await plane.person('ann@example.com');
  plane.create(ann, { subdomain: 'shop' });
  plane.mint(ann);
  mkdirSync(join(plane.dataDir, 'certificates'));
  writeFileSync(join(plane.dataDir, 'certificates', 'agents.key'), 'the key that agents pin');
  const cert = join(home, 'agents.crt');
  writeFileSync(cert, 'a certificate');
  const settingsFile = join(home, 'culvert.toml');
  const text = `data_dir = "${plane.dataDir}"\n${SETTINGS.replaceAll('FILE', cert)}`;
  writeFileSync(settingsFile, text);
  const { settings } = checkServerConfig(text, 'culvert.toml');
  return { home, plane, source: sourceOf(settings, settingsFile, '1.0.0') };
}

async function backupOf({ home, source }: Fixture, name = 'one.culvert', passphrase?: Secret): Promise<string> {
  const file = join(home, name);
  await createBackup(source, { file, passphrase, now: NOW });
  return file;
}

function restoreTo(dataDir: string, file: string, more: { settingsFile?: string; settingsFolder?: string } = {}) {
  const { settingsFile, settingsFolder } = more;
  return restoreBackup({ file, passphrase: undefined, dataDir, settingsFile, settingsFolder, now: NOW });
}

test('restore: the data folder, its keys and the settings come back', async (t) => {
  const f = await fixture(t);
  const file = await backupOf(f);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const dataDir = join(f.home, 'new', 'data');
  const settingsFolder = join(f.home, 'etc/settings');
  const { served, written, manifest } = restoreTo(dataDir, file, { settingsFolder });
  assert.deepEqual([served.organizations, served.users, served.accessKeys], [1, 1, 1]);
  assert.deepEqual([served.tunnels, served.domains.count], [{ count: 1, first: ['shop'] }, 0]);
  assert.deepEqual(readdirSync(dataDir).sort(), ['certificates', 'culvert.db', 'seal.key']);
  assert.deepEqual(readFileSync(join(dataDir, 'seal.key')), readFileSync(join(f.plane.dataDir, 'seal.key')));
  assert.equal(readFileSync(join(dataDir, 'certificates/agents.key'), 'utf8'), 'the key that agents pin');
  assert.equal(statSync(dataDir).mode & 0o777, 0o700);
  assert.deepEqual(written, [join(settingsFolder, 'culvert.toml'), join(settingsFolder, 'files/0-agents.crt')]);
  const rights = (path: string): number => statSync(path).mode & 0o777;
  assert.deepEqual([rights(join(f.home, 'etc')), rights(settingsFolder)], [0o755, 0o700]);
  assert.match(readFileSync(join(settingsFolder, 'culvert.toml'), 'utf8'), /domain = "example.com"/);
  assert.equal(readFileSync(join(settingsFolder, 'files/0-agents.crt'), 'utf8'), 'a certificate');
  assert.equal(manifest.data_dir, f.plane.dataDir);
  const restored = new Plane(dataDir);
  t.after(() => restored.control.close());
  assert.equal(restored.control.serverId, f.plane.control.serverId);
});

test('restore: nothing is left beside the backup and beside the restored folder', async (t) => {
  const f = await fixture(t);
  const file = await backupOf(f);
  restoreTo(join(f.home, 'data'), file);
  assert.deepEqual(readdirSync(f.home).sort(), ['agents.crt', 'culvert.toml', 'data', 'one.culvert']);
  assert.ok(!readdirSync(f.plane.dataDir).some((name) => name.startsWith('backup-work')));
});

test('backup: a file that is there is not replaced, and a partial one of a killed backup is', async (t) => {
  const f = await fixture(t);
  writeFileSync(join(f.home, 'one.culvert.partial'), 'half');
  const file = await backupOf(f);
  assert.ok(!existsSync(`${file}.partial`));
  await assert.rejects(backupOf(f), { message: /one\.culvert already exists\. Choose another file name/ });
  await assert.rejects(backupOf(f, 'missing/one.culvert'), { message: /the folder .*missing can't be used/ });
});

test('backup: a settings file that is gone is named', async (t) => {
  const f = await fixture(t);
  rmSync(join(f.home, 'agents.crt'));
  const made = await createBackup(f.source, { file: join(f.home, 'one.culvert'), passphrase: undefined, now: NOW });
  assert.match(made.leftOut.join(), /agents\.crt can't be read/);
  rmSync(join(f.home, 'culvert.toml'));
  await assert.rejects(backupOf(f, 'two.culvert'), { message: /culvert\.toml can't be read/ });
  assert.ok(!existsSync(join(f.home, 'two.culvert')));
});

test('restore: a folder with data is refused and stays as it is', async (t) => {
  const f = await fixture(t);
  const file = await backupOf(f);
  for (const name of ['culvert.db', 'notes.txt']) {
    const dataDir = mkdtempSync(join(f.home, 'used-'));
    writeFileSync(join(dataDir, name), 'mine');
    assert.throws(() => restoreTo(dataDir, file), {
      name: 'BackupError',
      message: /is not empty: .*A restore replaces no data/,
    });
    assert.equal(readFileSync(join(dataDir, name), 'utf8'), 'mine');
    assert.deepEqual(readdirSync(dataDir), [name]);
  }
  const settingsFile = join(f.home, 'culvert.toml');
  assert.throws(() => restoreTo(join(f.home, 'data'), file, { settingsFile }), { message: /replaces no settings/ });
  assert.ok(!existsSync(join(f.home, 'data')));
});

test('restore: an empty folder is taken, also one that a killed restore has begun inside', async (t) => {
  const f = await fixture(t);
  const file = await backupOf(f);
  const empty = mkdtempSync(join(f.home, 'empty-'));
  restoreTo(empty, file);
  assert.ok(existsSync(join(empty, 'culvert.db')));
  const begun = mkdtempSync(join(f.home, 'begun-'));
  mkdirSync(join(begun, '.restoring-999999-abc'));
  writeFileSync(join(begun, '.restoring-999999-abc', 'culvert.db'), 'not moved yet');
  writeFileSync(join(begun, 'seal.key'), 'moved');
  restoreTo(begun, file);
  assert.deepEqual(readdirSync(begun).sort(), ['certificates', 'culvert.db', 'seal.key']);
  assert.throws(() => requireEmpty(begun), { message: /is not empty/ });
});

test('restore: data that appear in the folder meanwhile stay', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'culvert-place-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  for (const isBeside of [true, false]) {
    const dataDir = join(home, String(isBeside));
    mkdirSync(dataDir);
    const place = openPlace(dataDir, () => isBeside);
    writeFileSync(join(place.folder, 'culvert.db'), 'restored');
    for (const name of ['culvert.db', 'seal.key', 'serve.lock']) writeFileSync(join(dataDir, name), 'of a server');
    assert.throws(() => place.put(), { message: /is not empty: culvert\.db, seal\.key, serve\.lock/ });
    place.drop();
    assert.deepEqual(readdirSync(dataDir).sort(), ['culvert.db', 'seal.key', 'serve.lock']);
    assert.equal(readFileSync(join(dataDir, 'culvert.db'), 'utf8'), 'of a server');
  }
});

test('restore: inside a folder that can not be renamed, nothing of a killed restore is left', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'culvert-place-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, `.restoring-${process.pid}-abc`));
  const place = openPlace(home, () => false);
  writeFileSync(join(place.folder, 'culvert.db'), 'restored');
  place.put();
  assert.deepEqual(readdirSync(home), ['culvert.db']);
});

test('restore: a data folder that is a symbolic link is filled where it leads', async (t) => {
  const f = await fixture(t);
  const file = await backupOf(f);
  const [disk, link] = [join(f.home, 'disk'), join(f.home, 'link')];
  symlinkSync(disk, link);
  assert.throws(() => restoreTo(link, file), { message: /link is a link that leads nowhere/ });
  mkdirSync(disk);
  restoreTo(link, file);
  assert.equal(readlinkSync(link), disk);
  assert.ok(existsSync(join(disk, 'culvert.db')));
});

test('work folder: one of the same process id in another container stays while it is written to', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'culvert-work-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const other = join(home, `work-${process.pid}-other`);
  mkdirSync(other);
  const file = join(other, 'culvert.db');
  writeFileSync(file, 'being copied');
  const age = (path: string) => utimesSync(path, new Date(0), new Date(Date.now() - 3_700_000));
  age(other);
  makeWorkFolder(home, 'work-');
  assert.ok(existsSync(file));
  age(file);
  makeWorkFolder(home, 'work-');
  assert.ok(!existsSync(other));
});

test('restore: a damaged backup is refused before anything is written', async (t) => {
  const f = await fixture(t);
  const file = await backupOf(f);
  const bytes = readFileSync(file);
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 40) ^ 1, bytes.length - 40);
  const wrong = join(f.home, 'wrong.culvert');
  writeFileSync(wrong, bytes);
  const before = readdirSync(f.home);
  assert.throws(() => restoreTo(join(f.home, 'data'), wrong), { message: /wrong\.culvert is damaged/ });
  assert.deepEqual(readdirSync(f.home), before);
});

test('restore: a backup of a newer Culvert is refused by name', async (t) => {
  const f = await fixture(t);
  const sqlite = new Database(join(f.plane.dataDir, 'culvert.db'));
  sqlite.exec("INSERT INTO culvert_migrations (id, tag, hash, applied_at) VALUES (900, '0900_later', 'ff', 1)");
  for (let i = 2; i < 60; i++)
    sqlite.exec(`INSERT OR IGNORE INTO culvert_migrations (id, tag, hash, applied_at) VALUES (${i}, 'x', 'y', 1)`);
  sqlite.close();
  const file = await backupOf({ ...f, source: { ...f.source, version: '9.1.0' } });
  assert.throws(() => restoreTo(join(f.home, 'data'), file), {
    message:
      /is newer than this program: Culvert 9\.1\.0 made it, with migration 0900_later.* Restore it with Culvert 9\.1\.0 or newer/,
  });
  assert.ok(!existsSync(join(f.home, 'data')));
});

test('restore: a backup whose key does not open the database is refused', async (t) => {
  const f = await fixture(t);
  writeFileSync(join(f.plane.dataDir, 'seal.key'), Buffer.alloc(32, 1));
  const file = await backupOf(f);
  assert.throws(() => restoreTo(join(f.home, 'data'), file), { message: /the keys in .* do not fit together/ });
  assert.ok(!existsSync(join(f.home, 'data')));
});

test('restore check: reports and leaves nothing, with a passphrase too', async (t) => {
  const f = await fixture(t);
  const passphrase = new Secret('a passphrase of a test');
  const file = await backupOf(f, 'sealed.culvert', passphrase);
  const parent = mkdtempSync(join(f.home, 'tmp-'));
  const { served } = checkBackup({ file, passphrase, now: NOW }, parent);
  assert.equal(served.tunnels.count, 1);
  assert.deepEqual(readdirSync(parent), []);
});

test('backup report: says off, failed, late or ok, with the age', async (t) => {
  const { plane } = await fixture(t);
  const settingsOf = (toml: string) => checkServerConfig(`data_dir = "${plane.dataDir}"\n${toml}`, 'x.toml').settings;
  const on = settingsOf('[backup]\nfolder = "/mnt/backups"\nevery = "1h"\n');
  const made = { at: NOW, name: 'x', bytes: 1, tookMs: 1, encrypted: true, places: [] };
  assert.equal(backupReport(settingsOf(''), NOW).kind, 'off');
  assert.deepEqual([backupReport(on, NOW).kind, backupReport(on, NOW).ageMs], ['late', null]);
  noteBackup(plane.dataDir, { lastScheduled: made });
  assert.deepEqual([backupReport(on, NOW + 60_000).kind, backupReport(on, NOW + 60_000).ageMs], ['ok', 60_000]);
  assert.equal(backupReport(on, NOW + 3 * 3_600_000).kind, 'late');
  noteBackup(plane.dataDir, { lastFailure: { at: NOW + 1, reason: 'the disk is full' } });
  assert.deepEqual([backupReport(on, NOW).kind, backupReport(on, NOW).reason], ['failed', 'the disk is full']);
});
