/** The counts of refusals as rows of a table. Pure: tested without a browser. */
import { type Drop, RECORD_DROPS, RELAY_DROPS, VISITOR_DROPS } from '../../../base/codes/drops.ts';
import type { Schemas } from '../../api/types.ts';

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
  drops: Readonly<Record<string, Drop>>,
): readonly DropRow[] {
  return Object.entries(counts).map(([reason, count]) => ({
    key: `${of} ${reason}`,
    words: drops[reason]?.text ?? reason,
    setting: drops[reason]?.setting,
    count,
  }));
}
