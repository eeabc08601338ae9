/** The prompt for a secret: what is typed never stands on the screen. */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { askSecret } from './ask-secret.ts';
import { ExitError } from './exit.ts';
import type { Io } from './io.ts';

/** A user at a terminal who types this. */
function terminal(typed: string | undefined) {
  const modes: boolean[] = [];
  /** What the terminal showed when the echo was turned off. */
  let before: unknown;
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (isRaw: boolean) => {
      modes.push(isRaw);
      if (isRaw) before = stderr.readableLength;
      return stdin;
    },
  });
  const stderr = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true });
  const fixture = { env: {}, cwd: '/', onSignal: () => () => {}, onCrash: () => {}, pause: async () => {} };
  const io: Io = { stdin, stdout: new PassThrough(), stderr, ...fixture };
  if (typed === undefined) stdin.end();
  else stdin.write(typed);
  return { io, modes, shownBefore: () => before, said: () => String(stderr.read() ?? '') };
}

const ends = (code: number) => (error: unknown) => error instanceof ExitError && error.exitCode === code;

test('secret prompt: the terminal shows the question and nothing that is typed', async () => {
  const { io, modes, shownBefore, said } = terminal('open sesame\r');
  assert.equal(await askSecret(io, 'Password: '), 'open sesame');
  assert.equal(said(), 'Password: \n');
  assert.deepEqual(modes, [true, false], 'the echo is back');
  assert.equal(shownBefore(), 0, 'the echo is off before the question');
});

test('secret prompt: an empty line, the end of the input and Ctrl-C change nothing', async () => {
  for (const [typed, code] of [
    ['\r', 1],
    [undefined, 1],
    ['abc\u0003', 130],
  ] as const) {
    const { io, said } = terminal(typed);
    await assert.rejects(askSecret(io, 'Password: '), ends(code), String(typed));
    assert.equal(said(), 'Password: \n');
  }
});
