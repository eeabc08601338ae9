/** A log without lines about errors that are in it already. */
import { AppError } from './errors.ts';
import type { Logger } from './log.ts';

/** The same log; a line whose `err` says that it was logged where it was found is written at level debug. */
export function withoutLogged(log: Logger): Logger {
  const unless = (level: 'error' | 'warn') => (fields: object, message: string) =>
    isLogged(fields) ? log.debug(fields, message) : log[level](fields, message);
  return {
    error: unless('error'),
    warn: unless('warn'),
    info: (fields, message) => log.info(fields, message),
    debug: (fields, message) => log.debug(fields, message),
    child: (fields) => withoutLogged(log.child(fields)),
  };
}

function isLogged(fields: object): boolean {
  if (!('err' in fields)) return false;
  const { err } = fields;
  return [err, err instanceof Error ? err.cause : undefined].some((one) => one instanceof AppError && one.isLogged);
}
