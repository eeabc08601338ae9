/** A log that a test reads: what was logged, and a wait for what will be. */
import type { Logger } from '../../../base/log.ts';

export interface Line {
  readonly level: string;
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

export class Lines {
  readonly all: Line[] = [];
  readonly #waiting: Array<{ wanted: RegExp; resolve: (line: Line) => void }> = [];

  readonly log: Logger = {
    error: (fields, message) => this.#add('error', fields, message),
    warn: (fields, message) => this.#add('warn', fields, message),
    info: (fields, message) => this.#add('info', fields, message),
    debug: (fields, message) => this.#add('debug', fields, message),
    child: () => this.log,
  };

  #add(level: string, fields: object, message: string): void {
    const line = { level, fields: { ...fields }, message };
    this.all.push(line);
    const at = this.#waiting.findIndex(({ wanted }) => wanted.test(message));
    if (at >= 0) this.#waiting.splice(at, 1)[0]?.resolve(line);
  }

  /** The next line from now on whose message is like this. */
  next(wanted: RegExp): Promise<Line> {
    return new Promise((resolve) => this.#waiting.push({ wanted, resolve }));
  }
}
