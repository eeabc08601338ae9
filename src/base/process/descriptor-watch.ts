/**
 * Whether the process runs out of file descriptors. Nothing else tells: at the limit libuv accepts a connection and closes it at once, without a
 * word to Node. So a descriptor is asked for once a second, which costs microseconds. The system gives out the lowest free number, so all below it
 * are in use. Node raises the soft limit to the hard one before any of our code runs (test/faults/few-descriptors.test.ts holds it to that).
 */
import { closeSync, openSync, readFileSync } from 'node:fs';
import { codeOf } from '../errors.ts';
import type { Logger } from '../log.ts';

const LOOK_MS = 1_000;
/** How often a lack that lasts is logged. */
const SAY_MS = 60_000;
/** A share of the limit from which a warning is due, and one below which the next may come. */
const NEAR = 0.9;
const FAR = 0.75;
const NEXT = 'Raise LimitNOFILE of the unit, or `ulimit -n`';

export interface DescriptorFigures {
  /** Null where the system does not say. */
  readonly limit: number | null;
  /** In use at the last look; when none was free, the limit. */
  readonly used: number;
  /** Looks that found none free. */
  readonly lacks: number;
}

export interface DescriptorWatchOptions {
  readonly log: Logger;
  readonly monotonic: () => number;
  /** A lower limit is logged at the start. */
  readonly few?: number;
  /** Opens a descriptor and closes it again; returns its number. Another in tests. */
  readonly probe?: () => number;
  /** Of the process; null: unknown. */
  readonly limit?: number | null;
}

export class DescriptorWatch {
  readonly #options: Required<DescriptorWatchOptions>;
  #used = 0;
  #lacks = 0;
  #isLacking = false;
  #isNear = false;
  #saidAt = -Infinity;
  #saidLacks = 0;

  constructor(options: DescriptorWatchOptions) {
    this.#options = { few: 0, probe, limit: limitOfProcess(), ...options };
  }

  /** Looks now and once a second; returns the stop. */
  start(): () => void {
    const { limit, few, log } = this.#options;
    if (limit !== null && limit < few) log.warn({ limit }, `the limit of open files and sockets is low. ${NEXT}`);
    this.look();
    const timer = setInterval(() => this.look(), LOOK_MS);
    timer.unref();
    return () => clearInterval(timer);
  }

  look(): void {
    const { probe, log, limit } = this.#options;
    try {
      this.#used = probe();
    } catch (error) {
      const code = codeOf(error);
      // Code that opens a file reports its other errors.
      if (code === 'EMFILE' || code === 'ENFILE') this.#lack(code);
      return;
    }
    if (this.#isLacking) log.info({ used: this.#used, limit }, 'file descriptors are free again');
    this.#isLacking = false;
    this.#lookNear();
  }

  get figures(): DescriptorFigures {
    const { limit } = this.#options;
    return { limit, used: this.#isLacking ? (limit ?? this.#used) : this.#used, lacks: this.#lacks };
  }

  #lack(code: string): void {
    const { log, limit, monotonic } = this.#options;
    this.#lacks++;
    this.#isLacking = true;
    if (monotonic() - this.#saidAt < SAY_MS) return;
    const fields = { code, limit, seconds: this.#lacks - this.#saidLacks };
    this.#saidAt = monotonic();
    this.#saidLacks = this.#lacks;
    log.error(
      fields,
      `no file descriptors are free: new connections are closed immediately, and files can't be opened. ${NEXT}`,
    );
  }

  #lookNear(): void {
    const { log, limit } = this.#options;
    if (limit === null) return;
    const isNear = this.#used >= limit * (this.#isNear ? FAR : NEAR);
    if (isNear && !this.#isNear)
      log.warn({ used: this.#used, limit }, `nearly all file descriptors are in use. ${NEXT}`);
    this.#isNear = isNear;
  }
}

function probe(): number {
  const fd = openSync('/dev/null', 'r');
  closeSync(fd);
  return fd;
}

/** The soft limit on Linux. */
function limitOfProcess(): number | null {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? null : Number(soft);
  } catch {
    // No /proc: another system.
    return null;
  }
}
