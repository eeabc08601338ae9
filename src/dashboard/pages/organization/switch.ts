/** Makes another organization the active one of this session: everything is then drawn anew. */
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { useAction } from '../../parts/action.ts';

export function useSwitch() {
  const { client, session } = useApi();
  return useAction({
    run: (id: string) => answered(client.POST('/auth/switch-org', { body: { org_id: id } })),
    done: ({ active_org: org }) => `You act for ${org.name} now.`,
    onDone: ({ access_token: token }) => session.enter(token),
  });
}
