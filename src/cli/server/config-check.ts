/** `culvert config check [FILE]`: what `serve` would say about the settings, without starting. */
import { resolve } from 'node:path';
import { loadServerConfig } from '../../config/load.ts';
import type { Invocation } from '../terminal/command.ts';
import { EXIT, type ExitCode, usageError } from '../terminal/exit.ts';
import { textFlag } from '../terminal/flags.ts';
import { type Io, print, writeLine } from '../terminal/io.ts';

/** `--migrate`: the version before, or after, lets this one try a copy of the database. The file is the argument, else `--config`, else CULVERT_CONFIG; without any, the defaults are checked. */
export async function configCheck(io: Io, { args, flags }: Invocation): Promise<ExitCode> {
  const named = typeof flags['config'] === 'string' ? flags['config'] : undefined;
  const [file = named] = args;
  if (named !== undefined && named !== file) throw usageError(`two files are given, ${file} and ${named}. Use one`);
  const { warnings, file: read } = loadServerConfig(file, io);
  const what = read ?? 'defaults';
  for (const warning of warnings) writeLine(io.stderr, `${what}: ${warning}`);
  const migrate = textFlag(flags, 'migrate');
  if (migrate !== undefined) {
    const { migrateCopy } = await import('../../server/upgrade/migrate-copy.ts');
    if (!migrateCopy(resolve(io.cwd, migrate))) {
      writeLine(io.stderr, `the database in ${migrate} is newer than this program`);
      return EXIT.outdated;
    }
  }
  await print(io.stdout, `${what}: ok`);
  return EXIT.ok;
}
