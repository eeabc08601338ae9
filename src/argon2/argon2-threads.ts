/**
 * The threads that compute argon2id, started when there is work and ended when there has been none for a while. Used by the control
 * plane for log-ins and by the data plane for the passwords of visitors, each with threads of its own.
 * Not those of Node, whose pool also serves DNS and files: its priority can not be lowered without theirs.
 */
import { availableParallelism, cpus } from 'node:os';
import type { Worker } from 'node:worker_threads';
import { startWorker } from '../base/process/assets.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { Allowance } from '../base/limits/allowance.ts';
import { busyShare, machineTime, type Pace, paceFor } from './argon2-pace.ts';
import type { Argon2Answer, Argon2Job } from './argon2-worker.ts';

/** Tasks of a thread of low priority, the one under way included. */
const AHEAD = 2;
/**
 * So many get a processor like any visitor. Beside two programs that compute, a hash of 16 ms takes 33 ms so and 1.3 s at the lowest priority,
 * beside twelve 0.2 and 22 s: too long to log in to a machine that is too busy. At 16 ms each these take 3 % of a core.
 */
const PROMPT = { perSecond: 2, burst: 10 };
/** About half a second of waiting; beyond it a log-in is refused rather than queued. */
const MAX_WAITING = 50;
/** A thread holds about 5 MB. */
const IDLE_MS = 60_000;
/** Processors count in ticks of 10 ms: a shorter look would see rests where there need be none. */
const LOOK_MS = 300;

interface Task {
  readonly job: Argon2Job;
  readonly resolve: (value: string | boolean) => void;
  readonly reject: (error: Error) => void;
}

interface Thread {
  /** Of normal priority. There is one. */
  readonly isPrompt: boolean;
  readonly worker: Worker;
  /** The first is being computed; answers come in this order. */
  readonly tasks: Task[];
  idle: NodeJS.Timeout | undefined;
}

function startArgon2Worker(isPrompt: boolean): Worker {
  return startWorker('argon2-worker', new URL('./argon2-worker.ts', import.meta.url), { isPrompt });
}

/** What computes argon2id: these threads, or what a test puts in their place. */
export interface PasswordHasher {
  /** Jobs whose turn has not come. */
  readonly waiting: number;
  /** The hash, or whether the password fits. Throws `unavailable` when too many wait, and Error when the stored hash is none. */
  run(job: Argon2Job): Promise<string | boolean>;
  /** What waits or runs is refused. May be called twice. */
  close(): void;
}

export class Argon2Threads implements PasswordHasher {
  readonly #threads = new Set<Thread>();
  readonly #waiting: Task[] = [];
  #closed = false;
  readonly #prompt: Allowance;
  readonly #clock: Clock;
  readonly #startWorker: typeof startArgon2Worker;
  /** Set while tasks wait for the next that may be prompt. */
  #nextPrompt: NodeJS.Timeout | undefined;
  #pace: Pace = paceFor(0, availableParallelism());
  #lookedAt: number;
  #machine = machineTime(cpus());
  /** Set while the threads of low priority rest. */
  #resting: NodeJS.Timeout | undefined;

  /** For tests: another clock, and other threads. */
  constructor({ clock = systemClock, startWorker = startArgon2Worker } = {}) {
    this.#clock = clock;
    this.#startWorker = startWorker;
    this.#lookedAt = clock.monotonic();
    this.#prompt = new Allowance(PROMPT, clock.monotonic());
  }

  /** Tasks that no thread has yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

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
    clearTimeout(this.#nextPrompt);
    for (const task of this.#waiting.splice(0)) task.reject(new AppError('unavailable', 'The server is stopping.'));
    for (const thread of this.#threads) this.#end(thread);
  }

  #dispatch(): void {
    while (this.#waiting.length > 0) {
      const thread = this.#freePrompt() ?? this.#freeLow();
      if (thread === undefined) return;
      const task = this.#waiting.shift();
      if (task === undefined) return;
      clearTimeout(thread.idle);
      thread.tasks.push(task);
      // Holds the process open while a caller waits for the hash, and no longer.
      thread.worker.ref();
      thread.worker.postMessage(task.job);
    }
  }

  /** The thread of normal priority, when it has nothing to do and may have the next task. */
  #freePrompt(): Thread | undefined {
    const prompt = [...this.#threads].find(({ isPrompt }) => isPrompt);
    if (prompt !== undefined && prompt.tasks.length > 0) return undefined;
    if (!this.#prompt.hasOne(this.#clock.monotonic())) {
      this.#nextPrompt ??= setTimeout(() => {
        this.#nextPrompt = undefined;
        this.#dispatch();
      }, this.#prompt.waitMs).unref(); // a thread of low priority is at work or rests, and holds the process open
      return undefined;
    }
    this.#prompt.spend();
    return prompt ?? this.#start(true);
  }

  /** The thread of low priority that has least to do; a new one before any gets a second task. */
  #freeLow(): Thread | undefined {
    if (this.#resting !== undefined) return undefined;
    const low = [...this.#threads].filter(({ isPrompt }) => !isPrompt);
    const busy = low.filter(({ tasks }) => tasks.length > 0);
    if (busy.length < this.#pace.threads) return low.find(({ tasks }) => tasks.length === 0) ?? this.#start(false);
    // Where there is no rest between two runs, the next task is there when the last one ends: the way over the main thread takes a tenth.
    const depth = this.#pace.rest(1) === 0 ? AHEAD : 1;
    return busy.find(({ tasks }) => tasks.length < depth);
  }

  #start(isPrompt: boolean): Thread {
    const worker = this.#startWorker(isPrompt);
    const thread: Thread = { isPrompt, worker, tasks: [], idle: undefined };
    this.#threads.add(thread);
    worker.on('message', (answer: Argon2Answer) => this.#answered(thread, answer));
    worker.on('error', (error) => this.#end(thread, error));
    worker.on('exit', () => this.#end(thread));
    return thread;
  }

  #answered(thread: Thread, answer: Argon2Answer): void {
    const task = thread.tasks.shift();
    if (thread.tasks.length === 0) {
      thread.worker.unref();
      thread.idle = setTimeout(() => this.#end(thread), IDLE_MS).unref();
    }
    if (answer.ok && !thread.isPrompt) this.#restAfter(answer.tookMs);
    if (answer.ok) task?.resolve(answer.value);
    else task?.reject(new Error(`argon2: ${answer.message}`));
    this.#dispatch();
  }

  /** Looks how busy the machine is with all else, and rests accordingly. */
  #restAfter(ranMs: number): void {
    const now = this.#clock.monotonic();
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
    for (const task of thread.tasks.splice(0)) task.reject(new Error('a password thread ended', { cause }));
    void thread.worker.terminate();
    if (!this.#closed) this.#dispatch();
  }
}
