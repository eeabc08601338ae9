/**
 * Asks before something is ended that does not come back. `--yes` skips the question; without a terminal (a pipe, a CI job) it is required: a script
 * that deletes says so in its own text.
 */
import { createInterface } from 'node:readline/promises';
import { EXIT, ExitError, usageError } from './exit.ts';
import type { Io } from './io.ts';
import { harmless } from './paint.ts';

/** Resolves when the person says yes. @throws ExitError: usage without a terminal, failure for a no, interrupted for Ctrl-C. */
export async function confirm(io: Io, flags: Readonly<Record<string, unknown>>, question: string): Promise<void> {
  if (flags['yes'] === true) return;
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true) {
    throw usageError(`${harmless(question)} There is no terminal for a confirmation. Use --yes`);
  }
  const lines = createInterface({ input: io.stdin, output: io.stderr });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  lines.once('SIGINT', () => reject(new ExitError(EXIT.interrupted, 'no changes were made')));
  lines.once('close', () => resolve('')); // the end of the input is no yes
  try {
    lines.question(`${harmless(question)} [y/N] `).then(resolve, reject);
    if (!/^y(es)?$/i.test((await promise).trim())) throw new ExitError(EXIT.failure, 'no changes were made');
  } finally {
    lines.close();
  }
}
