/** Asks for a secret, which the terminal does not show. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { EXIT, ExitError } from './exit.ts';
import type { Io } from './io.ts';

/** The line that a user types, which the terminal does not show. @throws ExitError: interrupted, or failure for an empty line. */
export async function askSecret(io: Io, question: string): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: io.stdin, output: silent, terminal: true });
  // The echo is off by now: what is typed as soon as the question stands there is not shown.
  io.stderr.write(question);
  const { promise, resolve: answer, reject } = Promise.withResolvers<string>();
  lines.once('line', answer);
  lines.once('SIGINT', () => reject(new ExitError(EXIT.interrupted, 'no changes were made')));
  lines.once('close', () => answer(''));
  try {
    const text = await promise;
    if (text === '') throw new ExitError(EXIT.failure, 'nothing was entered. No changes were made');
    return text;
  } finally {
    lines.close();
    io.stderr.write('\n');
  }
}
