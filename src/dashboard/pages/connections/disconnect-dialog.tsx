/** Confirms that an agent is disconnected, and asks for a reason, which the agent shows. */
import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { useAction } from '../../parts/action.ts';

interface DisconnectDialogProps {
  /** Undefined: no agent was chosen yet. */
  readonly connection: Schemas['Connection'] | undefined;
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function DisconnectDialog({ connection, opened, onClose }: DisconnectDialogProps) {
  const { client } = useApi();
  const [reason, setReason] = useState('');
  const close = (): void => {
    setReason('');
    action.reset();
    onClose();
  };
  const action = useAction({
    run: ({ agent_id: id }: Schemas['Connection']) => {
      const why = reason.trim();
      return answered(
        client.DELETE('/connections/{id}', { params: { path: { id } }, body: why === '' ? {} : { reason: why } }),
      );
    },
    done: 'The agent was disconnected.',
    touches: [['connections'], ['tunnels']],
    onDone: close,
    tellsFailure: true,
  });
  const name = connection?.hostname || connection?.remote_ip || '';
  return (
    <Confirm
      title={`Disconnect ${name}?`}
      action="Disconnect"
      opened={opened}
      isBusy={action.isPending}
      error={action.error}
      onConfirm={() => connection !== undefined && action.mutate(connection)}
      onClose={close}
    >
      <p>
        Requests that it works on are cut off. It comes back in about 5 seconds; to keep it away, revoke its key
        {connection?.token_name === null || connection === undefined ? '' : ` ${connection.token_name}`} as well.
      </p>
      <TextInput
        label="Reason (optional)"
        description="The agent shows it, and the audit log keeps it."
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        maxLength={200}
      />
    </Confirm>
  );
}
