/**
 * Owns every process and file of one benchmark run: starts them, waits until they serve, and ends them all, also when
 * the run is interrupted. Nothing outside this file spawns a server or makes a folder.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer, connect as dial } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { SocketHolder } from '../quickstart/socket-holder.ts';
import { processTree, readStat } from './proc.ts';

/** How long a process has to end by itself before it is killed. */
const END_MS = 3_000;
const START_MS = 15_000;
const POLL_MS = 25;

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Network namespace to run in. */
  readonly netns?: string | undefined;
  /** Its listening sockets are passed as systemd does. */
  readonly holder?: SocketHolder | undefined;
}

export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

export class Processes {
  /** Temporary folder of this run; removed at the end. */
  readonly folder: string;
  readonly #running = new Map<string, ChildProcess>();
  readonly #clients = new Set<ChildProcess>();
  readonly #atEnd: (() => void)[] = [];
  #closing = false;

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'culvert-bench-'));
    process.once('exit', this.#onExit);
  }

  /** Starts a long-lived process under a name by which it is measured and stopped. Its output goes to `<name>.log`. */
  start(name: string, command: readonly string[], options: StartOptions = {}): void {
    this.#refuseWhenClosing();
    if (this.#running.has(name)) throw new Error(`a process named ${name} is running already`);
    const log = openSync(this.logOf(name), 'w', 0o600);
    const held = options.holder?.launch(command);
    const [file, ...args] = inNamespace(held?.command ?? command, options.netns);
    const child = spawn(file as string, args, {
      cwd: this.folder,
      env: { ...process.env, ...options.env, ...held?.env },
      stdio: ['ignore', log, log, ...(held?.fds ?? [])],
    });
    closeSync(log);
    child.once('error', (error) => process.stderr.write(`bench: ${name}: ${error.message}\n`));
    child.once('exit', () => this.#running.delete(name));
    this.#running.set(name, child);
  }

  /** Runs a command to its end and gives what it printed. Kills it after `timeoutMs`. */
  run(command: readonly string[], options: StartOptions & { readonly timeoutMs?: number } = {}): Promise<Outcome> {
    const [file, ...args] = inNamespace(command, options.netns);
    return new Promise((resolve, reject) => {
      this.#refuseWhenClosing();
      const child = spawn(file as string, args, {
        cwd: this.folder,
        env: { ...process.env, ...options.env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      this.#clients.add(child);
      const out: Buffer[] = [];
      const err: Buffer[] = [];
      child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
      child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
      const timer = setTimeout(() => child.kill('SIGKILL'), options.timeoutMs ?? 120_000);
      child.once('error', reject);
      child.once('close', (code) => {
        clearTimeout(timer);
        this.#clients.delete(child);
        resolve({ stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString(), code });
      });
    });
  }

  /** The process id behind a name. */
  pid(name: string): number {
    const pid = this.#running.get(name)?.pid;
    if (pid === undefined) throw new Error(`${name} is not running; its last words: ${this.lastWords(name)}`);
    return pid;
  }

  /** What to say about a failure that the run survives. Throws the failure on when it is the end of the run itself. */
  survive(error: unknown): string {
    if (this.#closing) throw error;
    return error instanceof Error ? error.message : String(error);
  }

  isRunning(name: string): boolean {
    return this.#running.has(name);
  }

  /** An empty folder for one process's files, also when an earlier process of that name has left one. */
  makeFolder(name: string): string {
    const folder = join(this.folder, `${name}-files`);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { mode: 0o700 });
    return folder;
  }

  logOf(name: string): string {
    return join(this.folder, `${name}.log`);
  }

  readLog(name: string): string {
    try {
      return readFileSync(this.logOf(name), 'utf8');
    } catch {
      return '';
    }
  }

  lastWords(name: string): string {
    return this.readLog(name).trim().split('\n').slice(-5).join(' | ') || '(none)';
  }

  /** Waits until the process prints something that matches. Throws when it ends before. */
  async waitForOutput(
    name: string,
    pattern: RegExp,
    timeoutMs: number = START_MS,
    pollMs: number = POLL_MS,
  ): Promise<RegExpExecArray> {
    const look = (): RegExpExecArray | undefined => pattern.exec(this.readLog(name)) ?? undefined;
    return this.#waitFor(name, { timeoutMs, pollMs, what: `print ${pattern}` }, look);
  }

  /** Waits until a process accepts connections on the loopback port. */
  async waitForPort(name: string, port: number): Promise<void> {
    const wait = { timeoutMs: START_MS, pollMs: POLL_MS, what: `listen on port ${port}` };
    await this.#waitFor(name, wait, async () => (await accepts(port)) || undefined);
  }

  /** Ends the process and what it has started. It gets `patienceMs` to end by itself. */
  async stop(name: string, patienceMs: number = END_MS): Promise<void> {
    const child = this.#running.get(name);
    if (child?.pid === undefined) return;
    // A tree's children may outlive their parent (sshd's sessions do): remember them, with their start time, because a
    // number could belong to another process meanwhile.
    const tree = processTree(child.pid).map((pid) => ({ pid, startTicks: readStat(pid)?.startTicks }));
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs);
    await ended;
    clearTimeout(timer);
    for (const { pid, startTicks } of tree) {
      if (startTicks !== undefined && readStat(pid)?.startTicks === startTicks) kill(pid);
    }
  }

  /** Ends all that run now, the last started first. */
  async stopAll(): Promise<void> {
    for (const name of [...this.#running.keys()].reverse()) await this.stop(name);
  }

  /** Runs at the very end, last given first, also after an interrupt. Must be synchronous. */
  atEnd(action: () => void): void {
    this.#atEnd.unshift(action);
  }

  /** Ends everything and removes the folder. May be called twice. Nothing is started from then on. */
  async close(): Promise<void> {
    this.#closing = true;
    for (const client of this.#clients) client.kill('SIGKILL');
    await this.stopAll();
    process.off('exit', this.#onExit);
    this.#cleanUp();
  }

  // The last resort when the run ends by an exception: no time for SIGTERM here.
  readonly #onExit = (): void => {
    const roots = [...this.#running.values(), ...this.#clients];
    for (const pid of roots.flatMap((child) => (child.pid === undefined ? [] : processTree(child.pid)))) kill(pid);
    this.#cleanUp();
  };

  #refuseWhenClosing(): void {
    if (this.#closing) throw new Error('the run is ending');
  }

  #cleanUp(): void {
    for (const action of this.#atEnd.splice(0)) action();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #waitFor<T>(
    name: string,
    { timeoutMs, pollMs, what }: { readonly timeoutMs: number; readonly pollMs: number; readonly what: string },
    probe: () => T | undefined | Promise<T | undefined>,
  ): Promise<T> {
    const until = Date.now() + timeoutMs;
    for (;;) {
      const found = await probe();
      if (found !== undefined) return found;
      if (!this.isRunning(name)) throw new Error(`${name} ended before it did ${what}: ${this.lastWords(name)}`);
      if (Date.now() > until) throw new Error(`${name} did not ${what} in ${timeoutMs} ms: ${this.lastWords(name)}`);
      await pause(pollMs);
    }
  }
}

/** A free loopback port. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}

function inNamespace(command: readonly string[], netns: string | undefined): readonly string[] {
  return netns === undefined ? command : ['ip', 'netns', 'exec', netns, ...command];
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = dial(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // ended meanwhile
  }
}
