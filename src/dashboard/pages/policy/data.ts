/** The policy of a tunnel, read from the API and changed by it. Used by policy-editor.tsx. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { paths } from '../../api/schema.gen.ts';
import { useAction } from '../../parts/action.ts';
import { undoOf } from '../../parts/undo/undo.ts';
import type { Policy } from './kinds.ts';

type Route = paths['/tunnels/{id}/policy'];
type PolicyAnswer = Route['get']['responses'][200]['content']['application/json'];
export type DryRun = PolicyAnswer['dry_run'][number];

/** What tried actions count comes in a few seconds late anyway. */
const AGAIN_MS = 5000;

export function usePolicy(id: string) {
  const { client } = useApi();
  return useQuery({
    queryKey: ['tunnels', id, 'policy'],
    queryFn: ({ signal }) => answered(client.GET('/tunnels/{id}/policy', { params: { path: { id } }, signal })),
    // Without an action that is only tried nothing changes by itself.
    refetchInterval: ({ state }) => ((state.data?.dry_run.length ?? 0) > 0 ? AGAIN_MS : false),
  });
}

type Saved = Pick<PolicyAnswer, 'policy'>;

/** Back from a changed policy to the one that was `saved` before, or to none. */
function useUndoPolicy(id: string, saved: Policy | null) {
  const { client } = useApi();
  const params = { path: { id } };
  return (after: Saved) =>
    undoOf<Saved, 'policy'>({
      before: { policy: saved },
      after,
      fields: ['policy'],
      read: () => answered(client.GET('/tunnels/{id}/policy', { params })),
      write: async () => {
        await (saved === null
          ? answered(client.DELETE('/tunnels/{id}/policy', { params }))
          : answered(client.PUT('/tunnels/{id}/policy', { params, body: saved })));
      },
    });
}

/** `saved`: the tunnel's policy before. `tellsFailure`: the editor shows the server's errors at the actions. */
export function useSavePolicy(
  id: string,
  saved: Policy | null,
  onSaved: (sent: Policy, warnings: readonly string[]) => void,
) {
  const { client } = useApi();
  const queries = useQueryClient();
  const undo = useUndoPolicy(id, saved);
  return useAction<Policy, Route['put']['responses'][200]['content']['application/json']>({
    run: (policy) => answered(client.PUT('/tunnels/{id}/policy', { params: { path: { id } }, body: policy })),
    done: 'Policy saved. Applies immediately.',
    undo,
    tellsFailure: true,
    touches: [['tunnels']],
    onDone: ({ policy, warnings = [] }, sent) => {
      queries.setQueryData<PolicyAnswer>(['tunnels', id, 'policy'], { id, policy, dry_run: [] });
      onSaved(sent, warnings);
    },
  });
}

export function useRemovePolicy(id: string, saved: Policy | null, onRemoved: () => void) {
  const { client } = useApi();
  const queries = useQueryClient();
  const undo = useUndoPolicy(id, saved);
  return useAction({
    run: () => answered(client.DELETE('/tunnels/{id}/policy', { params: { path: { id } } })),
    done: 'Policy removed.',
    undo: () => undo({ policy: null }),
    tellsFailure: true,
    touches: [['tunnels']],
    onDone: () => {
      queries.setQueryData<PolicyAnswer>(['tunnels', id, 'policy'], { id, policy: null, dry_run: [] });
      onRemoved();
    },
  });
}
