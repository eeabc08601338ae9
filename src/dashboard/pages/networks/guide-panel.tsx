/** The setup of a network, step by step, with the state of each step. */
import { Alert, Anchor, Button, Stack, Text, Timeline } from '@mantine/core';
import { IconCheck, IconNumber1, IconNumber2, IconNumber3, IconNumber4 } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { useApi, useMay } from '../../api/context.tsx';
import { CopyLine } from '../../parts/copy.tsx';
import { loginCommand, serverText } from '../../parts/connect/agent-command.ts';
import { Panel } from '../../parts/panel.tsx';
import { firstHost } from './addresses.ts';
import { ServerConfigDialog } from './config-dialog.tsx';
import { useDevices, useRelay } from './network-queries.ts';
import { devicesText, hasLostPort, isSelfRelayed, type Network, relayCommand } from './network-labels.ts';
import { ServerDialog } from './server-dialog.tsx';
import { fileNameOf } from './wireguard.ts';

interface Step {
  readonly title: string;
  readonly isDone: boolean;
  readonly content: ReactNode;
}

const NUMBERS = [IconNumber1, IconNumber2, IconNumber3, IconNumber4] as const;

export function GuidePanel({ network }: { readonly network: Network }) {
  const mayChange = useMay('member');
  const relay = useRelay(network.id);
  const devices = useDevices(network.id);
  const [dialog, setDialog] = useState<'server' | 'config'>();
  const close = (): void => setDialog(undefined);
  const hasServer = network.server_public_key !== null;
  const hasHandshake = devices.data?.some((one) => one.last_handshake_at !== null) ?? false;
  const isManaged = relay.data?.manages_peers ?? false;
  const open = { server: () => setDialog('server'), config: () => setDialog('config') };
  const steps: readonly Step[] = [
    {
      title: 'Choose the server machine',
      isDone: hasServer && !hasLostPort(network),
      content: <ServerStep network={network} onOpen={open.server} mayChange={mayChange} />,
    },
    {
      title: 'Start WireGuard',
      isDone: hasHandshake,
      content: hasServer && (
        <ConfigStep network={network} isDone={hasHandshake} isManaged={isManaged} onOpen={open.config} />
      ),
    },
    {
      title: isSelfRelayed(network) ? 'Open its port' : 'Run an agent',
      isDone: isSelfRelayed(network) ? hasHandshake : (relay.data?.online ?? false),
      content: hasServer && <AgentStep network={network} isOnline={relay.data?.online ?? false} />,
    },
    {
      title: 'Enroll devices',
      isDone: network.device_count > 0,
      content: hasServer && <DevicesStep count={network.device_count} />,
    },
  ];
  const current = steps.findIndex(({ isDone }) => !isDone);
  return (
    <Panel title="Setup">
      <Timeline bulletSize={26} lineWidth={2} active={steps.length}>
        {steps.map(({ title, isDone, content }, at) => {
          const Sign = isDone ? IconCheck : (NUMBERS[at] ?? IconCheck);
          return (
            <Timeline.Item
              key={title}
              title={title}
              color={isDone || at === current ? 'culvert' : 'gray.6'}
              aria-current={at === current ? 'step' : undefined}
              bullet={<Sign size={15} aria-label={isDone ? 'Done' : at === current ? 'Now' : 'To do'} role="img" />}
            >
              {content}
            </Timeline.Item>
          );
        })}
      </Timeline>
      <ServerDialog network={network} opened={dialog === 'server'} onClose={close} />
      <ServerConfigDialog network={network} opened={dialog === 'config'} onClose={close} />
    </Panel>
  );
}

interface StepProps {
  readonly network: Network;
  readonly onOpen: () => void;
}

function ServerStep({ network, onOpen, mayChange }: StepProps & { readonly mayChange: boolean }) {
  const { server_public_key: key, server_listen_port: port, public_endpoint: at, cidr } = network;
  if (key === null)
    return (
      <Stack gap="xs" align="flex-start">
        <Text size="sm" c="dimmed">
          Choose a machine with WireGuard that is always on, at home or in the office. It gets the address{' '}
          {firstHost(cidr)}; no inbound ports needed.
        </Text>
        {mayChange && <Button onClick={onOpen}>Register server</Button>}
      </Stack>
    );
  return (
    <Stack gap="xs" align="flex-start">
      {at === null ? (
        <Alert color="red" variant="light" w="100%">
          The operator of this server removed the UDP port of this network, so no device can connect. Register the
          server again. It gets another port, and devices need new configs.
        </Alert>
      ) : (
        <Text size="sm">
          Devices connect to <span className="culvert-mono">{at}</span>. WireGuard listens on UDP port {port}, as{' '}
          {firstHost(cidr)}, with the public key <span className="culvert-mono">{key}</span>.
        </Text>
      )}
      {mayChange && (
        <Button variant="default" onClick={onOpen}>
          {at === null ? 'Register server again' : 'Change server'}
        </Button>
      )}
    </Stack>
  );
}

interface ConfigStepProps extends StepProps {
  readonly isDone: boolean;
  /** The agent keeps the peers in step. */
  readonly isManaged: boolean;
}

function ConfigStep({ network, isDone, isManaged, onOpen }: ConfigStepProps) {
  const file = fileNameOf(network.name);
  return (
    <Stack gap="xs" align="flex-start">
      <Text size="sm" c="dimmed">
        {isDone && isManaged && 'The agent adds and removes devices by itself. Nothing has to be run here.'}
        {isDone && !isManaged && 'Its config lists all devices. Install it again after each new device.'}
        {!isDone && (
          <>
            With its config as <span className="culvert-mono">{file}</span>:{' '}
            <span className="culvert-mono">sudo wg-quick up ./{file}</span>. This step is done after the first handshake
            of a device.
          </>
        )}
      </Text>
      <Button variant="default" onClick={onOpen}>
        Show config
      </Button>
    </Stack>
  );
}

function AgentStep({ network, isOnline }: { readonly network: Network; readonly isOnline: boolean }) {
  const { url } = useApi();
  if (isSelfRelayed(network))
    return (
      <Text size="sm" c="dimmed">
        Forward UDP from {network.public_endpoint} to port {network.server_listen_port} of the machine. Traffic of this
        network does not pass through Culvert, so steps 2 and 3 stay open here.
      </Text>
    );
  if (isOnline)
    return (
      <Text size="sm" c="dimmed">
        Running: <span className="culvert-mono">{relayCommand(network)}</span>
      </Text>
    );
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        Log in once on that machine, or give the agent a key without a project, from{' '}
        <Anchor component={Link} href="/keys" inherit underline="always">
          Keys
        </Anchor>
        .
      </Text>
      <CopyLine value={loginCommand(url, 'posix')} what="the command to log in" />
      <Text size="sm" c="dimmed">
        Then:
      </Text>
      <CopyLine value={`${relayCommand(network)} --server ${serverText(url)}`} what="the agent command" />
    </Stack>
  );
}

function DevicesStep({ count }: { readonly count: number }) {
  return (
    <Text size="sm" c="dimmed">
      {count === 0 && 'Each phone, laptop or router gets a config, as a file or QR code. See Devices below.'}
      {count > 0 && `${devicesText(count)} ${count === 1 ? 'is' : 'are'} enrolled.`}
    </Text>
  );
}
