/** Runs the body of `culvert setup` without a terminal, on a machine that a test gives it. */
import { PassThrough, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandBody } from '../terminal/command.ts';
import { ExitError } from '../terminal/exit.ts';
import type { Io } from '../terminal/io.ts';

export interface Outcome {
  readonly code: number;
  /** Standard output and error, and the message of a refusal. */
  readonly output: string;
}

interface Typed {
  readonly home: string;
  readonly args: readonly string[];
  readonly flags: object;
}

/** Ends with the exit code of the process. */
export async function runSetup(body: CommandBody, { home, args, flags }: Typed): Promise<Outcome> {
  let output = '';
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      output += chunk.toString();
      done();
    },
  });
  const io: Io = {
    stdin: new PassThrough().end(),
    stdout: sink,
    stderr: sink,
    env: { HOME: home },
    cwd: home,
    onSignal: () => () => {},
    onCrash: () => {},
    pause: (ms) => sleep(ms),
  };
  try {
    return { code: await body(io, { args, flags: { ...flags } }), output };
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    return { code: error.exitCode, output: output + error.message };
  }
}
