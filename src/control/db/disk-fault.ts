/**
 * Which failures of SQLite mean that nothing can be stored now: a full disk, a disk that fails, a folder that was made read-only. Called by
 * tx.ts alone.
 */
import { AppError, codeOf } from '../../base/errors.ts';

/** Also as the start of an extended code, e.g. SQLITE_IOERR_WRITE. */
const CODES = /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN)(_|$)/;

/** The failure as callers of the API see it; undefined when it is about something else. */
export function asDiskFault(error: unknown): AppError | undefined {
  // Drizzle puts an error of its own around some.
  const code = codeOf(error) ?? (error instanceof Error ? codeOf(error.cause) : undefined);
  if (code === undefined || !CODES.test(code)) return undefined;
  return new AppError(
    'unavailable',
    'The server can not store anything now: its disk is full or fails. Tell whoever runs it, and try again later.',
    { cause: error },
  );
}
