/** Queries of the overview. Other pages use the same keys, so that data is fetched once. */
import { useQuery } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';

/** While the user waits for an agent, and otherwise. */
export const WAITING_MS = 1_000;
const LIVE_MS = 3_000;
const ATTENTION_MS = 10_000;
const SLOW_MS = 30_000;

export function useCounters() {
  const { client } = useApi();
  return useQuery({
    queryKey: ['metrics', 'counters'],
    queryFn: ({ signal }) => answered(client.GET('/metrics', { signal })),
    refetchInterval: LIVE_MS,
  });
}

export function useTunnels(everyMs = LIVE_MS) {
  const { client } = useApi();
  return useQuery({
    queryKey: ['tunnels'],
    queryFn: ({ signal }) => answered(client.GET('/tunnels', { signal })),
    refetchInterval: everyMs,
  });
}

export function useConnections(everyMs = LIVE_MS) {
  const { client } = useApi();
  return useQuery({
    queryKey: ['connections'],
    queryFn: ({ signal }) => answered(client.GET('/connections', { signal })),
    refetchInterval: everyMs,
  });
}

/** `tunnelId`: of this one alone. */
export function useLatestRequests(limit: number, tunnelId?: string, everyMs = LIVE_MS) {
  const { client } = useApi();
  return useQuery({
    queryKey: ['inspector', 'latest', limit, tunnelId ?? null],
    queryFn: ({ signal }) => {
      const query = tunnelId === undefined ? { limit } : { limit, tunnel_id: tunnelId };
      return answered(client.GET('/inspector', { params: { query }, signal }));
    },
    refetchInterval: everyMs,
  });
}

export function useRecording() {
  const { client } = useApi();
  return useQuery({
    queryKey: ['inspector', 'recording'],
    queryFn: ({ signal }) => answered(client.GET('/inspector/recording', { signal })),
    refetchInterval: SLOW_MS,
  });
}

/** What the API says needs attention, worst first. */
export function useAttention() {
  const { client } = useApi();
  return useQuery({
    queryKey: ['attention'],
    queryFn: ({ signal }) => answered(client.GET('/attention', { signal })),
    refetchInterval: ATTENTION_MS,
  });
}

export function useReceivers() {
  const { client } = useApi();
  return useQuery({
    queryKey: ['webhook-receivers'],
    queryFn: ({ signal }) => answered(client.GET('/webhook-receivers', { signal })),
    refetchInterval: SLOW_MS,
  });
}
