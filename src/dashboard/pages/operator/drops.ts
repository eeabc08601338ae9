/** The counts of refusals as rows of a table. Pure: tested without a browser. */
import type { Schemas } from '../../api/types.ts';
import { type DropWords, RECORD_DROPS, RELAY_DROPS, VISITOR_DROPS } from './drop-messages.ts';

export interface DropRow {
  readonly key: string;
  readonly words: string;
  readonly setting: string | undefined;
  readonly count: number;
}

type Edge = Pick<Schemas['EdgeCounts'], 'dropped'> & {
  readonly inspector: Pick<Schemas['EdgeCounts']['inspector'], 'dropped'>;
  readonly relays: Pick<Schemas['EdgeCounts']['relays'], 'dropped'>;
};

/** What came most often first. */
export function dropRows({ dropped, inspector, relays }: Edge): readonly DropRow[] {
  return [
    ...rowsOf('visitors', dropped, VISITOR_DROPS),
    ...rowsOf('records', inspector.dropped, RECORD_DROPS),
    ...rowsOf('datagrams', relays.dropped, RELAY_DROPS),
  ].sort((one, other) => other.count - one.count);
}

/** A reason of a newer server is shown by its name. */
function rowsOf(
  of: string,
  counts: Readonly<Record<string, number>>,
  words: Readonly<Record<string, DropWords>>,
): readonly DropRow[] {
  return Object.entries(counts).map(([reason, count]) => ({
    key: `${of} ${reason}`,
    words: words[reason]?.words ?? reason,
    setting: words[reason]?.setting,
    count,
  }));
}
