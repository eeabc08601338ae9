/** Actions on a tunnel. Lists show the response at once, and the server's additions after the next poll. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Tunnel } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { sayWithOffer } from '../../parts/offer.tsx';
import type { TunnelDetail } from './tunnel-queries.ts';

type Change = Partial<TunnelDetail> & { readonly id: string };

export function useStart() {
  const { client } = useApi();
  const queries = useQueryClient();
  return useAction({
    run: ({ id }: Tunnel) => answered(client.POST('/tunnels/{id}/start', { params: { path: { id } } })),
    onDone: (tunnel) => show(queries, tunnel),
    touches: [['tunnels']],
  });
}

export function useStop({ tellsFailure = false } = {}) {
  const { client } = useApi();
  const queries = useQueryClient();
  return useAction({
    run: ({ id }: Tunnel) => answered(client.POST('/tunnels/{id}/stop', { params: { path: { id } } })),
    onDone: (tunnel) => show(queries, tunnel),
    touches: [['tunnels'], ['connections']],
    tellsFailure,
  });
}

export interface Shut {
  readonly tunnel: Pick<Tunnel, 'id' | 'subdomain'>;
  /** Empty: the edge's own words. */
  readonly message: string;
  /** It is in maintenance already: other words are no beginning. */
  readonly isOn?: boolean;
}

export function useBeginMaintenance({ tellsFailure = false } = {}) {
  return useAction({ run: useMaintenance().begin, tellsFailure });
}

export function useEndMaintenance() {
  return useAction({ run: useMaintenance().end });
}

/** Begins and ends maintenance, each with an offer to undo: both are one click on the wrong row away. */
function useMaintenance() {
  const { client } = useApi();
  const queries = useQueryClient();
  const see = (change: Change): void => {
    show(queries, change);
    void queries.invalidateQueries({ queryKey: ['tunnels'] });
  };
  const begin = async ({ tunnel, message, isOn = false }: Shut): Promise<void> => {
    const { id, subdomain } = tunnel;
    await answered(client.PUT('/tunnels/{id}/maintenance', { params: { path: { id } }, body: { message } }));
    see({ id, maintenance: true, maintenanceMessage: message });
    if (!isOn) sayWithOffer(`Maintenance started for ${subdomain}.`, { action: 'Undo', run: () => end(tunnel) });
  };
  const end = async (tunnel: Shut['tunnel']): Promise<void> => {
    const { id, subdomain } = tunnel;
    const path = { params: { path: { id } } };
    // The words, which lists do not have, are forgotten with the end.
    const { maintenanceMessage } = await answered(client.GET('/tunnels/{id}', path));
    await answered(client.DELETE('/tunnels/{id}/maintenance', path));
    see({ id, maintenance: false, maintenanceMessage: null });
    sayWithOffer(`Maintenance ended for ${subdomain}.`, {
      action: 'Restart',
      run: () => begin({ tunnel, message: maintenanceMessage ?? '' }),
    });
  };
  return { begin, end };
}

/** `onDone`: before the tunnel is out of the lists, so that its own page can be left. */
export function useDeleteTunnel(onDone: () => void) {
  const { client } = useApi();
  const queries = useQueryClient();
  return useAction({
    run: ({ id }: Tunnel) => answered(client.DELETE('/tunnels/{id}', { params: { path: { id } } })),
    done: (_, { subdomain }) => `Tunnel ${subdomain} deleted.`,
    onDone: (_, { id }) => {
      onDone();
      queries.setQueryData<readonly Tunnel[]>(['tunnels'], (list) => list?.filter((one) => one.id !== id));
      // Not the tunnel's own query: its page, still open, would show that there is none.
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
