/** Keeps one program running as a service manager does: when it ends, it is started again after a while. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Ends } from '../../test/harness/ends.ts';
import type { Program } from '../quickstart/program.ts';

export class Supervisor {
  readonly #start: () => Program;
  #program: Program;
  #over = false;

  constructor(t: Ends, start: () => Program) {
    this.#start = start;
    this.#program = start();
    t.after(async () => {
      this.#over = true;
      await this.#kill();
    });
  }

  get program(): Program {
    return this.#program;
  }

  /** kill -9, and a start after `restartMs`. Resolves with the moment of that start. */
  async killAndRestart(restartMs: number): Promise<number> {
    await this.#kill();
    await pause(restartMs);
    if (this.#over) throw new Error('the run is ending');
    const at = Date.now();
    this.#program = this.#start();
    return at;
  }

  async #kill(): Promise<void> {
    this.#program.kill();
    await this.#program.ended();
  }
}
