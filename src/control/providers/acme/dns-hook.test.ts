import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Logger, silentLog } from '../../../base/log.ts';
import { AcmeError, type ChallengeAnswer } from './contract.ts';
import type { TxtRecords } from '../dns.ts';
import { DnsHook, type DnsHookOptions } from './dns-hook.ts';
import { OwnClock } from '../../../../test/harness/own-clock.ts';

const FQDN = '_acme-challenge.example.test';

function answer(txtValue = 'value-1', name = 'example.test'): ChallengeAnswer {
  return { type: 'dns-01', name, token: 't', keyAuthorization: 't.k', txtValue };
}

/** Records of no zone. */
const unseen: TxtRecords = { lookUp: async () => [] };

interface Fixture {
  readonly hook: DnsHook;
  /** What the script has written into the file `told`, line by line. */
  told(): string[];
  /** Fields of the warnings in the log. */
  readonly warned: object[];
}

/** `script`: of sh; `$dir` is a folder of the test. */
function start(t: TestContext, script: string, options: Partial<DnsHookOptions> = {}): Fixture {
  const dir = mkdtempSync(join(tmpdir(), 'culvert-hook-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const program = join(dir, 'hook');
  writeFileSync(program, `#!/bin/sh\ndir=${dir}\n${script}\n`, { mode: 0o700 });
  writeFileSync(join(dir, 'told'), '');
  const warned: object[] = [];
  const log: Logger = { ...silentLog, warn: (fields) => void warned.push(fields) };
  const hook = new DnsHook({ program, records: unseen, propagationMs: 0, log, ...options });
  return { hook, warned, told: () => readFileSync(join(dir, 'told'), 'utf8').split('\n').slice(0, -1) };
}

const NOTE = 'echo "$*" >> $dir/told';

test('dns hook: the program gets the record to set or remove as arguments and environment', async (t) => {
  const { hook, told } = start(
    t,
    `${NOTE}\necho "$CULVERT_ACME_ACTION $CULVERT_ACME_FQDN $CULVERT_ACME_VALUE" >> $dir/told`,
  );
  const one = answer('-dash_first');
  await hook.publish(one, t.signal);
  await hook.withdraw(one);
  const lines = [`present ${FQDN} -dash_first`, `cleanup ${FQDN} -dash_first`];
  assert.deepEqual(told(), [lines[0], lines[0], lines[1], lines[1]]);
});

test('the program gets nothing else of the environment', async (t) => {
  process.env['CULVERT_TEST_SECRET'] = 'hunter2';
  t.after(() => delete process.env['CULVERT_TEST_SECRET']);
  const { hook, told } = start(t, 'env | sed s/=.*// | sort > $dir/told');
  await hook.publish(answer(), t.signal);
  const names = told().filter((name) => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name));
  assert.deepEqual(names, ['CULVERT_ACME_ACTION', 'CULVERT_ACME_FQDN', 'CULVERT_ACME_VALUE', 'HOME', 'PATH']);
});

test('what is in a value is not read by a shell', async (t) => {
  const { hook, told } = start(t, NOTE);
  await hook.publish(answer('$(touch $dir/owned);`id`'), t.signal);
  assert.deepEqual(told(), [`present ${FQDN} $(touch $dir/owned);\`id\``]);
});

test('runs of the program do not overlap', async (t) => {
  const { hook, told } = start(t, 'echo begin >> $dir/told; sleep 0.05; echo end >> $dir/told');
  await Promise.all([1, 2, 3].map((number) => hook.publish(answer(`v${number}`), t.signal)));
  assert.deepEqual(told(), ['begin', 'end', 'begin', 'end', 'begin', 'end']);
});

test('dns hook: a failure message leaves out the output of the program, which is logged', async (t) => {
  const { hook, warned } = start(
    t,
    'echo "token=hunter2 \u001b[31mis wrong"; yes hunter2 | head -c 100000 >&2; echo last words >&2; exit 3',
  );
  const error = await failureOf(hook.publish(answer(), t.signal));
  assert.equal(error.code, 'challenge_failed');
  assert.match(
    error.message,
    /acme\.dns_hook exited with status 3 \(present _acme-challenge\.example\.test\); the server's log/,
  );
  assert.ok(!error.message.includes('hunter2'));
  const [line = ''] = warned.map((fields) => JSON.stringify(fields));
  assert.match(line, /hunter2 last words/);
  assert.ok(line.length < 2500, `${line.length}`);
  assert.ok(!line.includes('\\u001b'));
});

test('a program that fails is run again to clean up', async (t) => {
  const { hook, told } = start(t, `${NOTE}; test $1 = cleanup`);
  const one = answer();
  await failureOf(hook.publish(one, t.signal));
  await hook.withdraw(one);
  assert.deepEqual(told(), [`present ${FQDN} value-1`, `cleanup ${FQDN} value-1`]);
});

test('a program that hangs is ended with all that it started', async (t) => {
  const { hook, told } = start(
    t,
    `trap '' TERM; sleep 100 & echo $! >> $dir/told; echo $$ >> $dir/told; wait; sleep 100`,
    {
      limitMs: 300,
    },
  );
  const own = new OwnClock();
  const error = await failureOf(hook.publish(answer(), t.signal));
  assert.match(error.message, /did not finish within 0\.3 s/);
  assert.ok(own.ms < 5000, `${own.ms} ms`);
  const pids = told().map(Number);
  assert.equal(pids.length, 2);
  // Killed, and taken away by init or not yet: nothing of it runs.
  for (const pid of pids) assert.ok(!isRunning(pid), `${pid} runs`);
});

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

test('a program that leaves something behind is not waited for', async (t) => {
  const { hook } = start(t, 'sleep 3 & exit 0');
  const own = new OwnClock();
  await hook.publish(answer(), t.signal);
  assert.ok(own.ms < 2000, `${own.ms} ms`);
});

test('an order that is stopped ends the program and still cleans up; one that waits its turn is not begun', async (t) => {
  const { hook, told } = start(t, `${NOTE}; test $1 = cleanup || sleep 100`);
  const stop = new AbortController();
  const [first, second] = [answer('v1'), answer('v2')];
  const both = [failureOf(hook.publish(first, stop.signal)), failureOf(hook.publish(second, stop.signal))];
  while (told().length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort();
  for (const error of await Promise.all(both)) assert.equal(error.code, 'aborted');
  await Promise.all([hook.withdraw(first), hook.withdraw(second)]);
  assert.deepEqual(told(), [`present ${FQDN} v1`, `cleanup ${FQDN} v1`]);
});

test('dns hook: the message names a program that cannot be run', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'culvert-hook-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, 'plain'), 'no program', { mode: 0o600 });
  writeFileSync(join(dir, 'orphan'), '#!/nowhere/sh\n', { mode: 0o700 });
  const cases = { missing: /the file, or .* does not exist/, plain: /make it executable/, orphan: /first line/ };
  for (const [file, says] of Object.entries(cases)) {
    const program = join(dir, file);
    const hook = new DnsHook({ program, records: unseen, propagationMs: 0, log: silentLog });
    assert.match((await failureOf(hook.publish(answer(), t.signal))).message, says, file);
  }
});

test('the record is waited for until the resolvers see it', async (t) => {
  const asked: string[] = [];
  const lookUp = async (name: string): Promise<string[]> => {
    asked.push(name);
    if (asked.length === 1) throw new Error('no answer');
    return ['another', 'value-1'];
  };
  const { hook } = start(t, '', { records: { lookUp }, propagationMs: 60_000 });
  await hook.publish(answer(), t.signal);
  assert.deepEqual(asked, [FQDN, FQDN]);
});

test('a record that is never seen is waited for so long and no longer, and said', async (t) => {
  const { hook, warned } = start(t, '', { propagationMs: 200 });
  const began = performance.now();
  const own = new OwnClock();
  await hook.publish(answer(), t.signal);
  assert.ok(performance.now() - began >= 190);
  assert.ok(own.ms < 3000, `${own.ms} ms`);
  assert.deepEqual(warned, [{ fqdn: FQDN }]);
});

test('waiting for a record ends with the order', async (t) => {
  const stop = new AbortController();
  const lookUp = async (): Promise<string[]> => {
    setImmediate(() => stop.abort());
    return [];
  };
  const { hook } = start(t, '', { records: { lookUp }, propagationMs: 60_000 });
  await assert.rejects(hook.publish(answer(), stop.signal), { name: 'AbortError' });
});

test('so many names wait for the program and no more', async (t) => {
  const { hook } = start(t, 'sleep 100');
  const stop = new AbortController();
  const waiting = Array.from({ length: 64 }, (_, index) => failureOf(hook.publish(answer(`v${index}`), stop.signal)));
  assert.match((await failureOf(hook.publish(answer('v64'), stop.signal))).message, /try again later/);
  stop.abort();
  await Promise.all(waiting);
});

test('other challenges are not for the program', async (t) => {
  const { hook } = start(t, '');
  const error = await failureOf(hook.publish({ ...answer(), type: 'http-01' }, t.signal));
  assert.equal(error.code, 'challenge_failed');
});

async function failureOf(outcome: Promise<unknown>): Promise<AcmeError> {
  const error: unknown = await outcome.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof AcmeError, String(error));
  return error;
}
