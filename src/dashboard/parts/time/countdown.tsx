/** A time that is to come, by the second: "in 3 s". */
import { clockText, spanText, timeOf } from '../format.ts';
import { useNow } from './now.ts';

/** `at`: RFC 3339 or Unix seconds. What is past is said as `now`. */
export function Countdown({ at }: { readonly at: string | number }) {
  const time = timeOf(at);
  const left = time - useNow(1000);
  return (
    <time dateTime={new Date(time).toISOString()} title={clockText(time)}>
      {left < 500 ? 'now' : `in ${spanText(left)}`}
    </time>
  );
}
