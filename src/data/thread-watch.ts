/**
 * Notices a data thread that stands still, as one does whose heap is full and never done collecting: its visitors wait, and no error ends it by
 * itself. The thread sends a pulse each second; the control thread counts the time without one. Used by data-thread.ts, which ends the thread.
 */
import type { Worker } from 'node:worker_threads';
import type { PortCalls } from '../plane/port/calls.ts';

/** Between two pulses, and between two looks at them. */
const PULSE_MS = 1_000;
/** Far beyond any pause of a collection; a visitor gives up about then. */
export const SILENT_MS = 30_000;

/** In the thread: pulses from now on, as long as its loop turns. */
export function sendPulses(calls: PortCalls): void {
  setInterval(() => calls.tell('pulse', null), PULSE_MS).unref();
}

/** In the control thread, once the node runs. Calls `onSilent` once, after `silentMs` without a message; the returned function ends the watch. */
export function watchPulses(worker: Worker, silentMs: number, onSilent: () => void): () => void {
  let silentForMs = 0;
  let lookedMs = performance.now();
  // Any message counts as it comes, however many wait to be read before it.
  worker.on('message', () => (silentForMs = 0));
  const looking = setInterval(() => {
    const passedMs = performance.now() - lookedMs;
    lookedMs += passedMs;
    // A look that comes late had no turn to read pulses: this thread, or the whole machine, stood still too.
    silentForMs = passedMs > 2 * PULSE_MS ? 0 : silentForMs + passedMs;
    if (silentForMs < silentMs) return;
    clearInterval(looking);
    onSilent();
  }, PULSE_MS);
  looking.unref();
  return () => clearInterval(looking);
}
