/** Asks before a receiver is deleted with all that it holds. */
import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { useDeed } from '../../parts/deed.ts';
import { countText } from '../../parts/words.ts';
import { RECEIVERS } from './receiver-queries.ts';
import type { Receiver } from './senders.ts';

interface DeleteReceiverProps {
  readonly receiver: Receiver;
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function DeleteReceiver({ receiver: { id, name, stored, waiting }, opened, onClose }: DeleteReceiverProps) {
  const { client } = useApi();
  const queries = useQueryClient();
  const [, go] = useLocation();
  const remove = useDeed({
    run: () => answered(client.DELETE('/webhook-receivers/{id}', { params: { path: { id } } })),
    done: `The receiver ${name} is deleted.`,
    onDone: () => {
      go('/webhooks');
      queries.removeQueries({ queryKey: [...RECEIVERS, id] });
      void queries.invalidateQueries({ queryKey: RECEIVERS, exact: true });
    },
    tellsFailure: true,
  });
  const held =
    stored === 1 ? 'The delivery that it holds goes' : `The ${countText(stored)} deliveries that it holds go`;
  return (
    <Confirm
      title={`Delete the receiver ${name}?`}
      deed="Delete receiver"
      opened={opened}
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={() => {
        remove.reset();
        onClose();
      }}
    >
      Its address answers senders with 404 from now on. {stored > 0 && `${held} with it`}
      {stored > 0 && waiting > 0 && `, ${countText(waiting)} of which your service has not taken yet`}
      {stored > 0 && '.'}
    </Confirm>
  );
}
