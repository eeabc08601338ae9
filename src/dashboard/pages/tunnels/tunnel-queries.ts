/** Queries of the tunnel pages, and their intervals. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { paths } from '../../api/schema.gen.ts';
import type { Schemas, Tunnel } from '../../api/types.ts';

/** One tunnel, with what lists leave out. */
export type TunnelDetail = paths['/tunnels/{id}']['get']['responses'][200]['content']['application/json'];

/** Agents come and go by themselves. */
const LIVE_MS = 3000;
/** Data that changes by edits alone, mostly in this browser. */
const CALM_MS = 15_000;

export function useTunnels() {
  const { client } = useApi();
  return useQuery({
    queryKey: ['tunnels'],
    queryFn: ({ signal }) => answered(client.GET('/tunnels', { signal })),
    refetchInterval: LIVE_MS,
  });
}

/** Shows at once what the list has shown of it. */
export function useTunnel(id: string) {
  const { client } = useApi();
  const queries = useQueryClient();
  return useQuery<TunnelDetail>({
    queryKey: ['tunnels', id],
    queryFn: ({ signal }) => answered(client.GET('/tunnels/{id}', { params: { path: { id } }, signal })),
    refetchInterval: LIVE_MS,
    placeholderData: () => {
      const listed = queries.getQueryData<readonly Tunnel[]>(['tunnels'])?.find((one) => one.id === id);
      return (
        listed && {
          ...listed,
          advice: null,
          certificate: null,
          authUsername: null,
          maintenanceMessage: null,
          setByAgent: null,
          startCommand: null,
        }
      );
    },
  });
}

export function useProjects() {
  const { client } = useApi();
  return useQuery({
    queryKey: ['projects'],
    queryFn: ({ signal }) => answered(client.GET('/projects', { signal })),
  });
}

/** The agents that serve a tunnel now. */
export function useServing(tunnelId: string) {
  const { client } = useApi();
  return useQuery({
    queryKey: ['connections'],
    queryFn: ({ signal }) => answered(client.GET('/connections', { signal })),
    refetchInterval: LIVE_MS,
    select: (connections) => connections.filter(({ tunnels }) => tunnels.includes(tunnelId)),
  });
}

/** Domains that lead to a tunnel. */
export function useBoundDomains(tunnelId: string) {
  const { client } = useApi();
  return useQuery({
    queryKey: ['domains'],
    queryFn: ({ signal }) => answered(client.GET('/domains', { signal })),
    refetchInterval: CALM_MS,
    select: (domains: ReadonlyArray<Schemas['Domain']>) =>
      domains.filter(({ boundTunnelId }) => boundTunnelId === tunnelId),
  });
}

/** The latest requests of a tunnel's visitors, newest first. */
export function useLatestRequests(tunnelId: string, limit: number) {
  const { client } = useApi();
  return useQuery({
    queryKey: ['inspector', 'latest', tunnelId, limit],
    queryFn: ({ signal }) =>
      answered(client.GET('/inspector', { params: { query: { tunnel_id: tunnelId, limit } }, signal })),
    refetchInterval: LIVE_MS,
  });
}

/** The visitors that Visitor login allows. */
export function useVisitorGate(tunnelId: string) {
  const { client } = useApi();
  return useQuery({
    queryKey: ['tunnels', tunnelId, 'edge-auth'],
    queryFn: ({ signal }) =>
      answered(client.GET('/tunnels/{id}/edge-auth', { params: { path: { id: tunnelId } }, signal })),
  });
}
