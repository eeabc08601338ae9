/** Actions on a tunnel. Lists show the response at once, and the server's additions after the next poll. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Tunnel } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { undoOf } from '../../parts/undo/undo.ts';
import type { TunnelDetail } from './tunnel-queries.ts';
import { isShut } from './tunnel-state.ts';

type Change = Partial<TunnelDetail> & { readonly id: string };

/** Starts a tunnel. One that had expired is not undone: it can't expire again. */
export function useStart() {
  const queries = useQueryClient();
  const { start, undoRun } = useRun();
  return useAction({
    run: ({ id }: Tunnel) => start(id),
    done: ({ subdomain }, before) => `Tunnel ${subdomain} ${isShut(before, Date.now()) ? 'started' : 'extended'}.`,
    undo: (tunnel, before) => (before.stopped ? undoRun(tunnel, before) : undefined),
    onDone: (tunnel) => show(queries, tunnel),
    touches: [['tunnels']],
  });
}

/** Stops a tunnel. Its agent asks again every ten seconds, and is back after an undo. Maintenance ends with the connection, for good. */
export function useStop({ tellsFailure = false } = {}) {
  const queries = useQueryClient();
  const { stop, undoRun } = useRun();
  return useAction({
    run: ({ id }: Tunnel) => stop(id),
    done: ({ subdomain }) => `Tunnel ${subdomain} stopped.`,
    undo: (tunnel, before) => (before.maintenance ? undefined : undoRun(tunnel, before)),
    onDone: (tunnel) => show(queries, tunnel),
    touches: [['tunnels'], ['connections']],
    tellsFailure,
  });
}

/** Starts and stops a tunnel, and undoes either. */
function useRun() {
  const { client } = useApi();
  const path = (id: string) => ({ params: { path: { id } } });
  const start = (id: string) => answered(client.POST('/tunnels/{id}/start', path(id)));
  const stop = (id: string) => answered(client.POST('/tunnels/{id}/stop', path(id)));
  const undoRun = (after: Tunnel, before: Tunnel) =>
    undoOf<Tunnel, 'stopped'>({
      before,
      after,
      fields: ['stopped'],
      read: () => answered(client.GET('/tunnels/{id}', path(after.id))),
      write: () => (before.stopped ? stop(after.id) : start(after.id)),
    });
  return { start, stop, undoRun };
}

export interface Shut {
  readonly tunnel: Pick<Tunnel, 'id' | 'subdomain'>;
  /** Empty: the edge's own words. */
  readonly message: string;
}

/** Whether a tunnel is in maintenance: its message, empty for the edge's own words; null: it is not. */
interface Maintenance {
  readonly message: string | null;
}

export function useBeginMaintenance({ tellsFailure = false } = {}) {
  const { put, undo, see } = useMaintenance();
  return useAction({
    run: ({ tunnel, message }: Shut) => put(tunnel.id, { message }),
    done: (before, { tunnel }) =>
      `Maintenance ${before.message === null ? 'started' : 'changed'} for ${tunnel.subdomain}.`,
    undo: (before, { tunnel, message }) => undo(tunnel.id, { before, after: { message } }),
    onDone: (_, { tunnel: { id }, message }) => see(id, { message }),
    touches: [['tunnels']],
    tellsFailure,
  });
}

export function useEndMaintenance() {
  const { put, undo, see } = useMaintenance();
  return useAction({
    run: ({ id }: Shut['tunnel']) => put(id, { message: null }),
    done: (_, { subdomain }) => `Maintenance ended for ${subdomain}.`,
    undo: (before, { id }) => undo(id, { before, after: { message: null } }),
    onDone: (_, { id }) => see(id, { message: null }),
    touches: [['tunnels']],
  });
}

function useMaintenance() {
  const { client } = useApi();
  const queries = useQueryClient();
  const read = async (id: string): Promise<Maintenance> => {
    const path = { params: { path: { id } } };
    const { maintenance, maintenanceMessage: message } = await answered(client.GET('/tunnels/{id}', path));
    return { message: maintenance ? (message ?? '') : null };
  };
  const write = async (id: string, { message }: Maintenance): Promise<void> => {
    const path = { params: { path: { id } } };
    if (message === null) await answered(client.DELETE('/tunnels/{id}/maintenance', path));
    else await answered(client.PUT('/tunnels/{id}/maintenance', { ...path, body: { message } }));
  };
  return {
    /** Resolves with what there was before: lists do not have the message, and the server forgets it at the end. */
    put: async (id: string, next: Maintenance): Promise<Maintenance> => {
      const before = await read(id);
      await write(id, next);
      return before;
    },
    undo: (id: string, change: { readonly before: Maintenance; readonly after: Maintenance }) =>
      undoOf<Maintenance, 'message'>({
        ...change,
        fields: ['message'],
        read: () => read(id),
        write: () => write(id, change.before),
      }),
    see: (id: string, { message }: Maintenance): void =>
      show(queries, { id, maintenance: message !== null, maintenanceMessage: message }),
  };
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
