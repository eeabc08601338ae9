/** The result of an enrolment: the device's config, complete where the keys were made here, and the command for the network's server. */
import { Button, Group, Stack } from '@mantine/core';
import { AddPeer, DeviceConfig, useDeviceConfig } from './config-dialog.tsx';
import { FinishedConfig } from './finished-config.tsx';
import type { Device, Network } from './network-labels.ts';
import { OnlyHere } from './only-here.tsx';
import { fileNameOf } from './wireguard-config.ts';

export interface Enrolled {
  readonly device: Device;
  /** Undefined: it is on the device. */
  readonly privateKey: string | undefined;
}

interface EnrolledDeviceProps {
  readonly network: Network;
  readonly enrolled: Enrolled;
  readonly onClose: () => void;
}

export function EnrolledDevice({ network, enrolled: { device, privateKey }, onClose }: EnrolledDeviceProps) {
  if (privateKey !== undefined)
    return (
      <Stack>
        <OnlyHere network={network} isBrief />
        <Finished network={network} device={device} privateKey={privateKey} onClose={onClose} />
      </Stack>
    );
  return (
    <Stack>
      <DeviceConfig network={network} device={device} />
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}

interface FinishedProps {
  readonly network: Network;
  readonly device: Device;
  readonly privateKey: string;
  readonly onClose: () => void;
}

function Finished({ network, device, privateKey, onClose }: FinishedProps) {
  const file = fileNameOf(network.name);
  return (
    <FinishedConfig
      query={useDeviceConfig(network, device)}
      privateKey={privateKey}
      fileName={file}
      qr
      command={`chmod 600 ./${file} && sudo wg-quick up ./${file}`}
      onClose={onClose}
    >
      <AddPeer network={network} device={device} />
    </FinishedConfig>
  );
}
