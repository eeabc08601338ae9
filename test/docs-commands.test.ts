/** Every command that README.md and `docs/` show is one of the program, and runs in an empty home: it does its work, or prints what it needs. */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { COMMANDS } from '../src/cli/commands.ts';
import { run, tempHome } from '../src/cli/fixtures/in-process.ts';
import { buildProgram } from '../src/cli/program.ts';
import { freePorts } from './harness/config.ts';
import { codeBlocks, documents, inlineCode } from './harness/docs.ts';

/** The words of a command line, without quotes. */
const wordsOf = (line: string): string[] =>
  Array.from(line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g), ([, double, single, bare]) => double ?? single ?? bare ?? '');

/** Every `culvert …` of a line of a shell, as arguments: also behind `sudo -u culvert`, `$(` and `&&`. */
function commandsIn(line: string): string[][] {
  return line
    .replace(/^\$ /, '')
    .replace(/ +#.*$/, '')
    .split(/&&|\|\||[|;)]| & ?$|\$\(| >>?/)
    .map((part) => wordsOf(part.trim().replace(/^(?:sudo (?:-u \w+ )?|ssh \w+ sudo )/, '')))
    .filter(([program]) => program === 'culvert')
    .map(([, ...args]) => args);
}

/** Each command that a document shows, in code blocks and in backticks; `…` stands for any. */
const SHOWN: ReadonlyArray<readonly [where: string, args: readonly string[]]> = documents().flatMap((document) => {
  const lines = codeBlocks(document)
    .filter(({ language }) => ['console', 'sh'].includes(language))
    .flatMap(({ language, code }) =>
      code.split('\n').filter((line) => (language === 'sh' ? !line.startsWith('#') : line.startsWith('$ '))),
    );
  const inline = inlineCode(document).filter((code) => code.startsWith('culvert '));
  return [...lines, ...inline]
    .flatMap(commandsIn)
    .filter((args) => args.length > 0 && !args.some((word) => word.includes('…')) && args[0] !== 'help')
    .map((args) => [`${document.path}: culvert ${args.join(' ')}`, args] as const);
});

/** Why the program would not take these arguments; undefined when it would. Nothing runs. */
async function complaint(args: readonly string[]): Promise<string | undefined> {
  let text = '';
  const sink = new PassThrough().on('data', (data: Buffer) => (text += data.toString()));
  try {
    await buildProgram(args, { stdout: sink, stderr: sink }, () => undefined).parseAsync([...args], { from: 'user' });
    return undefined;
  } catch (error) {
    return `${text}${String(error)}`;
  }
}

/** A group alone, as in "`culvert admin` manages": its words begin a command, and nothing follows. */
const isGroup = (args: readonly string[]): boolean =>
  COMMANDS.some(({ usage }) => usage.startsWith(`${args.join(' ')} `));

const wholeCommands = (): typeof SHOWN => SHOWN.filter(([, args]) => !isGroup(args));

test('docs: every command is one of the program, with its arguments and flags', async () => {
  assert.ok(SHOWN.length > 150, `${SHOWN.length} commands`);
  const wrong: string[] = [];
  for (const [where, args] of wholeCommands()) {
    const found = await complaint(args);
    if (found !== undefined) wrong.push(`${where}: ${found}`);
  }
  assert.deepEqual(wrong, []);
});

/** A server starts and stays. */
const STAYS = new Set(['serve', 'serve --new-server']);

test('docs: every command runs in an empty home, or prints what it needs', async (t) => {
  const { api: port } = await freePorts();
  const wrong: string[] = [];
  const lines = new Map(wholeCommands().map(([where, args]) => [args.join(' '), [where, args] as const]));
  for (const [line, [where, args]] of lines) {
    // Setup looks up names and writes to the machine that it runs on: src/cli/setup/setup.test.ts plays one.
    if (STAYS.has(line) || args[0] === 'setup') continue;
    const env = { CULVERT_SERVER: `http://127.0.0.1:${port}` };
    // Names of other machines are not looked up.
    const local = args.map((word) => (word.startsWith('https://culvert.example.com') ? env.CULVERT_SERVER : word));
    const { code, stdout, stderr } = await run(local, { home: tempHome(t), env, pause: async () => undefined });
    const said = `${stdout}${stderr}`.trimEnd();
    if (code > 4 || /^ {4}at /m.test(said)) wrong.push(`${where}: ${code}: ${said}`);
    if (code !== 0 && said === '') wrong.push(`${where}: ${code}, and not a word`);
  }
  assert.deepEqual(wrong, []);
  t.diagnostic(`${lines.size} commands`);
});
