/** Asks before a receiver is deleted with all that it holds. */
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { DeleteDialog } from '../../parts/delete-dialog.tsx';
import { countText } from '../../parts/format.ts';
import { RECEIVERS } from './receiver-queries.ts';
import type { Receiver } from './senders.ts';

interface DeleteReceiverProps {
  readonly receiver: Receiver;
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function DeleteReceiver({ receiver: { id, name, stored, waiting }, opened, onClose }: DeleteReceiverProps) {
  const { client } = useApi();
  const held =
    stored === 1 ? 'The delivery that it holds goes' : `The ${countText(stored)} deliveries that it holds go`;
  return (
    <DeleteDialog
      what="receiver"
      name={name}
      opened={opened}
      onClose={onClose}
      run={() => answered(client.DELETE('/webhook-receivers/{id}', { params: { path: { id } } }))}
      list="/webhooks"
      listKey={RECEIVERS}
      id={id}
    >
      Its address answers senders with 404 from now on. {stored > 0 && `${held} with it`}
      {stored > 0 && waiting > 0 && `, ${countText(waiting)} of which your service has not taken yet`}
      {stored > 0 && '.'}
    </DeleteDialog>
  );
}
