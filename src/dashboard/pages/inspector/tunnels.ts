/** Names of tunnels, for rows that say ids. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Tunnel } from '../../api/types.ts';

export interface Tunnels {
  readonly all: readonly Tunnel[];
  /** What a tunnel is called; records outlive the tunnel that they are of. */
  readonly nameOf: (id: string) => string;
  readonly find: (id: string) => Tunnel | undefined;
}

const NONE: readonly Tunnel[] = [];

export function useTunnels(): Tunnels {
  const { client } = useApi();
  const { data, isSuccess } = useQuery({
    queryKey: ['tunnels'],
    queryFn: ({ signal }) => answered(client.GET('/tunnels', { signal })),
  });
  return useMemo(() => {
    const all = data ?? NONE;
    const byId = new Map(all.map((tunnel) => [tunnel.id, tunnel]));
    const nameOf = (id: string): string => byId.get(id)?.subdomain ?? (isSuccess ? 'deleted tunnel' : '');
    return { all, nameOf, find: (id) => byId.get(id) };
  }, [data, isSuccess]);
}
