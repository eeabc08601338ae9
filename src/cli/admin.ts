/** `culvert admin …`: what an operator does to the accounts of a data folder, beside a running server or without one. */
import { AppError } from '../base/errors.ts';
import { loadServerConfig } from '../config/load.ts';
import { createUser } from '../server/admin.ts';
import type { Invocation } from './commands.ts';
import { EXIT, type ExitCode, ExitError } from './exit.ts';
import { hasColor, type Io, writeLine } from './io.ts';
import { makeLog } from './log.ts';

/** Prints the address and, on the next line, the password, as the first start does. */
export async function adminCreateUser(io: Io, { args, flags }: Invocation): Promise<ExitCode> {
  const [email = ''] = args;
  const named = typeof flags['config'] === 'string' ? flags['config'] : undefined;
  const { settings } = loadServerConfig(named, io.env);
  const log = await makeLog({ level: 'warn', format: 'auto', output: io.stderr, color: hasColor(io.stderr, io.env) });
  try {
    const created = await createUser(settings, { email, superadmin: flags['superadmin'] === true }, log);
    writeLine(io.stdout, created.email);
    writeLine(io.stdout, created.password.reveal());
    return EXIT.ok;
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause;
    const code = cause.code === 'invalid_request' ? EXIT.usage : EXIT.failure;
    throw new ExitError(code, cause.message, { cause });
  }
}
