/** What people do to a tunnel. The answer is in the lists at once; what the server adds to it comes with the next look. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Tunnel } from '../../api/types.ts';
import { useDeed } from '../../parts/deed.ts';
import type { TunnelDetail } from './tunnel-queries.ts';

type Change = Partial<TunnelDetail> & { readonly id: string };

export function useStart() {
  const { client } = useApi();
  const queries = useQueryClient();
  return useDeed({
    run: ({ id }: Tunnel) => answered(client.POST('/tunnels/{id}/start', { params: { path: { id } } })),
    onDone: (tunnel) => show(queries, tunnel),
    touches: [['tunnels']],
  });
}

export function useStop({ tellsFailure = false } = {}) {
  const { client } = useApi();
  const queries = useQueryClient();
  return useDeed({
    run: ({ id }: Tunnel) => answered(client.POST('/tunnels/{id}/stop', { params: { path: { id } } })),
    onDone: (tunnel) => show(queries, tunnel),
    touches: [['tunnels'], ['connections']],
    tellsFailure,
  });
}

export interface Notice {
  readonly id: string;
  /** Empty: the edge's own words. */
  readonly message: string;
}

export function useBeginMaintenance({ tellsFailure = false } = {}) {
  const { client } = useApi();
  const queries = useQueryClient();
  return useDeed({
    run: ({ id, message }: Notice) =>
      answered(client.PUT('/tunnels/{id}/maintenance', { params: { path: { id } }, body: { message } })),
    onDone: ({ id, message }) => show(queries, { id, maintenance: true, maintenanceMessage: message }),
    touches: [['tunnels']],
    tellsFailure,
  });
}

export function useEndMaintenance() {
  const { client } = useApi();
  const queries = useQueryClient();
  return useDeed({
    run: ({ id }: { readonly id: string }) =>
      answered(client.DELETE('/tunnels/{id}/maintenance', { params: { path: { id } } })),
    onDone: ({ id }) => show(queries, { id, maintenance: false, maintenanceMessage: null }),
    touches: [['tunnels']],
  });
}

/** `onDone`: before the tunnel is out of the lists, so that its own page can be left. */
export function useDeleteTunnel(onDone: () => void) {
  const { client } = useApi();
  const queries = useQueryClient();
  return useDeed({
    run: ({ id }: Tunnel) => answered(client.DELETE('/tunnels/{id}', { params: { path: { id } } })),
    done: (_, { subdomain }) => `The tunnel ${subdomain} is deleted.`,
    onDone: (_, { id }) => {
      onDone();
      queries.setQueryData<readonly Tunnel[]>(['tunnels'], (list) => list?.filter((one) => one.id !== id));
      // Not the tunnel's own query: whoever still looks at it would be told that there is none.
      void queries.invalidateQueries({ queryKey: ['tunnels'], exact: true });
    },
    touches: [['domains'], ['projects'], ['connections']],
    tellsFailure: true,
  });
}

/** Puts what is known now where it is shown. */
export function show(queries: QueryClient, change: Change): void {
  queries.setQueryData<readonly Tunnel[]>(['tunnels'], (list) =>
    list?.map((one) => (one.id === change.id ? { ...one, ...change } : one)),
  );
  queries.setQueryData<TunnelDetail>(['tunnels', change.id], (one) => one && { ...one, ...change });
}
