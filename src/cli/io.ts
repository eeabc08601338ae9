/**
 * The world around a command as one argument: streams, environment, signals. main.ts gives the real one.
 */
import type { ReadStream, WriteStream } from 'node:tty';

/** Standard output or error; the terminal fields are there when it is one. */
export type Output = NodeJS.WritableStream & Partial<Pick<WriteStream, 'isTTY' | 'columns' | 'rows'>>;

/** Standard input, for an answer of a person. */
export type Input = NodeJS.ReadableStream & Partial<Pick<ReadStream, 'isTTY'>>;

export type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

export interface Io {
  /** Read from only where it is a terminal. */
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Calls back for each signal until the returned function is called. */
  onSignal(signal: Signal, listener: () => void): () => void;
}

/** The process itself. */
export function processIo(): Io {
  return {
    // A getter of Node's, which opens the stream: commands that ask nothing must not.
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    onSignal: (signal, listener) => {
      process.on(signal, listener);
      return () => process.off(signal, listener);
    },
  };
}

/** One line. */
export function writeLine(output: Output, line: string): void {
  output.write(`${line}\n`);
}

/** A terminal that a screen can be drawn on. A pty without a size shows nothing of what log-update draws. */
export function canDraw(output: Output, env: NodeJS.ProcessEnv): boolean {
  return output.isTTY === true && (output.rows ?? 0) > 0 && (output.columns ?? 0) > 0 && env['TERM'] !== 'dumb';
}

/** Colours: wanted on a terminal, unless NO_COLOR (any value but the empty one) or TERM=dumb say otherwise. */
export function hasColor(output: Output, env: NodeJS.ProcessEnv): boolean {
  return output.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}
