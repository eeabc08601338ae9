import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../base/errors.ts';
import { silentLog } from '../../../base/log.ts';
import { ErrorLog } from './error-log.ts';

const AT = { method: 'POST', path: '/auth/login' };

function rig() {
  const lines: Array<Record<string, unknown>> = [];
  const add = (level: string) => (fields: object, message: string) => void lines.push({ level, ...fields, message });
  const time = { now: 0 };
  const log = new ErrorLog({ ...silentLog, warn: add('warn'), error: add('error') }, () => time.now);
  return { log, lines, time };
}

test('a storm of refused requests is one line per ten seconds, without a stack', () => {
  const { log, lines, time } = rig();
  const busy = new AppError('unavailable', 'Too many log-ins at this moment.', { retryAfterSeconds: 1 });
  for (let i = 0; i < 500; i++) log.refusal(busy, AT);
  time.now = 10_000;
  log.refusal(busy, AT);
  const line = {
    level: 'warn',
    code: 'unavailable',
    reason: 'Too many log-ins at this moment.',
    ...AT,
    message: 'a request was not served',
  };
  assert.deepEqual(lines, [
    { ...line, leftOut: 0 },
    { ...line, leftOut: 499 },
  ]);
});

test('what is not set up, and what the caller did, is not logged', () => {
  const { log, lines } = rig();
  for (const code of ['not_configured', 'not_implemented', 'unauthorized', 'rate_limited', 'conflict'] as const)
    log.refusal(new AppError(code, 'No.'), AT);
  assert.deepEqual(lines, []);
});

test('a failure with a cause keeps its stack, and a storm does not hide it; a fault is an error', () => {
  const { log, lines, time } = rig();
  log.refusal(new AppError('unavailable', 'Too many log-ins at this moment.'), AT);
  const failed = new AppError('unavailable', 'The provider does not answer.', { cause: new Error('ECONNREFUSED') });
  log.refusal(failed, AT);
  log.refusal(failed, AT);
  time.now = 10_000;
  log.refusal(failed, AT);
  const fault = new TypeError('x is undefined');
  log.fault(fault, AT);
  assert.deepEqual(
    lines.map(({ level, err }) => [level, err]),
    [
      ['warn', undefined],
      ['warn', failed],
      ['warn', failed],
      ['error', fault],
    ],
  );
});

test('error log: the token of a shared request is not in the path', () => {
  const { log, lines } = rig();
  const at = { method: 'GET', path: '/inspector/shared/k3S0mVq1xJm6r9T2' };
  log.fault(new Error('broken'), at);
  log.refusal(new AppError('unavailable', 'Busy.', { retryAfterSeconds: 1 }), at);
  assert.deepEqual(
    lines.map(({ path }) => path),
    ['/inspector/shared/***', '/inspector/shared/***'],
  );
});
