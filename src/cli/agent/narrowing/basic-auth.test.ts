/** `--basic-auth`: where the password comes from, and what is refused. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { NarrowingSettings } from '../../../config/agent-keys/narrowing.ts';
import { run, tempHome } from '../../fixtures/in-process.ts';
import { usageError } from '../../terminal/exit.ts';
import type { Io } from '../../terminal/io.ts';
import { askPassword, basicAuthOf, needsPrompt } from './basic-auth.ts';

const KEY = 'mtk_0123456789abcdefghijABCDEFGHIJ0123456789abc';

interface Given {
  readonly values: NarrowingSettings;
  readonly env?: string;
  /** What a person types. */
  readonly typed?: string;
  readonly isAlone?: boolean;
}

async function read(t: TestContext, { values, env, typed, isAlone = true }: Given) {
  const folder = tempHome(t);
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
  const stdin = Object.assign(new PassThrough(), { isTTY: typed !== undefined, setRawMode: () => stdin });
  const stderr = Object.assign(new PassThrough(), { isTTY: typed !== undefined });
  const io = { stdin, stderr, env: { CULVERT_BASIC_AUTH: env }, cwd: folder } as unknown as Io;
  const mistake = (key: string, text: string): Error => usageError(`${key}: ${text}`);
  let shown = '';
  stderr.on('data', (bytes) => (shown += String(bytes)));
  const fileAt = (_key: string, name: string): string => join(folder, name);
  const input = { env: io.env, protocol: 'http', values, fileAt, isAlone, mistake } as const;
  const asked = needsPrompt(io, input) ? askPassword(io, input) : undefined;
  if (typed !== undefined) stdin.write(typed);
  const credentials = basicAuthOf({ ...input, typed: await asked });
  await setImmediate();
  return { credentials, shown };
}

const FILES = { alone: 'secret one\n', both: 'ann:se:cret\r\n', empty: '', other: 'bob:x' };

const good: ReadonlyArray<[string, Given, string | undefined]> = [
  ['a file with the password', { values: { basic_auth: 'ann', basic_auth_file: 'alone' } }, 'ann/secret one'],
  ['a file with both', { values: { basic_auth: 'ann', basic_auth_file: 'both' } }, 'ann/se:cret'],
  ['a file with both, by itself', { values: { basic_auth_file: 'both' } }, 'ann/se:cret'],
  ['the environment', { values: { basic_auth: 'ann' }, env: 'ann:pw' }, 'ann/pw'],
  ['the environment by itself', { values: {}, env: 'ann:p:w' }, 'ann/p:w'],
  [
    'a file before the environment',
    { values: { basic_auth: 'ann', basic_auth_file: 'alone' }, env: 'ann:x' },
    'ann/secret one',
  ],
  [
    'the environment, for a tunnel of the file that asks for no password',
    { values: {}, env: 'ann:pw', isAlone: false },
    undefined,
  ],
  ['a prompt', { values: { basic_auth: 'ann' }, typed: 'typed\r' }, 'ann/typed'],
  ['nothing', { values: {} }, undefined],
];
for (const [what, given, wanted] of good) {
  test(`basic auth: ${what}`, async (t) => {
    const { credentials } = await read(t, given);
    assert.equal(credentials && `${credentials.username}/${credentials.password}`, wanted);
  });
}

test('basic auth: the prompt shows nothing of the password, and Ctrl-C ends it', async (t) => {
  const { shown } = await read(t, { values: { basic_auth: 'ann' }, typed: 'typed\r' });
  assert.equal(shown, 'Password for visitors (user ann): \n');
  await assert.rejects(read(t, { values: { basic_auth: 'ann' }, typed: 'ty\u0003' }), /no changes were made/);
});

const bad: ReadonlyArray<[Given, RegExp]> = [
  [
    { values: { basic_auth: 'ann' } },
    /no terminal for a prompt\. Use CULVERT_BASIC_AUTH=USER:PASSWORD or --basic-auth-file/,
  ],
  [{ values: { basic_auth: 'ann' }, env: 'bob:x' }, /CULVERT_BASIC_AUTH is for the user bob, not ann/],
  [{ values: { basic_auth: 'ann' }, env: 'pw' }, /CULVERT_BASIC_AUTH must be USER:PASSWORD/],
  [{ values: {}, env: ':pw' }, /CULVERT_BASIC_AUTH has no user name/],
  [{ values: { basic_auth_file: 'alone' } }, /basic_auth_file: must have USER:PASSWORD/],
  [{ values: { basic_auth: 'ann', basic_auth_file: 'empty' } }, /basic_auth_file: has no password/],
  [{ values: { basic_auth: 'ann', basic_auth_file: 'absent' } }, /absent cannot be read: there is no such file/],
  [{ values: { basic_auth: '' } }, /basic_auth: is empty/],
  [{ values: { basic_auth: 'ann' }, typed: '\r' }, /nothing was entered/],
  [{ values: { basic_auth: 'ann:pw' }, isAlone: false }, /takes the user name alone/],
];
for (const [given, message] of bad) {
  test(`basic auth: ${JSON.stringify(given)} is refused`, async (t) => {
    await assert.rejects(read(t, given), message);
  });
}

test('basic auth: a password on the command line is refused with 2, and the three other ways are named', async (t) => {
  const args = ['http', '3000', '--basic-auth', 'ann:hunter2'];
  const { code, stderr } = await run(args, { home: tempHome(t), env: { CULVERT_TOKEN: KEY } });
  assert.equal(code, 2);
  for (const way of ['--basic-auth USER ', 'CULVERT_BASIC_AUTH=USER:PASSWORD', '--basic-auth-file FILE'])
    assert.ok(stderr.includes(way), way);
  assert.doesNotMatch(stderr, /hunter2/);
});
