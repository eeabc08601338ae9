/**
 * Errors with a stable machine code. The control plane throws AppError; control/core/http/errors.ts turns it into `{error, message}`.
 * The data plane does not throw for refusals: it returns a fault code (data/faults/fault.ts), for refusals are normal traffic there.
 */

import { API_ERRORS, type ErrorCode } from './codes/api-errors.ts';

export interface ErrorDetail {
  readonly path: string;
  readonly message: string;
}

/** A refusal or failure that a caller may see. `message` is public and says what to do next; `cause` is for the operator. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** What it is about was logged where it was found: no line for each time that it is met. */
  readonly isLogged: boolean;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; details?: readonly ErrorDetail[]; retryAfterSeconds?: number; isLogged?: boolean } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.isLogged = options.isLogged === true;
  }

  get status(): number {
    return API_ERRORS[this.code].status;
  }
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The `code` of a Node system error (`ECONNREFUSED`, …), or undefined. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
