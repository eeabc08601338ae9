/**
 * Timers as an argument, so that the agent's tests move time instead of waiting for it.
 */
export type Cancel = () => void;

export interface Schedule {
  /** Runs `run` once, `ms` from now, unless cancelled before. */
  after(ms: number, run: () => void): Cancel;
}

/** Real timers. They keep the process alive: an agent that waits to retry must not simply end. */
export const systemSchedule: Schedule = {
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
