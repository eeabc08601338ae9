/** The command line as text: a block per command, a line per flag as `--help` writes it, without the prose. */
import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { buildProgram } from '../../src/cli/program.ts';
import { type Block, textOf } from './blocks.ts';

export function flagText(): string {
  const sink = new PassThrough().resume();
  return textOf(
    blocksOf(
      buildProgram([], { stdout: sink, stderr: sink }, () => undefined),
      [],
    ),
  );
}

function blocksOf(command: Command, parents: readonly string[]): Block[] {
  const path = [...parents, command.name()];
  const visible = command
    .createHelp()
    .visibleOptions(command)
    .map(({ flags }) => flags);
  const hidden = command.options.map(({ flags }) => flags).filter((flags) => !visible.includes(flags));
  return [
    {
      heading: path.join(' '),
      lines: [
        `usage: ${command.usage()}`,
        ...command.aliases().map((alias) => `alias: ${alias}`),
        ...visible,
        ...hidden.map((flags) => `hidden: ${flags}`),
      ],
    },
    ...command.commands.flatMap((child) => blocksOf(child, path)),
  ];
}
