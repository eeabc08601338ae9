/** The config of a network's server or of a device as the server renders it: with a placeholder where the private key belongs, which it does not have. */
import { Group, Modal, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { CopyLine } from '../../parts/copy.tsx';
import { DownloadButton } from '../../parts/download.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { NETWORKS, useRelay } from './network-queries.ts';
import { addPeerCommand, type Device, type Network, plainIp, syncCommand } from './network-labels.ts';
import { OnlyHere } from './only-here.tsx';
import { fileNameOf } from './wireguard.ts';

/** Never from before: a device may have come, or the server another port. */
const FRESH = { staleTime: 0, gcTime: 0 } as const;

export function useServerConfig({ id }: Network) {
  const { client } = useApi();
  return useQuery({
    ...FRESH,
    queryKey: [...NETWORKS, id, 'server-config'],
    queryFn: async ({ signal }) => {
      const call = client.GET('/private-networks/{id}/server-config', { params: { path: { id } }, signal });
      return (await answered(call)).config;
    },
  });
}

export function useDeviceConfig({ id }: Network, { id: deviceId }: Device) {
  const { client } = useApi();
  return useQuery({
    ...FRESH,
    queryKey: [...NETWORKS, id, 'devices', deviceId, 'config'],
    queryFn: async ({ signal }) => {
      const path = { id, device_id: deviceId };
      const call = client.GET('/private-networks/{id}/devices/{device_id}/config', { params: { path }, signal });
      return (await answered(call)).config;
    },
  });
}

interface ServerConfigDialogProps {
  readonly network: Network;
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function ServerConfigDialog({ network, opened, onClose }: ServerConfigDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={`Server config for ${network.name}`} size="lg">
      <ServerConfig network={network} />
    </Modal>
  );
}

function ServerConfig({ network }: { readonly network: Network }) {
  const file = fileNameOf(network.name);
  return (
    <Loaded query={useServerConfig(network)}>
      {(config) => (
        <Stack gap="sm">
          <Text size="sm">
            For <span className="culvert-mono">{file}</span> on its machine. Replace{' '}
            <span className="culvert-mono">REPLACE_WITH_PRIVATE_KEY</span> with the private key, which Culvert does not
            have.
          </Text>
          <CopyLine value={config} what="the config" />
          <Group>
            <DownloadButton text={config} name={file}>{`Download ${file}`}</DownloadButton>
          </Group>
          <Text size="sm">If WireGuard is already running, apply the changes without disconnecting peers:</Text>
          <CopyLine value={syncCommand(network)} what="the command" />
        </Stack>
      )}
    </Loaded>
  );
}

interface OfDevice {
  readonly network: Network;
  readonly device: Device;
}

interface DeviceConfigDialogProps extends OfDevice {
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function DeviceConfigDialog({ network, device, opened, onClose }: DeviceConfigDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={`Config for ${device.name}`} size="lg">
      <DeviceConfig network={network} device={device} />
    </Modal>
  );
}

export function DeviceConfig({ network, device }: OfDevice) {
  const file = fileNameOf(network.name);
  return (
    <Loaded query={useDeviceConfig(network, device)}>
      {(config) => (
        <Stack gap="sm">
          <OnlyHere network={network} isBrief />
          <Text size="sm">
            The private key exists only on the device. Replace{' '}
            <span className="culvert-mono">REPLACE_WITH_PRIVATE_KEY</span> with it. If the key is lost, revoke the
            device and enroll it again.
          </Text>
          <CopyLine value={config} what="the config" />
          <Group>
            <DownloadButton text={config} name={file}>{`Download ${file}`}</DownloadButton>
          </Group>
          <AddPeer network={network} device={device} />
        </Stack>
      )}
    </Loaded>
  );
}

/** WireGuard at the network's server accepts only the peers in its config. */
export function AddPeer({ network, device }: OfDevice) {
  const relay = useRelay(network.id);
  if (relay.data?.manages_peers === true)
    return (
      <Text size="sm" c="dimmed">
        The agent on the network&apos;s server adds {device.name} ({plainIp(device.assigned_ip)}) by itself. Nothing has
        to be run there.
      </Text>
    );
  return (
    <Stack gap={4}>
      <Text size="sm">
        On the network&apos;s server, allow {device.name} in WireGuard ({plainIp(device.assigned_ip)}):
      </Text>
      <CopyLine value={addPeerCommand(network, device)} what="the command for the server" />
      <Text size="xs" c="dimmed">
        This lasts until WireGuard restarts there. To keep it, install the server&apos;s config from Setup.
      </Text>
    </Stack>
  );
}
