/** The time, for what changes with it alone: a tunnel whose hour has run out, a chart that moves on. */
import { useEffect, useState } from 'react';

/** Unix milliseconds, looked at again every `everyMs`. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
