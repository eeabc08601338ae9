// built file: it reads its parts from itself when it starts
/**
 * What a start that fails says: one line that names file or setting, cause and next step. Some in this process; those whose disk, rights or listener
 * a process holds, on the real program.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { MIGRATIONS } from '../../src/control/db/migrations.gen.ts';
import { migrate } from '../../src/control/db/migrate.ts';
import { openDatabase } from '../../src/control/db/open.ts';
import { makeSealKey } from '../../src/control/core/secrets/sealing.ts';
import { silentLog } from '../../src/base/log.ts';
import { run } from '../../src/cli/fixtures/in-process.ts';
import { configText, freePorts, type Ports } from '../harness/config.ts';
import { inReverse } from '../harness/ends.ts';
import { culvertCommand } from '../harness/spawned.ts';
import { missing } from '../harness/tools.ts';
import { fillDisk, noSmallDisks, remountReadOnly, smallDisk } from './small-disk.ts';

const WITHIN = { timeout: 60_000 };
const ON_DISK = { ...WITHIN, skip: noSmallDisks() };
const NO_SETPRIV = process.getuid?.() === 0 ? missing('setpriv') : 'a server without rights needs root to start it';
const NOBODY = 65_534;

interface Failed {
  readonly code: number | null;
  /** Standard error without the log. */
  readonly said: string;
}

interface Start {
  readonly folder: string;
  readonly ports?: Ports;
  readonly toml?: string;
  /** In place of the whole settings. */
  readonly text?: string;
  /** The words before the program. */
  readonly by?: readonly string[];
}

async function settingsOf({ folder, ports, toml = '', text }: Start): Promise<string> {
  const config = join(folder, 'server.toml');
  writeFileSync(config, text ?? configText({ folder, ports: ports ?? (await freePorts()), toml }));
  return config;
}

function failedWith(code: number | null, stderr: string): Failed {
  const said = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{"level"'));
  assert.equal(said.length, 1, stderr);
  return { code, said: said[0] ?? '' };
}

/** Runs `culvert serve` to its end in this process; the built file where CULVERT_BIN names one. */
async function failedHere(t: TestContext, start: Start): Promise<Failed> {
  if (process.env['CULVERT_BIN']) return failedStart(t, start);
  const { code, stderr } = await run(['serve', '--config', await settingsOf(start)], { home: start.folder });
  return failedWith(code, stderr);
}

/** Starts `culvert serve` and waits for its end. */
async function failedStart(t: TestContext, start: Start): Promise<Failed> {
  const { folder, by = [] } = start;
  const config = await settingsOf(start);
  const [file = '', ...first] = [...by, ...culvertCommand()];
  const child = spawn(file, [...first, 'serve', '--config', config], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(() => void child.kill('SIGKILL'));
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return failedWith(code, stderr);
}

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-start-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A folder whose `data` has a database. */
function withDatabase(t: TestContext): string {
  const folder = newFolder(t);
  makeDatabase(join(folder, 'data'));
  return folder;
}

function makeDatabase(dataDir: string): void {
  const sqlite = openDatabase(dataDir);
  makeSealKey(dataDir);
  migrate(sqlite, { dataDir, migrations: MIGRATIONS, nowMs: 0, log: silentLog });
  sqlite.close();
}

test('start: a data_dir that is a file is named, with exit code 2', WITHIN, async (t) => {
  const folder = newFolder(t);
  writeFileSync(join(folder, 'data'), '');
  const { code, said } = await failedHere(t, { folder });
  assert.match(
    said,
    /^culvert: .*data_dir \S+\/data can't be created: a file is in the place of a folder\. Move it away, or set data_dir/,
  );
  assert.equal(code, 2);
});

test('start: a data_dir in /proc is refused at once', { ...WITHIN, skip: process.platform !== 'linux' }, async (t) => {
  const folder = newFolder(t);
  const { code, said } = await failedHere(t, { folder, text: 'data_dir = "/proc/x"' });
  assert.match(said, /data_dir \/proc\/x can't be created: .*set data_dir to another folder/);
  assert.equal(code, 2);
});

test('start: a serve.lock with content differs from a held lock', WITHIN, async (t) => {
  const folder = withDatabase(t);
  writeFileSync(join(folder, 'data', 'serve.lock'), 'garbage '.repeat(1_000));
  const { code, said } = await failedHere(t, { folder });
  assert.match(said, /serve\.lock can't be locked: it is damaged .* delete it and start again\.$/);
  assert.equal(code, 1);
});

test('start: a damaged database is named with what to put in its place', WITHIN, async (t) => {
  const folder = withDatabase(t);
  const file = join(folder, 'data', 'culvert.db');
  writeFileSync(file, 'garbage '.repeat(1_000));
  const { code, said } = await failedStart(t, { folder });
  assert.match(
    said,
    /culvert\.db can't be opened: it is damaged \(file is not a database\)\. Keep the damaged file, and replace it with your last `culvert backup`/,
  );
  assert.equal(code, 1);
});

test('start: a database that ends too early is named with what to put in its place', WITHIN, async (t) => {
  const folder = withDatabase(t);
  truncateSync(join(folder, 'data', 'culvert.db'), 8_192);
  const { said } = await failedHere(t, { folder });
  assert.match(
    said,
    /culvert\.db can't be \w+: it is damaged \(.*\)\. Keep the damaged file, and replace it with your last `culvert backup`/,
  );
});

test("start: an empty key of the agents' certificate is named with what follows from a new one", WITHIN, async (t) => {
  const folder = withDatabase(t);
  mkdirSync(join(folder, 'data', 'certificates'));
  writeFileSync(join(folder, 'data', 'certificates', 'agents.key'), '');
  const { code, said } = await failedHere(t, { folder });
  assert.match(said, /certificates\/agents\.key is damaged: it is empty\. Restore it from your backup, or delete it/);
  assert.equal(code, 1);
});

test('start: a read-only data folder is named', ON_DISK, async (t) => {
  const folder = smallDisk(inReverse(t), 16);
  makeDatabase(join(folder, 'data'));
  remountReadOnly(join(folder, 'data'));
  const { code, said } = await failedStart(t, { folder });
  assert.match(said, /serve\.lock can't be locked: its file system is read-only\. Make it writable, or set data_dir/);
  assert.equal(code, 1);
});

test('start: a disk without any room is named', ON_DISK, async (t) => {
  const folder = smallDisk(inReverse(t), 16);
  makeDatabase(join(folder, 'data'));
  fillDisk(join(folder, 'data'));
  const { code, said } = await failedStart(t, { folder });
  assert.match(said, /: its disk is full\. Free some space on it, then try again\.$/);
  assert.equal(code, 1);
});

test('start: a migration without room for its copy names the copy', ON_DISK, (t) => {
  const folder = smallDisk(inReverse(t), 16);
  const dataDir = join(folder, 'data');
  makeDatabase(dataDir);
  fillDisk(dataDir, 256 * 1024);
  const sqlite = openDatabase(dataDir);
  t.after(() => sqlite.close());
  // The program has one migration: an older database needs a second one.
  const next = { index: MIGRATIONS.length + 1, tag: 'next', hash: 'next', statements: ['SELECT 1'] };
  assert.throws(
    () => migrate(sqlite, { dataDir, migrations: [...MIGRATIONS, next], nowMs: 0, log: silentLog }),
    /snapshots\/\S+, can't be written: its disk is full\. Free some space on it, then try again\.$/,
  );
  assert.deepEqual(readdirSync(join(dataDir, 'snapshots')), [], 'no part of a copy stays');
});

// Root without the capabilities that let it write everywhere: a user who may not, and who can read the program of the tests.
test('start: a data folder of another user is named with both users', { ...WITHIN, skip: NO_SETPRIV }, async (t) => {
  const folder = withDatabase(t);
  const data = join(folder, 'data');
  for (const name of readdirSync(data)) chownSync(join(data, name), NOBODY, NOBODY);
  chownSync(data, NOBODY, NOBODY);
  const { code, said } = await failedStart(t, { folder, by: ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] });
  assert.match(
    said,
    /serve\.lock can't be locked: the user root has no access to it; \S+ belongs to nobody\. Change the owner or the permissions/,
  );
  assert.equal(code, 1);
});

test('start: an access log that could not be rotated is refused', { ...WITHIN, skip: NO_SETPRIV }, async (t) => {
  const folder = newFolder(t);
  const logs = join(folder, 'logs');
  mkdirSync(logs);
  writeFileSync(join(logs, 'access.log'), '');
  chownSync(logs, NOBODY, NOBODY);
  const toml = `[log.access]\npath = "${logs}/access.log"\n`;
  const { code, said } = await failedStart(t, {
    folder,
    toml,
    by: ['setpriv', '--bounding-set=-all', '--inh-caps=-all'],
  });
  assert.match(
    said,
    /log\.access\.path \S+\/access\.log can't be rotated in \S+\/logs: the user root has no access to it; .*, or set log\.access\.path/,
  );
  assert.equal(code, 1);
});

test('start: a listener in use is named by its setting', WITHIN, async (t) => {
  for (const key of ['api', 'http', 'https', 'agents'] as const) {
    const folder = newFolder(t);
    const ports = await freePorts();
    const squatter = createServer().listen(ports[key], '127.0.0.1');
    await once(squatter, 'listening');
    t.after(() => void squatter.close());
    const start = key === 'http' ? failedStart : failedHere;
    const { code, said } = await start(t, { folder, ports });
    const name = { api: 'api.listen', http: 'edge.http_listen', https: 'edge.https_listen', agents: 'agents.listen' }[
      key
    ];
    assert.match(
      said,
      new RegExp(`127\\.0\\.0\\.1:${ports[key]} is in use by another program .* set ${name} to another port\\.$`),
    );
    assert.equal(code, 1);
  }
});

test('start: a port that needs a permission is named by its setting', { ...WITHIN, skip: NO_SETPRIV }, async (t) => {
  const from = readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8');
  if (Number(from) <= 1) return t.skip('every user may listen on every port here');
  const folder = newFolder(t);
  const text = `data_dir = "${folder}/data"\nedge.http_listen = "127.0.0.1:1"\napi.listen = "127.0.0.1:0"\nagents.listen = "127.0.0.1:0"`;
  const by = ['setpriv', '--bounding-set=-all', '--inh-caps=-all'];
  const { code, said } = await failedStart(t, { folder, text, by });
  assert.match(
    said,
    /is not allowed to listen on 127\.0\.0\.1:1: .*CAP_NET_BIND_SERVICE, or set edge\.http_listen to a port from 1024 on/,
  );
  assert.equal(code, 1);
});

test('start: a listener on an address of no interface is named by its setting', WITHIN, async (t) => {
  const folder = newFolder(t);
  const text = `data_dir = "${folder}/data"\napi.listen = "192.0.2.77:9090"\nedge.http_listen = ""\nagents.listen = "127.0.0.1:0"`;
  const { said } = await failedHere(t, { folder, text });
  assert.match(said, /no interface of this machine has the address of 192\.0\.2\.77:9090\. Correct api\.listen/);
});

test('start: all mistakes of the settings are reported at once, with exit code 2', WITHIN, async (t) => {
  const folder = newFolder(t);
  writeFileSync(join(folder, 'bad.toml'), 'api.listen = 1\nedge.domian = "x"\n[limits]\nauth_burst = 0\n');
  for (const words of [
    ['serve', '--config', 'bad.toml'],
    ['config', 'check', 'bad.toml'],
  ]) {
    const [file = '', ...first] = culvertCommand();
    const child = spawn(file, [...first, ...words], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    assert.equal(code, 2);
    assert.match(
      stderr,
      /^culvert: bad\.toml:1: api\.listen: .*\nculvert: bad\.toml:2: edge\.domian: .*\nculvert: bad\.toml:4: limits\.auth_burst: .*\n$/,
    );
  }
});
