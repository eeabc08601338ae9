/** `culvert doctor`: checks a server or an agent from this machine, and says for each fault what to do. Exit code 1 when a check fails. */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { kindOfFile } from '../../config/text/file-kind.ts';
import { hasFailed, type Check, checkLines } from '../checks/check.ts';
import { realSystem, type System } from '../checks/system.ts';
import { networkFlags } from '../client/outbound.ts';
import type { CommandBody } from '../terminal/command.ts';
import { EXIT } from '../terminal/exit.ts';
import { hasColor, type Io, print } from '../terminal/io.ts';
import { jsonText } from '../terminal/paint.ts';
import { checkAgent } from './agent-checks.ts';
import { checkServer } from './server-checks.ts';

export const doctor: CommandBody = doctorOn(realSystem);

/** `systemOf`: of a machine with these DNS servers. */
function doctorOn(systemOf: (resolvers?: readonly string[]) => System): CommandBody {
  return async (io, { flags }) => {
    const named = typeof flags['config'] === 'string' ? flags['config'] : undefined;
    const file = serverFile(io, named);
    const checks =
      file === undefined
        ? await checkAgent(io, { named, server: flags['server'], network: networkFlags(flags), system: systemOf() })
        : await checkServer(io, file, systemOf);
    await print(io.stdout, flags['json'] === true ? jsonText({ checks }) : text(io, checks));
    return hasFailed(checks) ? EXIT.failure : EXIT.ok;
  };
}

/** The server's settings; undefined: this machine is an agent's. A named file decides by its keys. */
function serverFile(io: Io, named: string | undefined): string | undefined {
  if (named !== undefined) return isAgentFile(resolve(io.cwd, named)) ? undefined : named;
  const { systemConfig: usual } = io;
  return (io.env['CULVERT_CONFIG'] || undefined) ?? (usual !== undefined && existsSync(usual) ? usual : undefined);
}

function isAgentFile(file: string): boolean {
  return existsSync(file) && kindOfFile(readFileSync(file, 'utf8')) === 'agent';
}

function text(io: Io, checks: readonly Check[]): string {
  const count = (status: Check['status']): number => checks.filter((check) => check.status === status).length;
  const sum = `${count('ok')} ok, ${count('warn')} to look at, ${count('fail')} failed`;
  return [...checkLines(checks, hasColor(io.stdout, io.env)), '', sum].join('\n');
}
