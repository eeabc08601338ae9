/** Confirms that a network is deleted: its devices lose it at once. */
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { DeleteDialog } from '../../parts/delete-dialog.tsx';
import { NETWORKS } from './network-queries.ts';
import { devicesText, isSelfRelayed, type Network } from './network-labels.ts';

interface DeleteNetworkProps {
  readonly network: Network;
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function DeleteNetwork({ network, opened, onClose }: DeleteNetworkProps) {
  const { client } = useApi();
  const { id, name, device_count: devices } = network;
  const end = isSelfRelayed(network)
    ? 'WireGuard on its machines goes on until you stop it there.'
    : 'Its relay ends at once, and its UDP port is free for another network.';
  return (
    <DeleteDialog
      what="network"
      name={name}
      opened={opened}
      onClose={onClose}
      run={() => answered(client.DELETE('/private-networks/{id}', { params: { path: { id } } }))}
      list="/networks"
      listKey={NETWORKS}
      id={id}
    >
      {devices === 0
        ? 'It has no devices.'
        : `${devicesText(devices)} ${devices === 1 ? 'loses' : 'lose'} access, and must be enrolled anew in another network.`}{' '}
      {end}
    </DeleteDialog>
  );
}
