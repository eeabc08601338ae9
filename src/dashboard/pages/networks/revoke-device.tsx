/** Confirms that a device is revoked. */
import { Stack, Text } from '@mantine/core';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { useAction } from '../../parts/action.ts';
import { NETWORKS } from './network-queries.ts';
import { type Device, isSelfRelayed, type Network, plainIp } from './network-labels.ts';

interface RevokeDeviceProps {
  readonly network: Network;
  readonly device: Device;
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function RevokeDevice({ network, device, opened, onClose }: RevokeDeviceProps) {
  const { client } = useApi();
  const revoke = useAction({
    run: () => {
      const path = { id: network.id, device_id: device.id };
      return answered(client.DELETE('/private-networks/{id}/devices/{device_id}', { params: { path } }));
    },
    touches: [NETWORKS],
    done: `${device.name} is revoked.`,
    onDone: onClose,
    tellsFailure: true,
  });
  return (
    <Confirm
      title={`Revoke the device ${device.name}?`}
      action="Revoke device"
      opened={opened}
      isBusy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate()}
      onClose={() => {
        revoke.reset();
        onClose();
      }}
    >
      <Stack gap="xs">
        <Text size="sm">
          {isSelfRelayed(network)
            ? 'It is blocked once WireGuard at the server of the network has its new config.'
            : 'It is cut off at once.'}{' '}
          Its address, {plainIp(device.assigned_ip)}, goes to the next device. To allow it again, enrol it again.
        </Text>
      </Stack>
    </Confirm>
  );
}
