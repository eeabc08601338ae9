/**
 * `npm run soak -- writes`: acknowledged writes of the API are never lost.
 *
 *   npm run soak -- writes [--writes 20000]
 *
 * Clients write things of six kinds while the disk fills up, or each fsync takes longer, or nothing is wrong; at a random moment the server gets
 * kill -9 and is started again, and all that was acknowledged is read back. Until so many acknowledged writes were read back. Needs root (a tmpfs) and gcc.
 */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { fillDisk, noSmallDisks, smallDisk } from '../../../test/faults/small-disk.ts';
import type { Account } from '../../../test/harness/account.ts';
import { freePorts } from '../../../test/harness/config.ts';
import { Ending } from '../../../test/harness/ends.ts';
import { SpawnedCulvert } from '../../../test/harness/spawned.ts';
import { missing } from '../../../test/harness/tools.ts';
import { KINDS } from './kinds.ts';
import { Ledger, type Listed } from './ledger.ts';
import { Writer } from './writer.ts';

const DISK_MEGABYTES = 128;
const WRITERS_OF_A_KIND = 3;
/** The server allows a person 18,000 of these in a day. */
const WRITES_OF_A_SERVER = 10_000;
/** A round has this long until the kill. */
const ROUND_MS = [200, 6_000] as const;
const SLOW_MS = [20, 400] as const;
const SLOW_DISK_SOURCE = resolve(import.meta.dirname, '../../bench/native/slow-disk.c');

type Fault = 'kill -9' | 'full disk' | 'slow disk';
const FAULTS: readonly Fault[] = ['kill -9', 'full disk', 'slow disk'];

interface Count {
  readonly wanted: number;
  /** Acknowledged writes that were read back. */
  read: number;
  lost: number;
  unanswered: number;
}

interface Fixture {
  readonly culvert: SpawnedCulvert;
  readonly ledgers: readonly Ledger[];
  readonly writers: readonly Writer[];
  /** Milliseconds that each fsync takes longer from now on. */
  readonly slowDisk: (ms: number) => void;
}

export async function writes(argv: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({ args: [...argv], options: { writes: { type: 'string', default: '20000' } } });
  const wanted = Number(values.writes);
  const skip = noSmallDisks() || missing('gcc');
  if (skip !== false) {
    console.log(`writes: SKIPPED: ${skip}`);
    return false;
  }
  const count: Count = { wanted, read: 0, lost: 0, unanswered: 0 };
  while (count.read < wanted) await runServer(count);
  const { read, lost, unanswered } = count;
  console.log(`writes: ${read} acknowledged and read back, ${lost} lost; ${unanswered} were not acknowledged`);
  return lost === 0;
}

/** One server, for as many writes as its limits for a day allow, and no more than are wanted. */
async function runServer(count: Count): Promise<void> {
  const ending = new Ending();
  const end = Math.min(count.wanted, count.read + WRITES_OF_A_SERVER);
  try {
    const fixture = await makeFixture(ending);
    for (let round = 0; count.read < end; round++) {
      const fault = FAULTS[round % FAULTS.length] as Fault;
      await strike(fixture, fault);
      const acknowledged = fixture.ledgers.reduce((sum, { unread }) => sum + unread, 0);
      const lost = await readBack(fixture);
      count.read += acknowledged;
      count.lost += lost.length;
      for (const what of lost) console.log(`LOST ${what}`);
      const { read, wanted } = count;
      console.log(
        `${fault.padEnd(9)} ${acknowledged} acknowledged; read back ${read} of ${wanted}, lost ${count.lost}`,
      );
    }
    for (const writer of fixture.writers) count.unanswered += writer.unanswered;
  } finally {
    await ending.run();
  }
}

async function makeFixture(ending: Ending): Promise<Fixture> {
  const folder = smallDisk(ending, DISK_MEGABYTES);
  const library = join(folder, 'slow-disk.so');
  execFileSync('gcc', ['-O2', '-shared', '-fPIC', '-o', library, SLOW_DISK_SOURCE, '-ldl']);
  const slowFile = join(folder, 'slow-disk-ms');
  const env = { LD_PRELOAD: library, SLOW_DISK_FILE: slowFile };
  const culvert = new SpawnedCulvert(ending, folder, await freePorts(), { env });
  await culvert.prepare();
  const ledgers = KINDS.map((kind) => new Ledger(kind));
  const writers = ledgers.flatMap((ledger) => Array.from({ length: WRITERS_OF_A_KIND }, () => new Writer(ledger)));
  return { culvert, ledgers, writers, slowDisk: (ms) => writeFileSync(slowFile, String(ms)) };
}

/** Writes, with this fault from a random moment on, and kills the server at another. */
async function strike({ culvert, writers, slowDisk }: Fixture, fault: Fault): Promise<void> {
  const account = await culvert.logIn();
  const stop = new AbortController();
  const writing = Promise.all(writers.map((writer) => writer.run(account, stop.signal)));
  const round = async (): Promise<void> => {
    const ms = between(ROUND_MS);
    const faultAt = Math.random() * ms;
    await pause(faultAt);
    if (fault === 'slow disk') slowDisk(between(SLOW_MS));
    const filling = fault === 'full disk' ? fillDisk(join(culvert.folder, 'data')) : undefined;
    await pause(ms - faultAt);
    await culvert.killServer();
    stop.abort();
    if (filling !== undefined) rmSync(filling);
    slowDisk(0);
  };
  await Promise.all([round(), writing]);
}

async function readBack({ culvert, ledgers }: Fixture): Promise<string[]> {
  await culvert.startServer();
  const account = await culvert.logIn();
  const lost: string[] = [];
  for (const ledger of ledgers) lost.push(...ledger.readBack(await listOf(account, ledger.kind.path)));
  return lost;
}

async function listOf(account: Account, path: string): Promise<readonly Listed[]> {
  const { status, body } = await account.call('GET', path);
  if (status !== 200 || !Array.isArray(body)) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
  return body as readonly Listed[];
}

function between([least, most]: readonly [number, number]): number {
  return Math.round(least + Math.random() * (most - least));
}
