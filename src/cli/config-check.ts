/** `culvert config check FILE`: what `serve` would say about the file, without starting. */
import { loadServerConfig } from '../config/load.ts';
import type { Invocation } from './commands.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { type Io, writeLine } from './io.ts';

export async function configCheck(io: Io, { args }: Invocation): Promise<ExitCode> {
  const [file] = args;
  const { warnings } = loadServerConfig(file, io.env);
  for (const warning of warnings) writeLine(io.stderr, `${file}: ${warning}`);
  writeLine(io.stdout, `${file}: ok`);
  return EXIT.ok;
}
