/** The table of commands as a tree, for completion scripts and the man page: what may stand where on the command line. */
import { Argument, Option } from 'commander';
import { GROUPS } from './groups.ts';
import type { CommandSpec } from '../terminal/command.ts';

/** What a shell offers for a value: nothing, paths, or these words. */
export type Values = 'none' | 'file' | 'folder' | readonly string[];

export interface Flag {
  /** `--json` */
  readonly long: string;
  /** `-h` */
  readonly short?: string;
  readonly description: string;
  /** Name of its value, as `file` in `--config <file>`; undefined: it has none. */
  readonly value?: string;
  readonly values: Values;
}

export interface Operand {
  readonly name: string;
  readonly isRequired: boolean;
  readonly isRepeated: boolean;
  readonly values: Values;
}

export interface CommandNode {
  /** `['tokens', 'mint']`; the program itself has none. */
  readonly words: readonly string[];
  /** Another last word that does the same. */
  readonly alias?: string;
  readonly summary: string;
  readonly operands: readonly Operand[];
  readonly flags: readonly Flag[];
  readonly examples: readonly string[];
  /** Commands of a group. */
  readonly below: readonly CommandNode[];
}

const HELP: Flag = { long: '--help', short: '-h', description: 'Print this help', values: 'none' };
const VERSION: Flag = { long: '--version', short: '-V', description: 'Print the version', values: 'none' };

/** The program with all its commands. Flags that only explain why they are refused are left out. */
export function commandTree(table: readonly CommandSpec[]): CommandNode {
  const below: CommandNode[] = [];
  for (const spec of table) {
    const command = commandOf(spec);
    const [first = ''] = command.words;
    if (command.words.length === 1) below.push(command);
    else if (!below.some(({ words }) => words[0] === first)) below.push(groupOf(first, table));
  }
  below.push(helpOf(below));
  return { words: [], summary: '', operands: [], flags: [HELP, VERSION], examples: [], below };
}

/** The tree without its form: every command and group, from the top. */
export function allNodes(node: CommandNode): CommandNode[] {
  return [node, ...node.below.flatMap(allNodes)];
}

/** Last word of a command, and its other one. */
export function namesOf({ words, alias }: CommandNode): string[] {
  return [words.at(-1) ?? '', ...(alias === undefined ? [] : [alias])];
}

/** The words of a command as one text, by each of its names. */
export function pathsOf(node: CommandNode): string[] {
  return namesOf(node).map((name) => [...node.words.slice(0, -1), name].join(' '));
}

/** Flags that take a value. */
export function valuedFlags(root: CommandNode): string[] {
  const flags = allNodes(root).flatMap((node) => node.flags);
  return [...new Set(flags.filter(({ value }) => value !== undefined).map(({ long }) => long))].sort();
}

const isWord = (text: string): boolean => /^[a-z]/.test(text);

function commandOf({ usage, alias, summary, options, choices = {}, examples }: CommandSpec): CommandNode {
  const parts = usage.split(' ');
  return {
    words: parts.filter(isWord),
    ...(alias === undefined ? {} : { alias }),
    summary,
    operands: parts.filter((part) => !isWord(part)).map((part) => operandOf(part, choices)),
    flags: [...options.map(([flags, description]) => flagOf(flags, description, choices)), HELP],
    examples,
    below: [],
  };
}

/** A group takes what its default command takes. */
function groupOf(name: string, table: readonly CommandSpec[]): CommandNode {
  const specs = table.filter(({ usage }) => usage.startsWith(`${name} `));
  const byDefault = specs.find(({ isDefault }) => isDefault === true);
  const flags = byDefault === undefined ? [HELP] : commandOf(byDefault).flags;
  const { summary, examples } = GROUPS[name] ?? { summary: name, examples: [] };
  return { words: [name], summary, operands: [], flags, examples, below: specs.map(commandOf) };
}

/** `culvert help` names a command, or a group and a command of it. */
function helpOf(commands: readonly CommandNode[]): CommandNode {
  const bare = (node: CommandNode): CommandNode => ({
    ...node,
    words: ['help', ...node.words],
    operands: [],
    flags: [],
    examples: [],
    below: node.below.map(bare),
  });
  return {
    words: ['help'],
    summary: 'Print this help, or the help of a command',
    operands: [],
    flags: [HELP],
    examples: [],
    below: commands.map(bare),
  };
}

type Choices = NonNullable<CommandSpec['choices']>;

function operandOf(text: string, choices: Choices): Operand {
  const argument = new Argument(text);
  const name = argument.name();
  return {
    name,
    isRequired: argument.required,
    isRepeated: argument.variadic,
    values: choices[name] ?? pathKind(name),
  };
}

function flagOf(text: string, description: string, choices: Choices): Flag {
  const { long, short, required, optional, flags } = new Option(text);
  if (long === undefined) throw new Error(`a flag has no long name: ${text}`);
  const value = required || optional ? /[<[]([^>\].]+)/.exec(flags)?.[1] : undefined;
  const flag = { long, ...(short === undefined ? {} : { short }), description };
  if (value === undefined) return { ...flag, values: 'none' };
  return { ...flag, value, values: choices[long] ?? valuesOf(long, value) };
}

/** By the name of the value; `--save-file <path>` is one of this machine, `--path <path>` is one of a URL. */
function valuesOf(long: string, value: string): Values {
  return value === 'path' && long.endsWith('-file') ? 'file' : pathKind(value);
}

function pathKind(value: string): Values {
  if (value === 'file') return 'file';
  return ['folder', 'dir', 'place'].includes(value) ? 'folder' : 'none';
}
