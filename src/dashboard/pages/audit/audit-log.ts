/** The events of the audit log: of the organization, or of the whole server for operators. In pages, newest first. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useSearchParams } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { AuditEvent } from './export.ts';
import { type Filter, filterIn, paramsOf, queryOf } from './filter.ts';

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

/** The filter in the page's address, so that a view can be shared and survives a reload. */
export function useAuditFilter(): readonly [filter: Filter, onChange: (filter: Filter) => void] {
  const [params, setParams] = useSearchParams();
  return [filterIn(params), (next) => setParams(paramsOf(next), { replace: true })];
}
