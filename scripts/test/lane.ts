/**
 * A process that runs test files one after the other, each as a suite of its own, so that its hooks are its own. Started by scripts/test/pool.ts,
 * which hands it the next file for each `next`. argv[2]: the bundle; empty: files run from their source.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { ROOT } from './files.ts';
import type { LaneEvent, LaneOrder } from './lane-events.ts';
import { Leftovers } from './leftovers.ts';
import { Fixture } from './fixture.ts';
import { loadTestRunner } from './runner.ts';

/** After its last file a lane ends by itself. One that does not within this time is held by something that a test has left. */
const END_MS = Number(process.env['LANE_END_MS'] ?? 20_000);

interface Bundle {
  /** Done when it returns, or a promise, as scripts/test/bundle.ts made it. */
  readonly files: Readonly<Record<string, () => unknown>>;
}

const { mock, suite } = await loadTestRunner();
const [, , bundle = ''] = process.argv;
const tests = bundle === '' ? undefined : ((await import(pathToFileURL(bundle).href)) as Bundle).files;

// Node's runner sets listeners of its own with its first suite: they must be there before the fixture is looked at.
await suite('lane', () => {});
// A lane whose parent is gone would wait for its next file for ever.
process.on('disconnect', () => process.exit());
// It also ends when nothing holds the loop, and the channel alone does not.
const hold = setInterval(() => {}, 2 ** 30);
const leftovers = new Leftovers();
for (let file = await next(); file !== undefined; file = await next()) {
  const { path, limitMs } = file;
  const fixture = new Fixture();
  const before = process.cpuUsage();
  await suite(path, { timeout: limitMs }, () => load(path));
  mock.reset();
  try {
    fixture.restore();
  } catch (error) {
    console.error(error);
    process.exit(1);
  }
  const { user, system } = process.cpuUsage(before);
  say({ kind: 'left', path, cpuMs: (user + system) / 1000 });
  leftovers.look(path);
}
clearInterval(hold);
setTimeout(() => {
  console.error(`held open by:\n${leftovers.describe()}`);
  process.exit(1);
}, END_MS).unref();
// Not closed: what the runner still has to say at its end goes over it.
process.channel?.unref();

async function settled(loading: Promise<unknown>): Promise<void> {
  await loading;
}

function load(path: string): Promise<void> | undefined {
  if (tests === undefined) {
    if (!process.execArgv.includes('--test-name-pattern'))
      return settled(import(pathToFileURL(`${ROOT}/${path}`).href));
    createRequire(import.meta.url)(`${ROOT}/${path}`);
    return undefined;
  }
  const start = tests[path];
  if (start === undefined) throw new Error(`${path} is not in the bundle`);
  const loading = start();
  return loading instanceof Promise ? settled(loading) : undefined;
}

/** The next file; undefined: there is none. */
function next(): Promise<LaneOrder['file']> {
  const answer = new Promise<LaneOrder['file']>((resolve) => {
    process.once('message', ({ file }: LaneOrder) => resolve(file));
  });
  say({ kind: 'next' });
  return answer;
}

function say(event: LaneEvent): void {
  process.send?.(event);
}
