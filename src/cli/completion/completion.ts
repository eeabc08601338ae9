/** `culvert completion SHELL`: prints a script that completes commands, flags and fixed values. It never starts the program or asks a server. */
import type { CommandBody, CommandSpec } from '../terminal/command.ts';
import { EXIT, usageError } from '../terminal/exit.ts';
import { print } from '../terminal/io.ts';
import { type CommandNode, commandTree } from './command-tree.ts';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { powershellScript } from './powershell.ts';
import { zshScript } from './zsh.ts';

type Shell = 'bash' | 'zsh' | 'fish' | 'powershell';

const SCRIPTS: Readonly<Record<Shell, (root: CommandNode) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  powershell: powershellScript,
};

/** The script of a shell, with a line break at its end. */
export function completionScript(shell: Shell, table: readonly CommandSpec[]): string {
  return SCRIPTS[shell](commandTree(table));
}

/** The command, for these commands. */
export function completionOf(table: readonly CommandSpec[]): CommandBody {
  return async (io, { args: [name = ''] }) => {
    const shell = (Object.keys(SCRIPTS) as Shell[]).find((one) => one === name);
    if (shell === undefined)
      throw usageError(`there is no completion for "${name}". Use bash, zsh, fish or powershell`);
    await print(io.stdout, completionScript(shell, table).trimEnd());
    return EXIT.ok;
  };
}
