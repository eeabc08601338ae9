/**
 * The exit codes, and the error that carries one. main.ts alone calls process.exit.
 */
export const EXIT = {
  ok: 0,
  failure: 1,
  /** Usage or configuration. */
  usage: 2,
  /** Bad, expired or revoked key. */
  unauthorized: 3,
  /** Name, quota or plan refused, or another agent took the name over. */
  refused: 4,
  /** `upgrade --check`: there is a newer version. `config check --migrate`: the database is newer. */
  outdated: 10,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends a command with a message for people, on standard error. */
export class ExitError extends Error {
  override readonly name = 'ExitError';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** A mistake in the command line or the settings. */
export function usageError(message: string, cause?: unknown): ExitError {
  return new ExitError(EXIT.usage, message, cause === undefined ? undefined : { cause });
}
