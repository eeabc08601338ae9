/** Puts and removes the visitor gate of a tunnel. */
import { useQueryClient } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { show } from './use-tunnel-actions.ts';

export function usePutVisitorGate(tunnelId: string, isOn: boolean) {
  const { client } = useApi();
  const queries = useQueryClient();
  return useAction({
    run: (body: Schemas['VisitorGate']) =>
      answered(client.PUT('/tunnels/{id}/edge-auth', { params: { path: { id: tunnelId } }, body })),
    done: isOn ? 'Lists saved. Visitors sign in again.' : 'Visitor login is on. Applies immediately.',
    onDone: (gate) => {
      queries.setQueryData(['tunnels', tunnelId, 'edge-auth'], gate);
      show(queries, { id: tunnelId, edgeAuthEnabled: true });
    },
    touches: [['tunnels']],
    tellsFailure: true,
  });
}

export function useRemoveVisitorGate(tunnelId: string, onDone: () => void) {
  const { client } = useApi();
  const queries = useQueryClient();
  return useAction({
    run: () => answered(client.DELETE('/tunnels/{id}/edge-auth', { params: { path: { id: tunnelId } } })),
    done: 'Visitors are not asked who they are any more.',
    onDone: () => {
      show(queries, { id: tunnelId, edgeAuthEnabled: false });
      onDone();
    },
    touches: [['tunnels']],
    tellsFailure: true,
  });
}
