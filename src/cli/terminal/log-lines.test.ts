import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Output } from './io.ts';
import { LogLines } from './log-lines.ts';
import { makeLog } from './log.ts';

interface Taker {
  text: string;
  /** Null: lines are taken. */
  code: string | null;
}

/** An output that takes lines, or fails each of them, and lives on after that, as a file does. */
function outputOf(to: Taker): Output {
  const output: Pick<Output, 'on' | 'write'> = {
    on: () => output as Output,
    write: (text: unknown, done: unknown): boolean => {
      if (to.code === null) to.text += String(text);
      (done as (error: Error | null) => void)(
        to.code === null ? null : Object.assign(new Error('no'), { code: to.code }),
      );
      return true;
    },
  };
  return output as Output;
}

test('lines that can not be written are counted, and told of with the first that can', () => {
  const to: Taker = { text: '', code: null };
  const found: unknown[] = [];
  const lines = new LogLines(outputOf(to), (...what) => found.push(what));
  lines.write('one\n');
  to.code = 'ENOSPC';
  lines.write('two\n');
  lines.write('three\n');
  assert.deepEqual(found, []);
  to.code = null;
  lines.write('four\n');
  lines.write('five\n');
  assert.deepEqual(found, [[2, 'ENOSPC']]);
  assert.equal(to.text, 'one\nfour\nfive\n');
});

test('the log says itself how many lines it has lost', async () => {
  const to: Taker = { text: '', code: null };
  const log = await makeLog({ level: 'info', format: 'json', output: outputOf(to), color: false });
  to.code = 'EPIPE';
  log.info({}, 'a lost line');
  to.code = null;
  log.info({}, 'a written line');
  const said = to.text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    said.map(({ level, msg, lost, cause }) => ({ level, msg, lost, cause })),
    [
      { level: 'info', msg: 'a written line', lost: undefined, cause: undefined },
      { level: 'warn', msg: 'log lines were lost: they could not be written', lost: 1, cause: 'EPIPE' },
    ],
  );
});
