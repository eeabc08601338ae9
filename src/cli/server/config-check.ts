/** `culvert config check [FILE]`: what `serve` would say about a server's settings, or `start` about an agent's, without starting. */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { kindOfFile } from '../../config/text/file-kind.ts';
import { loadServerConfig } from '../../config/load.ts';
import { accessLogProblem } from '../../server/access-log/place.ts';
import { checkAgentTunnels } from '../agent/check-file.ts';
import type { Invocation } from '../terminal/command.ts';
import { EXIT, type ExitCode, usageError } from '../terminal/exit.ts';
import { textFlag } from '../terminal/flags.ts';
import { type Io, print, writeLine } from '../terminal/io.ts';

/** The agent reads this where nothing else is named. */
const HERE = 'culvert.toml';

/** `--migrate`: the version before, or after, lets this one try a copy of the database. The file is the argument, else `--config`, else CULVERT_CONFIG, else that of the system, else an agent's in this folder; without any, the defaults are checked. */
export async function configCheck(io: Io, { args, flags }: Invocation): Promise<ExitCode> {
  const named = typeof flags['config'] === 'string' ? flags['config'] : undefined;
  const [file = named] = args;
  if (named !== undefined && named !== file) throw usageError(`two files are given, ${file} and ${named}. Use one`);
  const migrate = textFlag(flags, 'migrate');
  const agents = agentFile(io, file);
  if (agents !== undefined) {
    if (migrate !== undefined) throw usageError(`--migrate: ${agents} is the settings file of an agent`);
    checkAgentTunnels(agents, io.cwd);
    await print(io.stdout, `${agents}: ok`);
    return EXIT.ok;
  }
  const { warnings, settings, file: read } = loadServerConfig(file, io);
  const what = read ?? 'defaults';
  for (const warning of warnings) writeLine(io.stderr, `${what}: ${warning}`);
  const problem = accessLogProblem(settings.log.access);
  if (problem !== null) writeLine(io.stderr, `${what}: ${problem.message}`);
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

/** The file to check if it is an agent's; undefined: the server's settings are meant. */
function agentFile({ cwd, env, systemConfig }: Io, named: string | undefined): string | undefined {
  const isSystem = systemConfig !== undefined && existsSync(systemConfig);
  const file = named ?? (env['CULVERT_CONFIG'] || undefined) ?? (isSystem ? systemConfig : HERE);
  const path = resolve(cwd, file);
  return existsSync(path) && kindOfFile(readFileSync(path, 'utf8')) === 'agent' ? file : undefined;
}
