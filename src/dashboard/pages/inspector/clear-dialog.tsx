/** Forgets what was recorded of a tunnel. */
import { Select, Stack } from '@mantine/core';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { useAction } from '../../parts/action.ts';
import type { Tunnels } from './tunnels.ts';

interface ClearDialogProps {
  readonly tunnels: Tunnels;
  /** The one that the list is of. */
  readonly tunnel: string | undefined;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onCleared: () => void;
}

export function ClearDialog(props: ClearDialogProps) {
  return props.opened ? <Asked {...props} /> : null;
}

function Asked({ tunnels, tunnel, opened, onClose, onCleared }: ClearDialogProps) {
  const { client } = useApi();
  const [chosen, setChosen] = useState(tunnel ?? null);
  const [isMissing, setMissing] = useState(false);
  const clear = useAction({
    run: (id: string) => answered(client.DELETE('/inspector', { params: { query: { tunnel_id: id } } })),
    done: 'The recorded requests are deleted.',
    touches: [['inspector']],
    onDone: () => {
      onCleared();
      onClose();
    },
    tellsFailure: true,
  });
  const name = chosen === null ? undefined : tunnels.nameOf(chosen);
  return (
    <Confirm
      title={
        name === undefined ? 'Delete the recorded requests of a tunnel?' : `Delete the recorded requests of ${name}?`
      }
      action="Delete recorded requests"
      opened={opened}
      isBusy={clear.isPending}
      error={clear.error}
      onConfirm={() => (chosen === null ? setMissing(true) : clear.mutate(chosen))}
      onClose={onClose}
    >
      <Stack gap="sm">
        <span>
          All recorded requests of the tunnel are deleted for the whole organization, with their bodies. Recording
          continues.
        </span>
        <Select
          label="Tunnel"
          searchable
          data={tunnels.all.map(({ id, subdomain }) => ({ value: id, label: subdomain }))}
          value={chosen}
          error={isMissing && chosen === null ? 'Choose the tunnel.' : undefined}
          onChange={setChosen}
        />
      </Stack>
    </Confirm>
  );
}
