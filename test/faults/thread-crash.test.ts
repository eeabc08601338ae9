/** A fault in one thread of the server ends the whole process, so that a service manager starts a whole server: never half of one goes on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Fault, faultyEnv, injectFault, type Thread } from '../harness/injected-faults.ts';
import { startOrigin } from '../harness/origin.ts';
import { spawnCulvert } from '../harness/spawned.ts';
import { get } from '../harness/visitor.ts';

interface Case {
  readonly title: string;
  readonly thread: Thread;
  readonly fault: Fault;
  readonly nodeOptions?: string;
  readonly cause: RegExp;
}

const CASES: readonly Case[] = [
  { title: 'an uncaught exception in the data thread', thread: 'data', fault: 'throw', cause: /^thrown by a test$/ },
  {
    title: 'an unhandled rejection in the data thread',
    thread: 'data',
    fault: 'reject',
    cause: /^rejected by a test$/,
  },
  {
    title: 'a full heap of the data thread',
    thread: 'data',
    fault: 'heap',
    nodeOptions: '--max-old-space-size=128',
    cause: /memory limit/,
  },
  {
    title: 'an uncaught exception in the control thread',
    thread: 'control',
    fault: 'throw',
    cause: /^thrown by a test$/,
  },
  {
    title: 'an unhandled rejection in the control thread',
    thread: 'control',
    fault: 'reject',
    cause: /^rejected by a test$/,
  },
];

interface LogLine {
  readonly level: string;
  readonly thread?: string;
  readonly err?: { readonly message: string; readonly stack: string };
  readonly msg: string;
}

/** Lines of the log; Node's own words about a fault are none. */
function linesOf(output: string): LogLine[] {
  return output.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as LogLine] : []));
}

/** One line says which thread had a fault, and why. */
function assertSaid(output: string, thread: Thread, cause: RegExp): void {
  const said = linesOf(output).filter(({ level, thread: of }) => level === 'error' && of !== undefined);
  assert.deepEqual(
    said.map((line) => line.thread),
    [thread],
    output,
  );
  assert.match(said[0]?.err?.message ?? '', cause);
  assert.match(said[0]?.msg ?? '', /^fatal error: .*the server is stopping$/);
}

for (const { title, thread, fault, nodeOptions, cause } of CASES) {
  test(`crash: ${title} ends the server with a log line`, { timeout: 120_000 }, async (t) => {
    const culvert = await spawnCulvert(t, { env: faultyEnv(t, nodeOptions), takesPreload: true });
    await injectFault(culvert.folder, thread, fault);
    assert.equal(await culvert.server.ended(), 1);
    assertSaid(culvert.server.output, thread, cause);
  });
}

test('crash: an exception in the data thread while the server stops ends it with a log line', {
  timeout: 120_000,
}, async (t) => {
  const { promise: isUnderWay, resolve: come } = Promise.withResolvers<void>();
  const origin = await startOrigin(t, () => come());
  const culvert = await spawnCulvert(t, {
    env: faultyEnv(t),
    takesPreload: true,
    toml: '[server]\ndrain_seconds = 100\n',
  });
  const url = await culvert.agent(['http', String(origin.port), '--subdomain', 'shop']).printed(/^(http:\S+)$/m);
  const visit = get(url, culvert.ports.http, 100_000);
  await isUnderWay;
  const stopped = culvert.stopServer();
  await culvert.server.printed(/stopping: requests in flight/);
  await injectFault(culvert.folder, 'data', 'throw');
  await assert.rejects(visit, { code: 'ECONNRESET' });
  assert.equal(await stopped, 1);
  assertSaid(culvert.server.output, 'data', /^thrown by a test$/);
});
