import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { sizeText } from '../../../base/process/disk-space.ts';
import { silentLog } from '../../../base/log.ts';
import { DiskWatch } from '../../operator/disk-watch.ts';
import { criticalOf, floorOf, isBelow } from './floor.ts';
import { RESERVE_FILE } from './reserve.ts';
import { makeDataDir } from '../open.ts';
import { UsageRoom } from '../usage/usage-room.ts';

const MB = 1024 * 1024;
const disk = (megabytes: number, free = 0) => ({ total: megabytes * MB, free: free * MB });
const floorMb = (megabytes: number): number => Math.round(floorOf(disk(megabytes), 'auto') / MB);

test('disk floor: a twentieth of the disk stays free, within bounds that fit small and large disks', () => {
  assert.deepEqual([15, 1_000, 10_000, 2_000_000].map(floorMb), [5, 64, 500, 1_024]);
  assert.deepEqual(
    [disk(15), disk(2_000_000)].map((of) => Math.round(criticalOf(of, 'auto') / MB)),
    [1, 32],
  );
  assert.equal(floorOf(disk(1_000), 7), 7);
  assert.equal(isBelow({ total: 0, free: 0 }, 1), false, 'the file system does not say');
});

test('recordings: a piece that would leave less than the floor is refused, and looks are rare', () => {
  let looks = 0;
  let free = 70;
  const room = new UsageRoom('/', 'auto', () => {
    looks++;
    return disk(1_000, free);
  });
  assert.equal(room.take(MB), true);
  assert.equal(room.take(MB), true);
  assert.equal(looks, 1);
  assert.equal(room.take(4 * MB), false);
  assert.equal(room.isCritical, false);
  assert.match(room.shortage, /^only 70 MB free; recording stops below 64 MB \(inspector\.min_free_mb\)$/);
  free = 10;
  assert.equal(room.take(4 * MB), false);
  assert.equal(room.isCritical, true);
  free = 900;
  assert.equal(room.take(2 * MB), true, 'there is space again');
});

test('disk watch: levels are logged once each, and the reserve is written while there is space', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'culvert-'));
  t.after(() => rmSync(dataDir, { recursive: true }));
  let now = 0;
  let answer = async () => disk(1_000, 500);
  const lines: string[] = [];
  const keep = (_fields: object, text: string): void => void lines.push(text);
  const watch = new DiskWatch({
    dataDir,
    minFree: 'auto',
    clock: { now: () => now, monotonic: () => now },
    log: { ...silentLog, info: keep, warn: keep, error: keep },
    look: () => answer(),
  });
  await watch.look();
  assert.equal(watch.state.level, 'ok');
  assert.equal(statSync(join(dataDir, RESERVE_FILE)).size, MB);
  for (const [free, level] of [
    [60, 'low'],
    [60, 'low'],
    [10, 'critical'],
    [500, 'ok'],
  ] as const) {
    answer = async () => disk(1_000, free);
    await watch.look();
    assert.equal(watch.state.level, level);
  }
  assert.deepEqual(
    lines.map((line) => /nearly full|is full|again/.exec(line)?.[0]),
    ['nearly full', 'is full', 'again'],
  );
  const silent = Promise.withResolvers<ReturnType<typeof disk>>();
  answer = () => silent.promise;
  const looking = watch.look();
  now += 11_000;
  assert.equal(watch.state.level, 'silent');
  assert.equal(watch.look(), looking, 'one look at a time');
  silent.resolve(disk(1_000, 500));
  await looking;
  assert.equal(watch.state.level, 'ok');
  assert.deepEqual(readdirSync(dataDir), [RESERVE_FILE]);
});

test('data folder: it is made with the folders above it, and a file in its place is named', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-'));
  t.after(() => rmSync(folder, { recursive: true }));
  makeDataDir(join(folder, 'a', 'b', 'c'));
  makeDataDir(join(folder, 'a', 'b', 'c'));
  assert.equal(statSync(join(folder, 'a', 'b', 'c')).mode & 0o777, 0o700);
  writeFileSync(join(folder, 'file'), '');
  assert.throws(
    () => makeDataDir(join(folder, 'file')),
    /data_dir .*file can't be created: a file is in the place of a folder/,
  );
  assert.throws(() => makeDataDir(join(folder, 'file', 'x')), { code: 'ENOTDIR' });
});

test('sizes: they read as people write them', () => {
  assert.deepEqual([0, 900, 1_536, 16 * MB, 2 ** 41].map(sizeText), [
    '0 bytes',
    '900 bytes',
    '1.5 KB',
    '16 MB',
    '2.0 TB',
  ]);
});
