/**
 * Runs each registered job once at the end of the present turn of the event loop: what many small writes are gathered by.
 * One setImmediate for all jobs of a turn. A job registers again for each turn; registering twice is the caller's to avoid.
 */
export interface TurnJob {
  atTurnEnd(): void;
}

export class TurnEnd {
  #jobs: TurnJob[] = [];
  #spare: TurnJob[] = [];
  readonly #run = (): void => {
    const jobs = this.#jobs;
    this.#jobs = this.#spare;
    this.#spare = jobs;
    let failure: unknown;
    let failed = false;
    for (let i = 0; i < jobs.length; i++) {
      try {
        (jobs[i] as TurnJob).atTurnEnd();
      } catch (error) {
        // The others still run, and so does the next turn.
        failure = error;
        failed = true;
      }
    }
    jobs.length = 0;
    if (failed) throw failure;
  };

  add(job: TurnJob): void {
    if (this.#jobs.push(job) === 1) setImmediate(this.#run);
  }
}
