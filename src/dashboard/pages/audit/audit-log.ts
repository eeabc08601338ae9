/** The events of the audit log: of the organization, or of the whole server for operators. In pages, newest first. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { AuditEvent } from './export.ts';

export interface Filter {
  readonly action: string | null;
  readonly actor: string;
  /** A day of the reader's own calendar, 2026-11-21; empty: from the beginning. */
  readonly from: string;
  /** Events at a time. */
  readonly limit: number;
  /** Id or slug; of operators alone. */
  readonly org: string;
}

export const NO_FILTER: Filter = { action: null, actor: '', from: '', limit: 50, org: '' };

export type Scope = 'organization' | 'server';

/** New events are fetched while the user has not paged back. */
const AGAIN_MS = 10_000;

/** Asks for one page: those before an event. */
export type AskPage = (
  before: string | undefined,
  limit: number,
  signal?: AbortSignal,
) => Promise<readonly AuditEvent[]>;

export function useAskPage(scope: Scope, filter: Filter): AskPage {
  const { client } = useApi();
  return (before, limit, signal) => {
    const query = { ...queryOf(filter), limit, ...(before === undefined ? {} : { before }) };
    const aborted = signal === undefined ? {} : { signal };
    if (scope === 'organization') return answered(client.GET('/events', { params: { query }, ...aborted }));
    const org = filter.org.trim();
    const everywhere = { ...query, ...(org === '' ? {} : { org }) };
    return answered(client.GET('/superadmin/events', { params: { query: everywhere }, ...aborted }));
  };
}

export function useAuditLog(scope: Scope, filter: Filter) {
  const ask = useAskPage(scope, filter);
  return useInfiniteQuery({
    queryKey: [...(scope === 'organization' ? ['events'] : ['superadmin', 'events']), filter],
    queryFn: ({ pageParam, signal }) => ask(pageParam, filter.limit, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => (page.length < filter.limit ? undefined : page.at(-1)?.id),
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : AGAIN_MS),
    // While the user types, the earlier result stays.
    placeholderData: (before) => before,
  });
}

function queryOf({ action, actor, from }: Filter) {
  const who = actor.trim();
  return {
    ...(action === null ? {} : { action }),
    ...(who === '' ? {} : { actor: who }),
    ...(from === '' ? {} : { start_time: new Date(`${from}T00:00:00`).toISOString() }),
  };
}
