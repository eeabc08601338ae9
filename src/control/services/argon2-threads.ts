/**
 * The threads that compute argon2id, started when there is work and ended when there has been none for a while. Used by passwords.ts.
 * Threads of their own, for Node's pool also serves DNS and files, and its priority can't be lowered without theirs.
 */
import { availableParallelism, cpus } from 'node:os';
import type { Worker } from 'node:worker_threads';
import { startWorker } from '../../base/assets.ts';
import { AppError } from '../../base/errors.ts';
import { busyShare, machineTime, type Pace, paceFor } from './argon2-pace.ts';
import type { Argon2Answer, Argon2Job } from './argon2-worker.ts';

/** About half a second of waiting; beyond it a log-in is refused rather than queued. */
const MAX_WAITING = 50;
/** A thread holds about 5 MB. */
const IDLE_MS = 60_000;
/** A shorter look at the processors would be made of single ticks of 10 ms. */
const LOOK_MS = 100;

interface Task {
  readonly job: Argon2Job;
  readonly resolve: (value: string | boolean) => void;
  readonly reject: (error: Error) => void;
}

interface Thread {
  readonly worker: Worker;
  task: Task | undefined;
  startedAt: number;
  idle: NodeJS.Timeout | undefined;
}

export class Argon2Threads {
  readonly #threads = new Set<Thread>();
  readonly #waiting: Task[] = [];
  #closed = false;
  #pace: Pace = paceFor(0, availableParallelism());
  #lookedAt = performance.now();
  #machine = machineTime(cpus());
  /** Set while the threads rest. */
  #resting: NodeJS.Timeout | undefined;

  /** Runs the job when its turn comes. Throws `unavailable` when too many wait, and Error when the stored hash is none. */
  run(job: Argon2Job): Promise<string | boolean> {
    if (this.#closed) return Promise.reject(new AppError('unavailable', 'The server is stopping.'));
    if (this.#waiting.length >= MAX_WAITING) {
      const busy = new AppError('unavailable', 'Too many log-ins at once. Try again in a few seconds.', {
        retryAfterSeconds: 5,
      });
      return Promise.reject(busy);
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject });
      this.#dispatch();
    });
  }

  /** Ends the threads; what waits or runs is refused. May be called twice. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#resting);
    for (const task of this.#waiting.splice(0)) task.reject(new AppError('unavailable', 'The server is stopping.'));
    for (const thread of this.#threads) this.#end(thread);
  }

  #dispatch(): void {
    if (this.#waiting.length === 0 || this.#resting !== undefined) return;
    const thread = this.#free();
    if (thread === undefined) return;
    const task = this.#waiting.shift();
    if (task === undefined) return;
    clearTimeout(thread.idle);
    thread.task = task;
    thread.startedAt = performance.now();
    // Holds the process open for as long as somebody waits for the answer, and no longer.
    thread.worker.ref();
    thread.worker.postMessage(task.job);
  }

  #free(): Thread | undefined {
    const running = [...this.#threads].filter((thread) => thread.task !== undefined).length;
    if (running >= this.#pace.threads) return undefined;
    for (const thread of this.#threads) if (thread.task === undefined) return thread;
    return this.#start();
  }

  #start(): Thread {
    const worker = startWorker('argon2-worker', new URL('./argon2-worker.ts', import.meta.url));
    const thread: Thread = { worker, task: undefined, startedAt: 0, idle: undefined };
    this.#threads.add(thread);
    worker.on('message', (answer: Argon2Answer) => this.#answered(thread, answer));
    worker.on('error', (error) => this.#end(thread, error));
    worker.on('exit', () => this.#end(thread));
    return thread;
  }

  #answered(thread: Thread, answer: Argon2Answer): void {
    const { task } = thread;
    thread.task = undefined;
    thread.worker.unref();
    thread.idle = setTimeout(() => this.#end(thread), IDLE_MS).unref();
    this.#restAfter(performance.now() - thread.startedAt);
    if (answer.ok) task?.resolve(answer.value);
    else task?.reject(new Error(`argon2: ${answer.message}`));
    this.#dispatch();
  }

  /** Looks how busy the machine is with all else, and rests accordingly. */
  #restAfter(ranMs: number): void {
    const now = performance.now();
    if (now - this.#lookedAt >= LOOK_MS) {
      const machine = machineTime(cpus());
      this.#pace = paceFor(busyShare(this.#machine, machine), availableParallelism());
      this.#machine = machine;
      this.#lookedAt = now;
    }
    const restMs = this.#pace.rest(ranMs);
    if (restMs < 1 || this.#resting !== undefined) return;
    this.#resting = setTimeout(() => {
      this.#resting = undefined;
      this.#dispatch();
    }, restMs);
  }

  #end(thread: Thread, cause?: unknown): void {
    if (!this.#threads.delete(thread)) return;
    clearTimeout(thread.idle);
    thread.task?.reject(new Error('a password thread ended', { cause }));
    void thread.worker.terminate();
    if (!this.#closed) this.#dispatch();
  }
}
