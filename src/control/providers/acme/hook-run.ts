/**
 * Runs a program of the operator to its end: no shell, no environment but what it is given, an end in time, a bounded record of what it
 * printed. That may hold secrets of the operator, so it goes into the cause of an error, for the log, and never into its message.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { codeOf, messageOf } from '../../../base/errors.ts';
import { oneLine } from './problem.ts';

export interface HookRun {
  readonly program: string;
  readonly args: readonly string[];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly limitMs: number;
  /** Ends the program early. */
  readonly signal: AbortSignal;
}

interface Ending {
  readonly code: number | null;
  readonly by: string | null;
}

/** The end of it: programs say last why they fail. */
const MAX_OUTPUT_CHARS = 2_000;
/** From asking it to end until it is ended, and from there until it is given up. */
const GRACE_MS = 2_000;

/** Resolves when the program has exited with status 0. Throws when it can't be run, fails, takes too long or is stopped. */
export async function runHook({ program, args, env, limitMs, signal }: HookRun): Promise<void> {
  signal.throwIfAborted();
  // A group of its own: ending it ends what it has started too.
  const child = spawn(program, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = Promise.withResolvers<Ending>();
  // Not `close`: something left in the background may hold the outputs open for ever.
  child.on('exit', (code, by) => ended.resolve({ code, by }));
  // The one that matters is awaited below.
  child.on('error', () => undefined);
  let why: string | undefined;
  const timers: NodeJS.Timeout[] = [];
  const stop = (reason: string): void => {
    if (why !== undefined) return;
    why = reason;
    killGroup(child.pid, 'SIGTERM');
    timers.push(
      setTimeout(() => killGroup(child.pid, 'SIGKILL'), GRACE_MS),
      setTimeout(() => ended.resolve({ code: null, by: null }), 2 * GRACE_MS),
    );
  };
  const onAbort = (): void => stop('was stopped');
  signal.addEventListener('abort', onAbort, { once: true });
  timers.push(setTimeout(() => stop(`did not finish within ${limitMs / 1000} s`), limitMs));
  try {
    // Rejects with the error that kept it from starting.
    await once(child, 'spawn');
    const output = collect(outputsOf(child));
    const { code, by } = await ended.promise;
    if (why === undefined && code === 0) return;
    // What it wrote last may still be in the pipes.
    await new Promise((resolve) => setTimeout(resolve, 50));
    const said = output();
    throw new Error(why ?? (code === null ? `was killed by ${by}` : `exited with status ${code}`), {
      cause: new Error(said === '' ? 'it printed nothing' : `it printed: ${said}`),
    });
  } catch (error) {
    if (child.pid !== undefined) throw error;
    throw new Error(reasonOf(error), { cause: error });
  } finally {
    for (const timer of timers) clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    if (why !== undefined) killGroup(child.pid, 'SIGKILL');
    for (const output of outputsOf(child)) output.destroy();
    child.unref();
  }
}

/** None when file descriptors had run out. */
function outputsOf(child: ChildProcess): readonly Readable[] {
  return [child.stdout, child.stderr].filter((output) => output instanceof Readable);
}

/** Both outputs as they come. Everything is read, so that no full pipe stops the program; the end is kept. */
function collect(outputs: readonly Readable[]): () => string {
  let text = '';
  for (const output of outputs) {
    output.on('data', (chunk: Buffer) => (text = (text + chunk.toString('utf8')).slice(-MAX_OUTPUT_CHARS)));
    // Destroyed before its end.
    output.on('error', () => undefined);
  }
  return () => oneLine(text, MAX_OUTPUT_CHARS);
}

function killGroup(pid: number | undefined, by: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, by);
  } catch {
    // It has ended by itself, or it runs as root by sudo and can't be ended: then it is not awaited.
  }
}

function reasonOf(error: unknown): string {
  switch (codeOf(error)) {
    case 'ENOENT':
      return "can't be run: the file, or the interpreter in its first line, does not exist";
    case 'EACCES':
      return "can't be run: permission denied; make it executable for this user";
    default:
      return `can't be run: ${oneLine(messageOf(error))}`;
  }
}
