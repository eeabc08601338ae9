/** Asks before a network is deleted: everybody in it loses it at once. */
import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { useDeed } from '../../parts/deed.ts';
import { NETWORKS } from './network-queries.ts';
import { devicesText, isSelfRelayed, type Network } from './network-words.ts';

interface DeleteNetworkProps {
  readonly network: Network;
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function DeleteNetwork({ network, opened, onClose }: DeleteNetworkProps) {
  const { client } = useApi();
  const queries = useQueryClient();
  const [, go] = useLocation();
  const { id, name, device_count: devices } = network;
  const remove = useDeed({
    run: () => answered(client.DELETE('/private-networks/{id}', { params: { path: { id } } })),
    done: `The network ${name} is deleted.`,
    onDone: () => {
      go('/networks');
      queries.removeQueries({ queryKey: [...NETWORKS, id] });
      void queries.invalidateQueries({ queryKey: NETWORKS, exact: true });
    },
    tellsFailure: true,
  });
  const end = isSelfRelayed(network)
    ? 'WireGuard on its machines goes on until you stop it there.'
    : 'Its relay ends at once, and its UDP port is free for another network.';
  return (
    <Confirm
      title={`Delete the network ${name}?`}
      deed="Delete network"
      opened={opened}
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={() => {
        remove.reset();
        onClose();
      }}
    >
      {devices === 0
        ? 'It has no devices.'
        : `${devicesText(devices)} ${devices === 1 ? 'loses' : 'lose'} access, and must be enrolled anew in another network.`}{' '}
      {end}
    </Confirm>
  );
}
