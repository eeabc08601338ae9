/**
 * What a command is: how it is written in the table of commands.ts, and what it gets when it runs.
 */
import type { ExitCode } from './exit.ts';
import type { Io } from './io.ts';

/** What the parser hands to a command: its arguments in order, and its options by camel-case name. */
export interface Invocation {
  readonly args: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
}

export type CommandBody = (io: Io, invocation: Invocation) => Promise<ExitCode>;

/** `repeatable`: given more than once, its values are a list. */
export type CommandOption = readonly [flags: string, description: string, how?: 'repeatable'];

export interface CommandSpec {
  /** Words and arguments, as commander reads them. */
  readonly usage: string;
  /** Another last word that does the same. */
  readonly alias?: string;
  /** Of a group, what its name alone does. */
  readonly isDefault?: boolean;
  readonly summary: string;
  /** Command lines without the name of the program; the help shows them. */
  readonly examples: readonly string[];
  /** What the help shows behind the examples. */
  readonly notes?: string;
  readonly options: readonly CommandOption[];
  /** Values that an argument (`plan`) or a flag (`--protocol`) takes, for completion and the man page. The command checks them itself. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
  /** Flags of a sister command: the parser accepts them, so that the command can explain why it refuses them. Help does not show them. */
  readonly refused?: readonly string[];
  readonly load: () => Promise<CommandBody>;
}
