/** The policy of a tunnel, read from the API and changed by it. Used by policy-editor.tsx. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { paths } from '../../api/schema.gen.ts';
import { useAction } from '../../parts/action.ts';
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

/** `tellsFailure`: the editor shows what the server has against the policy at its actions. */
export function useSavePolicy(id: string, onSaved: (sent: Policy, warnings: readonly string[]) => void) {
  const { client } = useApi();
  const queries = useQueryClient();
  return useAction<Policy, Route['put']['responses'][200]['content']['application/json']>({
    run: (policy) => answered(client.PUT('/tunnels/{id}/policy', { params: { path: { id } }, body: policy })),
    done: 'Policy saved. Applies immediately.',
    tellsFailure: true,
    touches: [['tunnels']],
    onDone: ({ policy, warnings = [] }, sent) => {
      queries.setQueryData<PolicyAnswer>(['tunnels', id, 'policy'], { id, policy, dry_run: [] });
      onSaved(sent, warnings);
    },
  });
}

export function useRemovePolicy(id: string, onRemoved: () => void) {
  const { client } = useApi();
  const queries = useQueryClient();
  return useAction({
    run: () => answered(client.DELETE('/tunnels/{id}/policy', { params: { path: { id } } })),
    done: 'Policy removed.',
    tellsFailure: true,
    touches: [['tunnels']],
    onDone: () => {
      queries.setQueryData<PolicyAnswer>(['tunnels', id, 'policy'], { id, policy: null, dry_run: [] });
      onRemoved();
    },
  });
}
