/** Asks before a domain goes. */
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Asked } from '../../parts/asked.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { useAction } from '../../parts/action.ts';
import { DOMAINS } from './domain-query.ts';
import type { Domain } from './domain-state.ts';

export function DeleteDomain({ asked: { row: domain, opened, close } }: { readonly asked: Asked<Domain> }) {
  const { client } = useApi();
  const remove = useAction({
    run: (id: string) => answered(client.DELETE('/domains/{id}', { params: { path: { id } } })),
    touches: [DOMAINS],
    onDone: close,
    tellsFailure: true,
  });
  return (
    <Confirm
      title={`Delete the domain ${domain?.domain ?? ''}?`}
      action="Delete domain"
      opened={opened}
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => domain !== undefined && remove.mutate(domain.id)}
      onClose={() => {
        remove.reset();
        close();
      }}
    >
      {typeof domain?.boundTunnelId === 'string' && 'Its tunnel answers for it no more, from the next request on. '}
      {domain?.verified === true
        ? 'Another organization can verify it after 24 hours; yours can add it again at any time, with another record.'
        : 'It can be added again at any time, with another record.'}
    </Confirm>
  );
}
