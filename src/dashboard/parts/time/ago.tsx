/** A time, as how long ago it is; the exact one is in its title, and for screen readers in its `dateTime`. */
import { Text } from '@mantine/core';
import { useCallback, useSyncExternalStore } from 'react';
import { onTick } from './now.ts';
import { agoText, clockText, timeOf } from '../format.ts';

/** What is younger than a minute is said by the second, and this is near enough. */
const LOOK_MS = 5000;
const subscribe = (listener: () => void): (() => void) => onTick(LOOK_MS, listener);

/** `at`: RFC 3339 or Unix seconds; null is said as `never`. */
export function Ago({
  at,
  never = 'never',
}: {
  readonly at: string | number | null | undefined;
  readonly never?: string;
}) {
  const time = at === null || at === undefined ? undefined : timeOf(at);
  // The words alone: a list of a thousand is looked through at each tick, and those are drawn again that say something else.
  const words = useSyncExternalStore(
    subscribe,
    useCallback(() => (time === undefined ? never : agoText(time, Date.now())), [time, never]),
  );
  if (time === undefined)
    return (
      <Text span c="dimmed" inherit>
        {words}
      </Text>
    );
  return (
    <time dateTime={new Date(time).toISOString()} title={clockText(time)}>
      {words}
    </time>
  );
}

/** A time in a log: exact, and below it relative. Readers look for a given time, and for new entries. `at`: RFC 3339. */
export function When({ at }: { readonly at: string }) {
  return (
    <div className="culvert-when culvert-number">
      {clockText(timeOf(at))}
      <Text size="xs" c="dimmed">
        <Ago at={at} />
      </Text>
    </div>
  );
}
