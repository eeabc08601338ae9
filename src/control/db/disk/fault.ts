/**
 * Which failures of SQLite mean that nothing can be stored now: a full disk, a disk that fails, a folder that was made read-only, a file that another
 * program has locked. Called by db/tx.ts alone.
 */
import { AppError, codeOf } from '../../../base/errors.ts';
import { given } from '../../../base/given.ts';

/** Also as the start of an extended code, e.g. SQLITE_IOERR_WRITE. */
const CODES = /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN)(_|$)/;
/** Another program holds the file's write lock, or the whole file. */
const LOCKED = /^SQLITE_(BUSY|LOCKED)(_|$)/;

/** No room, or no more for this user. */
const FULL = /^SQLITE_(FULL|IOERR_SHMSIZE)$|^E(NOSPC|DQUOT)$/;

/** The disk has no room. */
export function isFull(error: unknown): boolean {
  return FULL.test(faultCode(error) ?? '');
}

export function isLocked(error: unknown): boolean {
  return LOCKED.test(faultCode(error) ?? '');
}

/** The failure as callers of the API see it; undefined when it is about something else. */
export function asDiskFault(error: unknown): AppError | undefined {
  const code = faultCode(error);
  if (code !== undefined && LOCKED.test(code)) return locked(error);
  if (code === undefined || !CODES.test(code)) return undefined;
  return new AppError(
    'unavailable',
    'The server cannot store data: its disk is full or failing. Tell its operator, and try again later.',
    { cause: error },
  );
}

/** The code of an error of SQLite or the system. Drizzle puts an error of its own around some. */
export function faultCode(error: unknown): string | undefined {
  return codeOf(error) ?? (error instanceof Error ? codeOf(error.cause) : undefined);
}

/** The disk has not said that a change is stored, or has said no. */
export function unconfirmed(cause?: unknown): AppError {
  return new AppError(
    'unavailable',
    'The disk of the server did not confirm the change, so it is unknown whether it was stored. Check before you try again.',
    { retryAfterSeconds: 5, ...given({ cause }) },
  );
}

export function locked(cause?: unknown): AppError {
  return new AppError(
    'unavailable',
    'The database of the server is locked by another program, so nothing was stored. Try again in a few seconds.',
    { retryAfterSeconds: 2, ...given({ cause }) },
  );
}
