/**
 * argv → command → exit code. Called by main.ts and, with other streams, by tests. Prints usage errors; ends nothing itself.
 */
import { type Command, CommanderError, Option } from 'commander';
import { messageOf } from '../base/errors.ts';
import type { CommandSpec } from './terminal/command.ts';
import { COMMANDS } from './commands.ts';
import { GROUPS } from './completion/groups.ts';
import { EXIT, ExitError, type ExitCode, usageError } from './terminal/exit.ts';
import { type Io, type Output, writeLine } from './terminal/io.ts';
import { VERSION } from './terminal/version.ts';
import { commandHint } from './usage/foreign-names.ts';
import { Parser, wordsOf } from './usage/parser.ts';

/** The chosen command, ready to run. */
type Run = (io: Io) => Promise<ExitCode>;

/** What a word of the command line that is a key looks like; names and paths of that shape are not worth the risk. */
const KEY = /^(?:--[a-z-]+=)?mtk_[A-Za-z0-9_]{20,}$/;

const TOKEN_IN_ARGV = `An access key on the command line is rejected: other users of this machine can read it there. Use one of:
  CULVERT_TOKEN        the key itself, in the environment
  CULVERT_TOKEN_FILE   a file with the key
  --token-file FILE    the same
  token_file = "FILE"  in the agent's settings file
If the key you typed is real, revoke it. It stays in your shell's history.`;

/** Runs the command that `argv` (without node and script) names. Never rejects. */
export async function runProgram(argv: readonly string[], io: Io): Promise<ExitCode> {
  try {
    if (namesToken(argv)) throw new ExitError(EXIT.usage, TOKEN_IN_ARGV);
    return await parse(argv, io);
  } catch (error) {
    if (error instanceof CommanderError) return usageExit(error);
    const isConfig = error instanceof Error && error.name === 'ConfigError';
    const lines = isConfig ? error.message.split('\n') : [messageOf(error)];
    for (const line of lines) writeLine(io.stderr, `culvert: ${line}`);
    return exitCodeOf(error);
  }
}

async function parse(argv: readonly string[], io: Io): Promise<ExitCode> {
  let chosen: Run | undefined;
  const program = buildProgram(argv, io, (run) => {
    chosen = run;
  });
  await program.parseAsync(argv, { from: 'user' });
  return chosen === undefined ? EXIT.usage : chosen(io);
}

/** The parser for `argv`, which hands what would run to `choose` and runs nothing. */
export function buildProgram(
  argv: readonly string[],
  io: Pick<Io, 'stdout' | 'stderr'>,
  choose: (run: Run) => void,
): Command {
  const program = new Parser('culvert')
    .description('Give a local port a public URL. Server and agent in one program.')
    .version(VERSION, '-V, --version', 'Print the version')
    .helpOption('-h, --help', 'Print this help')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      getOutHelpWidth: () => helpWidth(io.stdout),
      getErrHelpWidth: () => helpWidth(io.stderr),
      outputError: (text, write) => write(text.replace(/^error:/, 'culvert:')),
    });
  // An agent's start does not pay for the options of all other commands. Help, and a word that is no command, need them all.
  const named = COMMANDS.filter(({ usage }) => usage.split(' ', 1)[0] === argv[0]);
  for (const spec of named.length > 0 ? named : COMMANDS) addCommand(program, spec, choose);
  program
    .command('help [command...]')
    .description('Print this help, or the help of a command')
    .action((words: string[]) => printHelp(program, words));
  program.addHelpText(
    'after',
    `${examplesText(['login --server https://culvert.example.com', 'http 3000'])}

The access key comes from --token-file, CULVERT_TOKEN, CULVERT_TOKEN_FILE, the settings file or
\`culvert login\`. \`culvert help COMMAND\` prints the flags of a command.`,
  );
  return program;
}

/** Prints the help of the command that the words name, e.g. `tokens mint`. Commander's own help command looks at the first word only. */
function printHelp(program: Command, words: readonly string[]): void {
  let command = program;
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next === undefined) throw noCommand(words.join(' '), commandHint(wordsOf(command), word), 'culvert help');
    command = next;
  }
  command.help();
}

function addCommand(program: Command, spec: CommandSpec, choose: (run: Run) => void): void {
  const [first = '', ...rest] = spec.usage.split(' ');
  const isGroup = rest[0] !== undefined && /^[a-z]/.test(rest[0]);
  const parent = isGroup ? group(program, first) : program;
  const isDefault = spec.isDefault === true;
  const command = parent.command(isGroup ? rest.join(' ') : spec.usage, { isDefault }).description(spec.summary);
  const notes = spec.notes === undefined ? '' : `\n\n${spec.notes}`;
  command.addHelpText('after', examplesText(spec.examples) + notes);
  if (spec.alias !== undefined) command.alias(spec.alias);
  for (const [flags, description, how] of spec.options) {
    if (how === 'repeatable') command.option(flags, description, collect);
    else command.option(flags, description);
  }
  for (const flags of spec.refused ?? []) command.addOption(new Option(flags).hideHelp());
  // A word that is no command of the group ends up here: not with "too many arguments for 'list'".
  if (isDefault) command.allowExcessArguments();
  command.action(() => {
    const { args } = command;
    const [word] = args;
    if (isDefault && word !== undefined) {
      throw noCommand(`${first} ${word}`, commandHint(first, word), `culvert ${first} --help`);
    }
    const flags: Record<string, unknown> = command.opts();
    choose(async (io) => (await spec.load())(io, { args, flags }));
  });
}

function noCommand(words: string, hint: string | undefined, help: string): Error {
  return usageError(`there is no command "${words}"${hint === undefined ? `: see ${help}` : `. ${hint}`}`);
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function examplesText(examples: readonly string[]): string {
  return ['', 'Examples:', ...examples.map((example) => `  $ culvert ${example}`)].join('\n');
}

/** Columns of the terminal, 80 without one; at most 100, for long lines are hard to read. */
function helpWidth({ isTTY, columns }: Output): number {
  return Math.min(isTTY === true ? (columns ?? 80) : 80, 100);
}

/** A word that only groups commands, like `config`. */
function group(program: Command, name: string): Command {
  const found = program.commands.find((command) => command.name() === name);
  if (found !== undefined) return found;
  const { summary, examples } = GROUPS[name] ?? { summary: name, examples: [] };
  return program.command(name).description(summary).helpCommand(false).addHelpText('after', examplesText(examples));
}

/** `--token x` and `--token=x`; what stands behind `--` is no option, and a key is one wherever it stands. */
function namesToken(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const options = end < 0 ? argv : argv.slice(0, end);
  return (
    options.some((word) => word === '--token' || word.startsWith('--token=')) || argv.some((word) => KEY.test(word))
  );
}

function usageExit(error: CommanderError): ExitCode {
  // Help that was asked for and --version are no mistakes; help for want of a command is.
  return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
}

function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof ExitError) return error.exitCode;
  // config/ has no notion of exit codes; its error is known by name, for loading its class here would load its parser.
  return error instanceof Error && error.name === 'ConfigError' ? EXIT.usage : EXIT.failure;
}
