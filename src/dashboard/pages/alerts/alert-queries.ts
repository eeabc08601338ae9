/** Queries of the page of alerts. */
import { useQuery } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { undoOf } from '../../parts/undo/undo.ts';
import type { Alert } from './alert-labels.ts';

export const ALERTS = ['alerts'] as const;
/** Rules are evaluated every ten seconds. */
const AGAIN_MS = 10_000;

export function useAlerts() {
  const { client } = useApi();
  return useQuery({
    queryKey: ALERTS,
    queryFn: ({ signal }) => answered(client.GET('/alerts', { signal })),
    refetchInterval: AGAIN_MS,
  });
}

export function useHistory() {
  const { client } = useApi();
  return useQuery({
    queryKey: [...ALERTS, 'history'],
    queryFn: ({ signal }) => answered(client.GET('/alerts/history', { signal })),
    refetchInterval: AGAIN_MS,
  });
}

type Rule = 'enabled' | 'threshold' | 'for_minutes' | 'quiet_hours';

/** Changes these fields of an alert's rule, and how the change is undone. */
export function useRuleChange(before: Alert, fields: readonly Rule[]) {
  const { client } = useApi();
  const { id } = before;
  const run = (body: Schemas['AlertChanges']) =>
    answered(client.PATCH('/alerts/{id}', { params: { path: { id } }, body }));
  const read = async () => (await answered(client.GET('/alerts'))).find((one) => one.id === id);
  return { run, undo: (after: Alert) => undoOf<Alert, Rule>({ before, after, fields, read, write: run }) };
}

export function useTunnels() {
  const { client } = useApi();
  return useQuery({ queryKey: ['tunnels'], queryFn: ({ signal }) => answered(client.GET('/tunnels', { signal })) });
}
