/**
 * The world around a command as one argument: streams, environment, signals, and time to wait. main.ts gives the real one.
 */
import { fstatSync, fsyncSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReadStream, WriteStream } from 'node:tty';
import { codeOf, messageOf } from '../../base/errors.ts';

/** Standard output or error; the terminal fields are there when it is one, `fd` when it is the process's own. */
export type Output = NodeJS.WritableStream &
  Partial<Pick<WriteStream, 'isTTY' | 'columns' | 'rows'>> & { readonly fd?: number };

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
  /** The settings of the server on this machine, read where none are named. Undefined for users who don't run it. */
  readonly systemConfig?: string | undefined;
  /** Calls back for each signal until the returned function is called. */
  onSignal(signal: Signal, listener: () => void): () => void;
  /** Calls back for an error that nothing has caught, right before it ends the process. */
  onCrash(listener: (error: unknown) => void): void;
  /** Other programs come first from now on, to the end of the process. Absent where the process is not this command's alone. */
  lowerPriority?(): void;
  /** Between two questions to a server: resolves after so many milliseconds, rejects when `signal` is aborted. */
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** Where the installer and the packages put it. */
const SYSTEM_CONFIG = '/etc/culvert/culvert.toml';

/** The process itself. */
export function processIo(): Io {
  // By default it opens a debugger on a local port. The executable is built without; run by `node` this takes its place.
  process.on('SIGUSR1', () => undefined);
  // A reader that leaves must not end the process for a status line. `print` and `handOver` listen themselves.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  return {
    // A getter of Node's, which opens the stream: commands that ask nothing must not.
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    systemConfig: process.getuid?.() === 0 ? SYSTEM_CONFIG : undefined,
    onSignal: (signal, listener) => {
      process.on(signal, listener);
      return () => process.off(signal, listener);
    },
    onCrash: (listener) => void process.on('uncaughtExceptionMonitor', listener),
    lowerPriority,
    pause: (ms, signal) => sleep(ms, undefined, signal === undefined ? {} : { signal }),
  };
}

function lowerPriority(): void {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // A sandbox forbids it: the command then competes with others on equal terms.
  }
}

/** One line that may get lost with its reader: of a log, or beside the result. What a command is for goes by `print`. */
export function writeLine(output: Output, line: string): void {
  output.write(`${line}\n`);
}

/** What a command is for, a line or several; a reader that has left (`| head -1`) wants no more. @throws Error when it can't be written. */
export async function print(output: Output, text: string): Promise<void> {
  await isTaken(output, text);
}

/** The same for output without an end: false once its reader has left. */
export async function isTaken(output: Output, text: string): Promise<boolean> {
  try {
    await written(output, `${text}\n`);
    return true;
  } catch (cause) {
    if (codeOf(cause) === 'EPIPE') return false;
    throw notWritten(cause);
  }
}

/** A secret that is shown only now. @throws Error when it can't be written, also for want of a reader: `lost` says what to do about that. */
export async function handOver(output: Output, text: string, lost: string): Promise<void> {
  try {
    await written(output, `${text}\n`);
  } catch (cause) {
    throw notWritten(cause, lost);
  }
}

async function written(output: Output, text: string): Promise<void> {
  if (output.fd !== undefined && fstatSync(output.fd).isFile()) {
    // Node's stream for a file takes a write for whole that a full disk cut short.
    writeFileSync(output.fd, text);
    fsyncSync(output.fd); // some file systems notice only then that there is no room
    return;
  }
  await new Promise<void>((resolve, reject) => {
    output.on('error', reject); // an error without a listener ends the process
    output.write(text, (error) => {
      if (error) return reject(error);
      output.off('error', reject);
      resolve();
    });
  });
}

function notWritten(cause: unknown, lost?: string): Error {
  const text = `standard output can't be written: ${messageOf(cause)}`;
  return new Error(lost === undefined ? text : `${text}. ${lost}`, { cause });
}

/** A terminal that a screen can be drawn on. A pty without a size shows nothing of what log-update draws. */
export function canDraw(output: Output, env: NodeJS.ProcessEnv): boolean {
  return output.isTTY === true && (output.rows ?? 0) > 0 && (output.columns ?? 0) > 0 && env['TERM'] !== 'dumb';
}

/** Colours: wanted on a terminal, unless NO_COLOR (any value but the empty one) or TERM=dumb say otherwise. */
export function hasColor(output: Output, env: NodeJS.ProcessEnv): boolean {
  return output.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}
