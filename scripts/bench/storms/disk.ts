/** Storms of the disk: a slow fsync while clients write, and a database locked by another process. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { WRITE } from './calls.ts';
import { hammer } from './hammer.ts';
import type { StormName } from './names.ts';
import type { Storm } from './storm.ts';
import type { Fixture } from './fixture.ts';

const WRITERS = 20;
const HOLDER = 'lock-holder';
const HOLDER_PROGRAM = fileURLToPath(new URL('../lock-holder.ts', import.meta.url));
const HOLD_MS = 2_000;
/** The long fsync is one of the first second. */
const LONG_MS = 25_000;
const LONG_SECONDS = 28;
const BEGUN_MS = 1_000;

export function diskStorms(fixture: Fixture): Storm[] {
  return [
    {
      name: 'locked',
      title: `another process holds BEGIN IMMEDIATE for ${HOLD_MS / 1_000} s, again and again, while ${WRITERS} write`,
      settleMs: HOLD_MS,
      prepare: async () => void (await fixture.logIn()),
      run: (seconds) => lock(fixture, seconds),
    },
    ...([50, 300, 1_500] as const).map((ms) => slow(fixture, `fsync-${ms}`, ms)),
    {
      ...slow(fixture, 'fsync-25000', LONG_MS),
      title: `one fsync that takes ${LONG_MS / 1_000} s while ${WRITERS} write`,
      seconds: LONG_SECONDS,
      rounds: 1,
      settleMs: 0,
      run: async (seconds) => {
        fixture.slowDisk(LONG_MS);
        const writing = write(fixture, 'fsync-25000', seconds);
        await pause(BEGUN_MS);
        fixture.slowDisk(0);
        return writing;
      },
    },
  ];
}

function slow(fixture: Fixture, name: StormName, ms: number): Storm {
  return {
    name,
    title: `each fsync takes ${ms} ms longer while ${WRITERS} write`,
    // Until the last slow one is over.
    settleMs: ms,
    prepare: async () => void (await fixture.logIn()),
    run: async (seconds) => {
      fixture.slowDisk(ms);
      try {
        return await write(fixture, name, seconds);
      } finally {
        fixture.slowDisk(0);
      }
    },
  };
}

async function write(fixture: Fixture, name: string, seconds: number): Promise<string> {
  const { bearer } = await fixture.logIn();
  // Refusals count: the disk may not respond in time.
  return hammer(fixture, { name, bearer, connections: WRITERS, seconds, script: WRITE, expects: 'any' });
}

async function lock(fixture: Fixture, seconds: number): Promise<string> {
  const { processes } = fixture.bench;
  const dataDir = join(fixture.server.folder, 'data');
  processes.start(HOLDER, [process.execPath, HOLDER_PROGRAM, dataDir, String(HOLD_MS)]);
  try {
    await processes.waitForOutput(HOLDER, /locked/);
    return await write(fixture, 'locked', seconds);
  } finally {
    await processes.stop(HOLDER);
  }
}
