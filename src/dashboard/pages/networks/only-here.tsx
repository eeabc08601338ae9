/** Warns, before a config is scanned, that the server's public name is localhost: configs would lead each device to itself. */
import { Alert, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { isOnlyHere, isSelfRelayed, type Network } from './network-labels.ts';

interface OnlyHereProps {
  readonly network: Network;
  /** Beside what was said in full before. */
  readonly isBrief?: boolean;
}

export function OnlyHere({ network, isBrief = false }: OnlyHereProps) {
  if (!isOnlyHere(network)) return null;
  return (
    <Alert color="yellow" variant="light" icon={<IconAlertTriangle size={18} />} role="status">
      <Text size="sm">
        No other machine can connect: in the configs, the server&apos;s address is{' '}
        <span className="culvert-mono">{network.public_endpoint}</span>, the device itself.{' '}
        {isSelfRelayed(network) && !isBrief && 'Change the server of the network and set a public endpoint.'}
        {!isSelfRelayed(network) && !isBrief && (
          <>
            This server has no public name yet. Its operator must set{' '}
            <span className="culvert-mono">edge.tcp_public_host</span> and{' '}
            <span className="culvert-mono">edge.udp_host</span>. Then create the configs again.
          </>
        )}
      </Text>
    </Alert>
  );
}
