/** Actions on the visitor login of a tunnel, each with its undo. */
import { useQueryClient } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useAccount, useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { undoOf } from '../../parts/undo/undo.ts';
import type { VisitorLists } from './access-values.ts';
import { show } from './use-tunnel-actions.ts';

/** Visitor login of a tunnel as the page shows it. */
interface Gate {
  readonly tunnelId: string;
  readonly isOn: boolean;
  readonly lists: VisitorLists;
}

const LISTS = ['allowed_domains', 'allowed_emails'] as const;

/** Puts and removes the visitor gate of a tunnel, each with its undo. Without a gate its lists are empty, with one they are not. */
function useGate({ tunnelId, isOn, lists }: Gate) {
  const { client } = useApi();
  const hasPlan = useAccount().entitlements.edge_auth;
  const params = { path: { id: tunnelId } };
  const put = (body: Schemas['VisitorGate']) => answered(client.PUT('/tunnels/{id}/edge-auth', { params, body }));
  const remove = () => answered(client.DELETE('/tunnels/{id}/edge-auth', { params }));
  const undo = (after: VisitorLists) => {
    // Without the plan a gate can be removed, but not restored.
    if (!hasPlan) return undefined;
    return undoOf<VisitorLists, keyof VisitorLists>({
      before: lists,
      after,
      fields: LISTS,
      read: () => answered(client.GET('/tunnels/{id}/edge-auth', { params })),
      write: async () => {
        const { allowed_domains: domains, allowed_emails: emails } = lists;
        await (isOn ? put({ allowed_domains: [...domains], allowed_emails: [...emails] }) : remove());
      },
    });
  };
  return { put, remove, undo };
}

export function usePutVisitorGate(gate: Gate) {
  const { tunnelId, isOn } = gate;
  const queries = useQueryClient();
  const { put, undo } = useGate(gate);
  return useAction({
    run: put,
    undo,
    done: isOn ? 'Lists saved. Visitors must log in again.' : 'Visitor login turned on. Applies immediately.',
    onDone: (saved) => {
      queries.setQueryData(['tunnels', tunnelId, 'edge-auth'], saved);
      show(queries, { id: tunnelId, edgeAuthEnabled: true });
    },
    touches: [['tunnels']],
    tellsFailure: true,
  });
}

export function useRemoveVisitorGate(gate: Gate, onDone: () => void) {
  const { tunnelId } = gate;
  const queries = useQueryClient();
  const { remove, undo } = useGate(gate);
  return useAction({
    run: remove,
    undo: () => undo({ allowed_domains: [], allowed_emails: [] }),
    done: 'Visitor login removed.',
    onDone: () => {
      show(queries, { id: tunnelId, edgeAuthEnabled: false });
      onDone();
    },
    touches: [['tunnels']],
    tellsFailure: true,
  });
}
