/** A time, as how long ago it is; the exact one is in its title, and for screen readers in its `dateTime`. */
import { Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { agoText, clockText, timeOf } from './words.ts';

/** What is younger is counted by the second. */
const FRESH_MS = 60_000;

/** `at`: RFC 3339 or Unix seconds; null is said as `never`. */
export function Ago({
  at,
  never = 'never',
}: {
  readonly at: string | number | null | undefined;
  readonly never?: string;
}) {
  const time = at === null || at === undefined ? undefined : timeOf(at);
  const now = useNow(time);
  if (time === undefined)
    return (
      <Text span c="dimmed" inherit>
        {never}
      </Text>
    );
  return (
    <time dateTime={new Date(time).toISOString()} title={clockText(time)}>
      {agoText(time, now)}
    </time>
  );
}

function useNow(time: number | undefined): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (time === undefined) return;
    const timer = setInterval(() => setNow(Date.now()), Math.abs(Date.now() - time) < FRESH_MS ? 5000 : 30_000);
    return () => clearInterval(timer);
  }, [time]);
  return now;
}
