/**
 * The time, for what changes with it alone: a tunnel whose hour has run out, a chart that moves on, how long ago something was. One timer for all
 * that look as often, for a list may have a thousand times in it.
 */
import { useEffect, useState } from 'react';

interface Clock {
  readonly timer: ReturnType<typeof setInterval>;
  readonly listeners: Set<() => void>;
}

/** By interval in milliseconds; only clocks in use. */
const clocks = new Map<number, Clock>();

/** Calls `listener` every `everyMs`; the answer ends that. */
export function onTick(everyMs: number, listener: () => void): () => void {
  const clock = clocks.get(everyMs) ?? start(everyMs);
  clock.listeners.add(listener);
  return () => {
    clock.listeners.delete(listener);
    if (clock.listeners.size > 0) return;
    clearInterval(clock.timer);
    if (clocks.get(everyMs) === clock) clocks.delete(everyMs);
  };
}

function start(everyMs: number): Clock {
  const listeners = new Set<() => void>();
  const timer = setInterval(() => {
    for (const listener of listeners) listener();
  }, everyMs);
  const clock = { timer, listeners };
  clocks.set(everyMs, clock);
  return clock;
}

/** Unix milliseconds, looked at again every `everyMs`. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => onTick(everyMs, () => setNow(Date.now())), [everyMs]);
  return now;
}
