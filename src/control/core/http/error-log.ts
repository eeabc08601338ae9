/**
 * Which failures of requests are in the log, and how much of them. Called by errors.ts.
 *
 * A fault has its stack. A refusal that this server chose to give has none: its code and message say all there is, and any client can cause
 * it. One that comes of settings is not there at all, for the settings do not change; one that comes of load is there once in a while.
 */
import type { AppError } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import { Throttle } from '../../../base/limits/throttle.ts';

const EVERY_MS = 10_000;
/** The token of a shared request: a reader of the log must not be able to open it. */
const TOKEN = /^(\/inspector\/shared\/)[^/]+/;

export interface FailedRequest {
  readonly method: string;
  readonly path: string;
}

export class ErrorLog {
  readonly #log: Logger;
  readonly #busy: Throttle;
  /** On its own, so that a storm of requests does not hide what has broken. */
  readonly #failing: Throttle;

  constructor(log: Logger, monotonic: () => number) {
    this.#log = log;
    this.#busy = new Throttle(EVERY_MS, monotonic);
    this.#failing = new Throttle(EVERY_MS, monotonic);
  }

  /** An unforeseen error. */
  fault(error: unknown, { method, path }: FailedRequest): void {
    this.#log.error({ err: error, method, path: withoutToken(path) }, 'a request failed');
  }

  /** An answer of the API; those that are the caller's doing are not logged. */
  refusal(error: AppError, { method, path }: FailedRequest): void {
    if (error.isLogged || error.status < 500 || error.code === 'not_configured' || error.code === 'not_implemented')
      return;
    const isFailure = error.cause !== undefined;
    const passed = error.code === 'unavailable' ? (isFailure ? this.#failing : this.#busy).pass() : {};
    if (passed === undefined) return;
    const what = isFailure ? { err: error } : { code: error.code, reason: error.message };
    this.#log.warn({ ...what, method, path: withoutToken(path), ...passed }, 'a request was not served');
  }
}

function withoutToken(path: string): string {
  return path.replace(TOKEN, '$1***');
}
