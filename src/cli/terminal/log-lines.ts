/**
 * Where log lines go: never the reason why a process ends. A line that can't be written (its reader has left, its disk is full) is lost and counted,
 * and the count is logged with the first line that can be written again.
 */
import { fstatSync, writeSync } from 'node:fs';
import { codeOf, messageOf } from '../../base/errors.ts';
import type { Output } from './io.ts';

/** Of one log, for metrics and health checks. */
export interface LogCounts {
  /** Lines since the start that could not be written. */
  lost: number;
  /** The last line was one of them. */
  isLosing: boolean;
}

export function newLogCounts(): LogCounts {
  return { lost: 0, isLosing: false };
}

export class LogLines {
  readonly #output: Output;
  /** A file: written to by its number, for Node's stream is over after the first error and would say nothing when there is room again. */
  readonly #file: number | undefined;
  readonly #onFound: (lost: number, cause: string) => void;
  readonly #counts: LogCounts;
  #lost = 0;
  #cause = '';

  /** `onFound`: lines can be written again, and so many were lost before, for this reason. */
  constructor(output: Output, onFound: (lost: number, cause: string) => void, counts = newLogCounts()) {
    this.#counts = counts;
    this.#output = output;
    this.#file = fileOf(output);
    this.#onFound = onFound;
    // An error without a listener ends the process. The callback of the lost line receives the error.
    output.on('error', () => undefined);
  }

  write(text: string): void {
    if (this.#file !== undefined) return this.#done(this.#toFile(this.#file, text));
    this.#output.write(text, (error) => this.#done(error ?? null));
  }

  /** A write that was cut short has lost its line too. */
  #toFile(file: number, text: string): Error | null {
    const bytes = Buffer.from(text);
    try {
      return writeSync(file, bytes) < bytes.length ? new Error('it was truncated') : null;
    } catch (error) {
      return error instanceof Error ? error : new Error(messageOf(error));
    }
  }

  #done(error: Error | null): void {
    if (error !== null) {
      this.#lost++;
      this.#counts.lost++;
      this.#counts.isLosing = true;
      this.#cause = codeOf(error) ?? error.message;
      return;
    }
    this.#counts.isLosing = false;
    if (this.#lost === 0) return;
    const lost = this.#lost;
    this.#lost = 0;
    this.#onFound(lost, this.#cause);
  }
}

function fileOf({ fd, isTTY }: Output): number | undefined {
  return fd !== undefined && isTTY !== true && isFileLike(fd) ? fd : undefined;
}

/** A device that is no terminal is one too: /dev/full, /dev/null. */
function isFileLike(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isFile() || stat.isCharacterDevice();
  } catch {
    return false; // closed: the stream says so
  }
}
