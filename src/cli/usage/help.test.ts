/** The help of the program, of each group and of each command: it fits a terminal and shows how to type the command. */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import type { Command } from 'commander';
import { COMMANDS } from '../commands.ts';
import type { Output } from '../terminal/io.ts';
import { buildProgram } from '../program.ts';

const MAX_COLUMNS = 100;
/** As in "List access keys". */
const SUMMARY = /^[A-Z][a-z]+ .*[^.]$/;

/** The output of `culvert WORDS`, on a terminal as wide as any. */
async function outputOf(words: readonly string[]): Promise<string> {
  let text = '';
  const sink: Output = Object.assign(
    new PassThrough().on('data', (data: Buffer) => (text += data.toString())),
    { isTTY: true as const, columns: 250 },
  );
  const program = buildProgram(words, { stdout: sink, stderr: sink }, () => undefined);
  await program.parseAsync([...words], { from: 'user' }).catch((error: Error) => (text += `\n${error.message}`));
  return text;
}

/** The words of each command and group, e.g. `tokens mint`. */
function namesIn(command: Command, above: readonly string[] = []): string[][] {
  return command.commands.flatMap((one) => {
    const words = [...above, one.name()];
    return one.name() === 'help' ? [] : [words, ...namesIn(one, words)];
  });
}

const NAMES = namesIn(buildProgram([], process, () => undefined));

test('help: the help of every command has an example and no line over 100 columns', async () => {
  assert.ok(NAMES.length > COMMANDS.length, `${NAMES.length} commands and groups`);
  for (const words of [[], ...NAMES]) {
    const text = await outputOf([...words, '--help']);
    assert.match(text, /^Usage: culvert /, words.join(' '));
    assert.match(text, new RegExp(`\\n\\nExamples:\\n  \\$ culvert ${words.join(' ')}`), text);
    const long = text.split('\n').filter((line) => line.length > MAX_COLUMNS);
    assert.deepEqual(long, [], words.join(' '));
  }
});

test('help: `culvert help` with the words of a command prints what its --help prints', async () => {
  for (const words of [[], ...NAMES])
    assert.equal(await outputOf(['help', ...words]), await outputOf([...words, '--help']), words.join(' '));
});

test('help: `culvert help` names the words that are no command', async () => {
  for (const words of ['nothing', 'tokens nothing', 'tokens mint nothing'])
    assert.match(await outputOf(['help', ...words.split(' ')]), new RegExp(`no command "${words}"`));
});

test('help: every example is accepted by the parser and belongs to its command', async () => {
  for (const { usage, examples } of COMMANDS) {
    const name = usage.replace(/ [<[].*$/, '');
    for (const example of examples) {
      assert.ok(example === name || example.startsWith(`${name} `), example);
      const words = Array.from(example.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, bare]) => quoted ?? bare ?? '');
      assert.equal(await outputOf(words), '', example);
    }
  }
});

test('help: every summary is a phrase with a capital letter and no full stop', () => {
  for (const { summary } of COMMANDS) assert.match(summary, SUMMARY);
});
