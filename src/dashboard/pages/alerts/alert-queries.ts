/** Queries of the page of alerts. */
import { useQuery } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';

export const ALERTS = ['alerts'] as const;
/** Rules are evaluated every ten seconds. */
const AGAIN_MS = 10_000;

export function useAlerts() {
  const { client } = useApi();
  return useQuery({
    queryKey: ALERTS,
    queryFn: ({ signal }) => answered(client.GET('/alerts', { signal })),
    refetchInterval: AGAIN_MS,
  });
}

export function useHistory() {
  const { client } = useApi();
  return useQuery({
    queryKey: [...ALERTS, 'history'],
    queryFn: ({ signal }) => answered(client.GET('/alerts/history', { signal })),
    refetchInterval: AGAIN_MS,
  });
}

export function useTunnels() {
  const { client } = useApi();
  return useQuery({ queryKey: ['tunnels'], queryFn: ({ signal }) => answered(client.GET('/tunnels', { signal })) });
}
