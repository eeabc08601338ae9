/**
 * Runs a Culvert program as a user would: starts it as a child process, reads what it prints, ends it with SIGTERM. Used by
 * quickstart.ts and by the test of the built executable; knows commands and their output, and nothing inside src/.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { SocketHolder } from './socket-holder.ts';

export interface Launch {
  /** Program and its first arguments: `['node', 'src/main.ts']` or `['dist/culvert']`. */
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Its listening sockets are passed as systemd does. */
  readonly holder?: SocketHolder | undefined;
}

/** How long a program may take to print what it is waited for: a start from source takes 5 s of the processor, of which a busy machine has little. */
const PRINT_DEADLINE_MS = 120_000;
/** Lines kept for an error message; older ones are dropped. */
const KEPT_LINES = 60;

export class Program {
  readonly #child: ChildProcess;
  readonly #name: string;
  readonly #lines: string[] = [];
  readonly #watchers = new Set<(text: string) => void>();
  /** Each stream's last two lines, for what stands on the line after something. */
  readonly #pairs: string[] = [];
  readonly #ended: Promise<number | null>;

  constructor({ command, args, cwd, env, holder }: Launch) {
    const held = holder?.launch(command);
    const [file = '', ...first] = held?.command ?? command;
    this.#name = `culvert ${args[0] ?? ''}`;
    this.#child = spawn(file, [...first, ...args], {
      cwd,
      env: held === undefined ? env : { ...(env ?? process.env), ...held.env },
      stdio: ['ignore', 'pipe', 'pipe', ...(held?.fds ?? [])],
    });
    this.#ended = once(this.#child, 'close').then(([code]: (number | null)[]) => code ?? null);
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream === null) continue;
      let previous = '';
      createInterface({ input: stream }).on('line', (line) => {
        this.#take(previous, line);
        previous = line;
      });
    }
  }

  #take(previous: string, line: string): void {
    const pair = `${previous}\n${line}`;
    this.#lines.push(line);
    this.#pairs.push(pair);
    if (this.#lines.length > KEPT_LINES) this.#lines.shift();
    if (this.#pairs.length > KEPT_LINES) this.#pairs.shift();
    for (const watch of this.#watchers) watch(pair);
  }

  /** For looking at it from outside. 0 when it could not be started. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** What it printed last, both streams together. */
  get output(): string {
    return this.#lines.join('\n');
  }

  /**
   * The first group of `pattern` where it first matches, printed already or yet to come. It is tried on each line together with the one
   * before it on the same stream: use the `m` flag. Rejects when the program ends before.
   */
  async printed(pattern: RegExp): Promise<string> {
    const deadline = AbortSignal.timeout(PRINT_DEADLINE_MS);
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const look = (text: string): void => {
      const match = pattern.exec(text);
      if (match !== null) resolve(match[1] ?? match[0]);
    };
    const fail = (what: string): void => reject(new Error(`${this.#name} ${what}; it printed:\n${this.output}`));
    deadline.addEventListener('abort', () => fail(`did not print ${pattern} in ${PRINT_DEADLINE_MS / 1000} s`));
    this.#watchers.add(look);
    for (const pair of this.#pairs) look(pair);
    try {
      return await Promise.race([promise, this.#endedEarly(pattern)]);
    } finally {
      this.#watchers.delete(look);
    }
  }

  async #endedEarly(pattern: RegExp): Promise<never> {
    const code = await this.#ended;
    throw new Error(`${this.#name} ended with code ${code} before it printed ${pattern}; it printed:\n${this.output}`);
  }

  /** Resolves with the exit code once it has ended, by itself or by a signal. */
  ended(): Promise<number | null> {
    return this.#ended;
  }

  /** SIGTERM, as a service manager would; the exit code. May be called twice. */
  async stop(): Promise<number | null> {
    this.#child.kill('SIGTERM');
    return this.#ended;
  }

  /** The signal that cannot be caught. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
