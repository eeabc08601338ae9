/** Queries of the connections page, and the names of what agents serve. */
import { useQuery } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';

const LIVE_MS = 2_000;
const ENDED_MS = 5_000;
const NAMES_MS = 10_000;

export function useConnections() {
  const { client } = useApi();
  return useQuery({
    queryKey: ['connections'],
    queryFn: ({ signal }) => answered(client.GET('/connections', { signal })),
    refetchInterval: LIVE_MS,
  });
}

export function useEnded() {
  const { client } = useApi();
  return useQuery({
    queryKey: ['connections', 'ended'],
    queryFn: ({ signal }) => answered(client.GET('/connections/ended', { signal })),
    refetchInterval: ENDED_MS,
  });
}

export interface Served {
  readonly id: string;
  readonly name: string;
  readonly href: string;
}

/** Finds what is served by its id; undefined while the lists are on their way, and for what was made a moment ago. */
export function useServed(): ReadonlyMap<string, Served> {
  const { client } = useApi();
  const tunnels = useQuery({
    queryKey: ['tunnels'],
    queryFn: ({ signal }) => answered(client.GET('/tunnels', { signal })),
    refetchInterval: NAMES_MS,
  });
  const networks = useQuery({
    queryKey: ['private-networks'],
    queryFn: ({ signal }) => answered(client.GET('/private-networks', { signal })),
    refetchInterval: NAMES_MS,
  });
  const all = [
    ...(tunnels.data ?? []).map(({ id, subdomain }) => ({ id, name: subdomain, href: `/tunnels/${id}` })),
    ...(networks.data ?? []).map(({ id, name }) => ({ id, name, href: `/networks/${id}` })),
  ];
  return new Map(all.map((one) => [one.id, one]));
}
