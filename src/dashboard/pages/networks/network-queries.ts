/** Queries of the network pages, in one place so that data is shared. */
import { useQuery } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';

/** The figures of relays and devices are two seconds behind. */
const LIVE_MS = 3000;

export const NETWORKS = ['private-networks'] as const;

export function useNetworks() {
  const { client } = useApi();
  return useQuery({
    queryKey: NETWORKS,
    queryFn: ({ signal }) => answered(client.GET('/private-networks', { signal })),
    refetchInterval: 10_000,
  });
}

export function useNetwork(id: string) {
  const { client } = useApi();
  return useQuery({
    queryKey: [...NETWORKS, id],
    queryFn: ({ signal }) => answered(client.GET('/private-networks/{id}', { params: { path: { id } }, signal })),
    refetchInterval: 10_000,
  });
}

export function useRelay(id: string) {
  const { client } = useApi();
  return useQuery({
    queryKey: [...NETWORKS, id, 'relay'],
    queryFn: ({ signal }) => answered(client.GET('/private-networks/{id}/relay', { params: { path: { id } }, signal })),
    refetchInterval: LIVE_MS,
  });
}

export function useDevices(id: string) {
  const { client } = useApi();
  return useQuery({
    queryKey: [...NETWORKS, id, 'devices'],
    queryFn: ({ signal }) =>
      answered(client.GET('/private-networks/{id}/devices', { params: { path: { id } }, signal })),
    refetchInterval: LIVE_MS,
  });
}
