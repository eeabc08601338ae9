/**
 * A power cut at every moment: of log and file the disk has what was synchronized last, or anything that was written since. Whatever was said to be
 * durable must be there, and the file whole.
 */
import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  fdatasync,
  fdatasyncSync,
  mkdtempSync,
  readlinkSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { DurableLog } from './durable-log.ts';
import { openDatabase } from '../open.ts';

const FOLD_BYTES = 300_000;

function pathOf(fd: number): string {
  return readlinkSync(`/proc/self/fd/${fd}`);
}

class Disk {
  readonly folder = mkdtempSync(join(tmpdir(), 'culvert-'));
  readonly file = join(this.folder, 'culvert.db');
  readonly sqlite = openDatabase(this.folder);
  readonly log: DurableLog;
  /** Rows that were said to be durable. */
  durableRows = 0;
  rows = 0;
  cuts = 0;
  /** Run in the middle of each turn of the disk. */
  during: () => void = () => undefined;

  constructor(t: TestContext) {
    this.sqlite.exec('CREATE TABLE t (x INTEGER PRIMARY KEY, filler BLOB); CREATE TABLE same (v INTEGER, filler BLOB)');
    // Rows that change together, each on a page of its own: half of a commit shows.
    for (let n = 0; n < 6; n++) this.sqlite.prepare('INSERT INTO same VALUES (0, randomblob(3000))').run();
    this.log = new DurableLog(this.sqlite, {
      file: this.file,
      openReader: () => new Database(this.file, { readonly: true }),
      sync: (fd) => this.#sync(fd),
      syncNow: (fd) => {
        fdatasyncSync(fd);
        this.#keep(pathOf(fd));
        this.cut();
      },
      foldBytes: FOLD_BYTES,
      maxBytes: 3_000_000,
    });
    this.#keep(this.file);
    this.#keep(`${this.file}-wal`);
    t.after(() => {
      this.log.close();
      rmSync(this.folder, { recursive: true });
    });
  }

  write(bytes = 20_000): void {
    this.sqlite.prepare('INSERT INTO t VALUES (?, randomblob(?))').run(++this.rows, bytes);
    this.log.committed(false);
  }

  /** Writes to pages that no other commit touches. */
  change(): void {
    this.write();
    this.sqlite.prepare('UPDATE same SET v = ?').run(this.rows);
    this.log.committed(true);
  }

  async durable(): Promise<void> {
    const rows = this.rows;
    await this.log.durable();
    this.durableRows = Math.max(this.durableRows, rows);
  }

  /** Every combination of what the disk may have now. */
  cut(): void {
    for (const file of ['synced', 'now'] as const)
      for (const log of ['synced', 'now'] as const) {
        const image = join(this.folder, `image-${this.cuts++}.db`);
        copyFileSync(file === 'now' ? this.file : `${this.file}.synced`, image);
        const from = log === 'now' ? `${this.file}-wal` : `${this.file}-wal.synced`;
        if (existsSync(from)) copyFileSync(from, `${image}-wal`);
        const after = new Database(image);
        assert.equal(after.pragma('integrity_check(1)', { simple: true }), 'ok', `file ${file}, log ${log}`);
        const { n } = after.prepare('SELECT max(x) AS n FROM t').get() as { n: number | null };
        assert.ok((n ?? 0) >= this.durableRows, `file ${file}, log ${log}: ${n} of ${this.durableRows} rows`);
        const { least, most } = after.prepare('SELECT min(v) AS least, max(v) AS most FROM same').get() as {
          least: number;
          most: number;
        };
        assert.ok(least === most && most <= (n ?? 0), `file ${file}, log ${log}: a commit without the one before it`);
        after.close();
        for (const end of ['', '-wal', '-shm']) rmSync(`${image}${end}`, { force: true });
      }
  }

  #sync(fd: number): Promise<void> {
    const path = pathOf(fd);
    this.#keep(path, '.next');
    // What is written from here on is not part of this turn.
    this.during();
    return new Promise((resolve, reject) =>
      fdatasync(fd, (error) => {
        copyFileSync(`${path}.next`, `${path}.synced`);
        this.cut();
        if (error === null) resolve();
        else reject(error);
      }),
    );
  }

  #keep(path: string, end = '.synced'): void {
    if (existsSync(path)) copyFileSync(path, `${path}${end}`);
  }
}

test('what was said to be durable is there after a power cut, whatever else the disk has', async (t) => {
  const disk = new Disk(t);
  for (let n = 0; n < 8; n++) {
    disk.write();
    disk.cut();
    await disk.durable();
    disk.cut();
  }
});

test('so it is while the log is folded back, with commits in between', async (t) => {
  const disk = new Disk(t);
  for (let n = 0; n < 12; n++) disk.write(40_000);
  await disk.durable();
  disk.during = () => disk.change();
  await disk.log.fold();
  disk.cut();
  await disk.durable();
  disk.cut();
  assert.ok(statSync(disk.file).size > FOLD_BYTES, 'the pages are in the file');
  disk.during = () => undefined;
  await disk.log.fold();
  assert.equal(statSync(`${disk.file}-wal`).size, 0, 'without commits in between the log begins anew');
  // A second time: by now most pages are in the file alone.
  for (let n = 0; n < 12; n++) disk.write(40_000);
  await disk.durable();
  disk.during = () => disk.change();
  await disk.log.fold();
  disk.cut();
});

test('a short log is not folded, and a fold that is under way is not begun twice', async (t) => {
  const disk = new Disk(t);
  let turns = 0;
  disk.during = () => turns++;
  disk.write();
  await disk.log.fold();
  assert.equal(turns, 0);
  for (let n = 0; n < 12; n++) disk.write(40_000);
  await Promise.all([disk.log.fold(), disk.log.fold(), disk.log.fold()]);
  assert.equal(turns, 2, 'the log, then the file');
});

test('a log that finds no pause begins anew all the same', async (t) => {
  const disk = new Disk(t);
  disk.during = () => disk.write(100_000);
  let longest = 0;
  for (let n = 0; n < 12; n++) {
    disk.write(100_000);
    await disk.durable();
    await disk.log.fold();
    longest = Math.max(longest, statSync(`${disk.file}-wal`).size);
  }
  assert.ok(longest > FOLD_BYTES && longest < 4_000_000, `${longest} bytes`);
});
