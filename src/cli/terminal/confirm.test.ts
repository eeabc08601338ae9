/** The question before something is ended for good: on a terminal, by --yes, and never by a pipe. */
import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import { test } from 'node:test';
import { confirm } from './confirm.ts';
import { ExitError } from './exit.ts';
import type { Io } from './io.ts';

/** A person at a terminal who types this; without a terminal, a pipe with the same in it. */
function person(typed: string | undefined, isTTY = true) {
  const said: string[] = [];
  const stderr = Object.assign(
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        const isAsked = said.join('').includes('[y/N]');
        said.push(chunk.toString());
        if (!isAsked && said.join('').includes('[y/N]') && typed !== undefined) stdin.write(typed);
        done();
      },
    }),
    { isTTY },
  );
  const stdin = Object.assign(new PassThrough(), { isTTY, setRawMode: () => stdin });
  const fixture = { env: {}, cwd: '/', onSignal: () => () => {}, onCrash: () => {}, pause: async () => {} };
  const io: Io = { stdin, stdout: new PassThrough(), stderr, ...fixture };
  return { io, stdin, said: () => said.join('') };
}

const ends = (code: number, message: RegExp) => (error: unknown) =>
  error instanceof ExitError && error.exitCode === code && message.test(error.message);

test('yes goes on; the question is harmless to the terminal', async () => {
  for (const typed of ['y\n', 'Yes\n', ' YES \n']) {
    const { io, said } = person(typed);
    await confirm(io, {}, 'Delete \u001b[2Jshop?');
    assert.ok(said().includes('Delete ?[2Jshop? [y/N] '));
  }
});

test('all else changes nothing', async () => {
  for (const typed of ['\n', 'n\n', 'yep\n', 'shop\n']) {
    await assert.rejects(
      confirm(person(typed).io, {}, 'Delete?'),
      ends(1, /no changes were made/),
      JSON.stringify(typed),
    );
  }
});

test('the end of the input is no yes, and Ctrl-C is an interrupt', async () => {
  const over = person(undefined);
  over.stdin.end();
  await assert.rejects(confirm(over.io, {}, 'Delete?'), ends(1, /no changes were made/));
  await assert.rejects(confirm(person('\u0003').io, {}, 'Delete?'), ends(130, /no changes were made/));
});

test('confirmation: --yes skips the question and is required without a terminal', async () => {
  const quiet = person(undefined, false);
  await confirm(quiet.io, { yes: true }, 'Delete?');
  assert.equal(quiet.said(), '');
  await assert.rejects(confirm(person('y\n', false).io, {}, 'Delete shop?'), ends(2, /^Delete shop\? .*Use --yes$/));
});
