/** Storms of the disk: a slow fsync while clients write, and a database locked by another process. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { WRITE } from './calls.ts';
import { hammer } from './hammer.ts';
import type { StormName } from './names.ts';
import type { Storm } from './storm.ts';
import type { World } from './world.ts';

const WRITERS = 20;
const HOLDER = 'lock-holder';
const HOLDER_PROGRAM = fileURLToPath(new URL('../lock-holder.ts', import.meta.url));
const HOLD_MS = 2_000;
/** The long fsync is one of the first second. */
const LONG_MS = 25_000;
const LONG_SECONDS = 28;
const BEGUN_MS = 1_000;

export function diskStorms(world: World): Storm[] {
  return [
    {
      name: 'locked',
      title: `another process holds BEGIN IMMEDIATE for ${HOLD_MS / 1_000} s, again and again, while ${WRITERS} write`,
      settleMs: HOLD_MS,
      prepare: async () => void (await world.logIn()),
      run: (seconds) => lock(world, seconds),
    },
    ...([50, 300, 1_500] as const).map((ms) => slow(world, `fsync-${ms}`, ms)),
    {
      ...slow(world, 'fsync-25000', LONG_MS),
      title: `one fsync that takes ${LONG_MS / 1_000} s while ${WRITERS} write`,
      seconds: LONG_SECONDS,
      rounds: 1,
      settleMs: 0,
      run: async (seconds) => {
        world.slowDisk(LONG_MS);
        const writing = write(world, 'fsync-25000', seconds);
        await pause(BEGUN_MS);
        world.slowDisk(0);
        return writing;
      },
    },
  ];
}

function slow(world: World, name: StormName, ms: number): Storm {
  return {
    name,
    title: `each fsync takes ${ms} ms longer while ${WRITERS} write`,
    // Until the last slow one is over.
    settleMs: ms,
    prepare: async () => void (await world.logIn()),
    run: async (seconds) => {
      world.slowDisk(ms);
      try {
        return await write(world, name, seconds);
      } finally {
        world.slowDisk(0);
      }
    },
  };
}

async function write(world: World, name: string, seconds: number): Promise<string> {
  const { bearer } = await world.logIn();
  // Refusals count: the disk may not respond in time.
  return hammer(world, { name, bearer, connections: WRITERS, seconds, script: WRITE, expects: 'any' });
}

async function lock(world: World, seconds: number): Promise<string> {
  const { processes } = world.bench;
  const dataDir = join(world.server.folder, 'data');
  processes.start(HOLDER, [process.execPath, HOLDER_PROGRAM, dataDir, String(HOLD_MS)]);
  try {
    await processes.waitForOutput(HOLDER, /locked/);
    return await write(world, 'locked', seconds);
  } finally {
    await processes.stop(HOLDER);
  }
}
