/**
 * The processes that run test files: a few long-lived ones at a time, and one of its own for each file that asks for it. One that dies, or is
 * silent for too long, fails its file, and another goes on. Used by scripts/test.ts.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { type Group, type Limits, limitsOf, ROOT, type TestFile } from './files.ts';
import type { LaneEvent, LaneOrder, ResultEvent } from './lane-events.ts';
import type { Cost, Queue } from './queue.ts';

/** What a process prints is shown when a file of it fails, its end at most. */
const MAX_OUTPUT = 65_536;

export interface PoolOptions {
  readonly bundle: string;
  /** Files that run at a time. */
  readonly lanes: number;
  readonly env: NodeJS.ProcessEnv;
  /** A regular expression for names of tests (`--test-name-pattern`). */
  readonly name: string | undefined;
  /** Those of files.ts unless given. */
  readonly limitsOf?: (group: Group) => Limits;
}

/** Told as it happens. */
export interface Watcher {
  result(path: string, event: ResultEvent): void;
  /** `output`: what the process has printed meanwhile. */
  finished(path: string, cost: Cost, output: string): void;
  /** The file has no result: its process ended, or was ended. */
  broke(path: string, why: string, output: string): void;
  /** A fault outside of any test. */
  fault(text: string): void;
}

/** Runs all files of the queue; resolves when the last process is gone. */
export async function runFiles(queue: Queue, options: PoolOptions, watcher: Watcher): Promise<void> {
  const lanes = Array.from({ length: options.lanes }, async (_, index) => {
    const take = () => queue.take(index % 2 === 0 ? 'computing' : 'waiting');
    let file = take();
    while (file !== undefined) file = await new Lane(options, watcher, take).run(file);
  });
  await Promise.all(lanes);
}

/** A file that a process has taken and not yet reported. */
interface Running {
  readonly startedAt: number;
  reported: boolean;
  cpuMs: number | undefined;
}

class Lane {
  readonly #options: PoolOptions;
  readonly #watcher: Watcher;
  readonly #take: () => TestFile | undefined;
  readonly #running = new Map<string, Running>();
  #output = '';
  #failed = false;
  #silence: NodeJS.Timeout | undefined;
  #killedFor: string | undefined;
  readonly #limitsOf: (group: Group) => Limits;
  #silenceMs = 0;

  constructor(options: PoolOptions, watcher: Watcher, take: () => TestFile | undefined) {
    this.#options = options;
    this.#watcher = watcher;
    this.#take = take;
    this.#limitsOf = options.limitsOf ?? limitsOf;
  }

  /** Runs this file and those after it; resolves with one that needs another process, or undefined when there is none left. */
  run(first: TestFile): Promise<TestFile | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<TestFile | undefined>();
    this.#silenceMs = this.#limitsOf(first.group).silence;
    const child = this.#start(first.place === 'source');
    let upcoming: TestFile | undefined = first;
    child.on('message', (event: LaneEvent) => {
      if (event.kind !== 'next') {
        this.#watchSilence(child);
        return this.#told(event);
      }
      if (upcoming === undefined && first.place === 'shared') upcoming = this.#take();
      const file = upcoming;
      const isHere = file !== undefined && (file === first || file.place === 'shared');
      const order: LaneOrder = isHere ? this.#order(file) : {};
      if (isHere) upcoming = undefined;
      this.#watchSilence(child);
      child.send(order);
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(this.#silence);
      this.#ended(
        this.#killedFor ?? (signal === null ? `its process ended with ${code}` : `its process got ${signal}`),
        code,
      );
      resolve(upcoming ?? this.#take());
    });
    return promise;
  }

  #order({ path, group }: TestFile): LaneOrder {
    const limits = this.#limitsOf(group);
    this.#silenceMs = limits.silence;
    this.#running.set(path, { startedAt: performance.now(), reported: false, cpuMs: undefined });
    return { file: { path, limitMs: limits.file } };
  }

  #start(fromSource: boolean): ChildProcess {
    const { bundle, env, name } = this.#options;
    const reporter = join(import.meta.dirname, 'lane-reporter.ts');
    const child = fork(join(import.meta.dirname, 'lane.ts'), fromSource ? [] : [bundle], {
      cwd: ROOT,
      env,
      execArgv: ['--test-reporter', reporter, ...(name === undefined ? [] : ['--test-name-pattern', name])],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const keep = (chunk: Buffer): void => {
      this.#output = (this.#output + chunk.toString()).slice(-MAX_OUTPUT);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    this.#watchSilence(child);
    return child;
  }

  #told(event: Exclude<LaneEvent, { kind: 'next' }>): void {
    if (event.kind === 'diagnostic') return this.#watcher.fault(event.text);
    if (event.kind === 'alive') return;
    if (event.kind === 'left') {
      const running = this.#running.get(event.path);
      if (running !== undefined) running.cpuMs = event.cpuMs;
      return this.#settle(event.path);
    }
    const [path = ''] = event.names;
    const running = this.#running.get(path);
    if (running === undefined) return; // the suite that a lane begins with
    this.#failed ||= !event.ok;
    running.reported = event.depth === 0;
    this.#watcher.result(path, event);
    this.#settle(path);
  }

  /** Over once it is both reported and left: one may come before the other. */
  #settle(path: string): void {
    const running = this.#running.get(path);
    if (running?.cpuMs === undefined || !running.reported) return;
    this.#running.delete(path);
    const wall = performance.now() - running.startedAt;
    this.#watcher.finished(path, { wall, cpu: running.cpuMs }, this.#output);
    this.#output = '';
  }

  #ended(why: string, code: number | null): void {
    if (this.#running.size === 0 && code !== 0 && !this.#failed) {
      this.#watcher.fault(`${why}, though no test of it failed\n${this.#output}`);
    }
    for (const [path, { startedAt, cpuMs }] of this.#running) {
      // Node says nothing of a suite without a test whose name fits.
      if (code === 0 && cpuMs !== undefined && this.#options.name !== undefined)
        this.#watcher.finished(path, { wall: performance.now() - startedAt, cpu: cpuMs }, '');
      else this.#watcher.broke(path, why, this.#output);
    }
  }

  #watchSilence(child: ChildProcess): void {
    clearTimeout(this.#silence);
    const limitMs = this.#silenceMs;
    this.#silence = setTimeout(() => {
      this.#killedFor = `nothing happened for ${limitMs / 1000} s`;
      child.kill('SIGKILL');
    }, limitMs);
  }
}
