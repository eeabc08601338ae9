/** Latency of a tunnel, or of the active organization. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useAccount, useApi } from '../../api/context.tsx';
import { SPANS, type Window } from '../overview/traffic.ts';
import type { Latency } from './latency.ts';

/** Data nodes report every 10 s. */
const LIVE_MS = 10_000;

interface Shown {
  readonly range: Window;
  readonly latency: Latency;
}

/** What was shown stays until the other range is there. */
export function useLatency(range: Window, tunnelId?: string) {
  const { client } = useApi();
  const { id: orgId } = useAccount().active_org;
  return useQuery({
    queryKey: ['latency', tunnelId ?? orgId, range],
    queryFn: async ({ signal }): Promise<Shown> => {
      const asked = (id: string) => ({ params: { path: { id }, query: { range } }, signal });
      const latency =
        tunnelId === undefined
          ? await answered(client.GET('/orgs/{id}/latency', asked(orgId)))
          : await answered(client.GET('/tunnels/{id}/latency', asked(tunnelId)));
      return { range, latency };
    },
    placeholderData: keepPreviousData,
    refetchInterval: Math.max(LIVE_MS, SPANS[range].everyMs),
  });
}
