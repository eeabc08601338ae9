/**
 * The disk of the server fills up. Visitors are served all the time; changes, and a tunnel that an agent wants to open meanwhile, are there again
 * within seconds once there is room. Used by run.ts.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fillDisk, smallDisk } from '../../test/faults/small-disk.ts';
import type { Account } from '../../test/harness/account.ts';
import { freePorts } from '../../test/harness/config.ts';
import type { Ends } from '../../test/harness/ends.ts';
import { startOrigin } from '../../test/harness/origin.ts';
import { SpawnedCulvert } from '../../test/harness/spawned.ts';
import type { Build } from './scenarios.ts';
import { Watch } from './watch.ts';

const DISK_MEGABYTES = 16;
const START_MS = 30_000;
const GIVE_UP_MS = 90_000;
const LOOK_MS = 50;
/** Served before, and all the time. */
const SERVED = 'served.localhost';
/** Opened while the disk is full. */
const OPENED = 'opened.localhost';

interface Lane {
  readonly culvert: SpawnedCulvert;
  readonly watch: Watch;
  readonly originPort: number;
}

async function makeLane(t: Ends, originPort: number): Promise<Lane> {
  const culvert = new SpawnedCulvert(t, smallDisk(t, DISK_MEGABYTES), await freePorts(), {});
  await culvert.prepare();
  culvert.agent(['http', String(originPort), '--subdomain', 'served', '--json']);
  const watch = new Watch(t, { port: culvert.ports.http, hosts: [SERVED, OPENED] });
  await watch.until(SERVED, true, START_MS);
  return { culvert, watch, originPort };
}

/** Tries a change until it is answered with `status`; the moment of that. */
async function untilChange(account: Account, status: number): Promise<number> {
  const end = Date.now() + GIVE_UP_MS;
  let last = 0;
  while (Date.now() < end) {
    last = (await account.call('PATCH', '/auth/me', { name: `at ${Date.now()}` })).status;
    if (last === status) return Date.now();
    if (last !== 200) await pause(LOOK_MS);
  }
  throw new Error(`a change was not answered with ${status} in ${GIVE_UP_MS} ms, but with ${last}`);
}

async function deleteOpened(account: Account): Promise<void> {
  const { body } = await account.call('GET', '/tunnels');
  const opened = (body as unknown as { id: string; subdomain: string }[]).find((each) => each.subdomain === 'opened');
  if (opened !== undefined) await account.call('DELETE', `/tunnels/${opened.id}`);
}

async function strike({ culvert, watch, originPort }: Lane, outageMs: number): Promise<number> {
  const down = watch.until(SERVED, false, GIVE_UP_MS, Date.now()).then(
    () => 'visitors were not served on a full disk',
    () => undefined,
  );
  const account = await culvert.logIn();
  const filling = fillDisk(join(culvert.folder, 'data'));
  // What SQLite's files have left is used up first, and what the server then gives up of its own.
  for (let pass = 0; pass < 2; pass++) {
    await untilChange(account, 503);
    fillDisk(join(culvert.folder, 'data'));
  }
  const agent = culvert.agent(['http', String(originPort), '--subdomain', 'opened', '--json']);
  try {
    await pause(outageMs);
    rmSync(filling);
    const since = Date.now();
    const back = await Promise.all([untilChange(account, 200), watch.until(OPENED, true, GIVE_UP_MS)]);
    const fault = await Promise.race([down, pause(0)]);
    if (fault !== undefined) throw new Error(fault);
    return Math.max(since, ...back) - since;
  } finally {
    rmSync(filling, { force: true });
    agent.kill();
    await agent.ended();
    await deleteOpened(account);
    await watch.until(OPENED, false, START_MS);
  }
}

export const fullDisk: Build = async (t, lanes) => {
  const { port } = await startOrigin(t, (_request, response) => response.end('here'));
  const made: Lane[] = [];
  for (let lane = 0; lane < lanes; lane++) made.push(await makeLane(t, port));
  return { strike: (lane, outageMs) => strike(made[lane - 1] as Lane, outageMs) };
};
