/** Which entries of the menu a user sees. Pure: tested without a browser. */
import type { Schemas } from '../api/types.ts';

interface Group<Entry> {
  readonly title: string;
  readonly entries: readonly Entry[];
}

interface Limits {
  readonly forOperators?: true;
  readonly forBuyers?: true;
}

type Viewer = Pick<Schemas['Account'], 'is_superadmin' | 'billing_mode'>;

/** Where nothing is sold, the plan is the operator's to set: no billing page. */
export function menuFor<Entry extends Limits>(
  menu: ReadonlyArray<Group<Entry>>,
  viewer: Viewer,
): ReadonlyArray<Group<Entry>> {
  const isSeen = ({ forOperators, forBuyers }: Entry): boolean =>
    (forOperators !== true || viewer.is_superadmin) && (forBuyers !== true || viewer.billing_mode !== 'none');
  return menu
    .map((group) => ({ ...group, entries: group.entries.filter(isSeen) }))
    .filter(({ entries }) => entries.length > 0);
}

/** What the menu counts: items of severity info can wait. */
export function attentionIn(items: ReadonlyArray<Pick<Schemas['AttentionItem'], 'severity'>>): {
  readonly count: number;
  readonly isCritical: boolean;
} {
  return {
    count: items.filter(({ severity }) => severity !== 'info').length,
    isCritical: items.some(({ severity }) => severity === 'critical'),
  };
}
