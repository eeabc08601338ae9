/** The steps to a first live tunnel, for an organization without tunnels. */
import { Card, Code, Group, Loader, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useApi, useMay } from '../../api/context.tsx';
import { ConnectAgent } from '../../parts/connect/connect-agent.tsx';
import { InstallLine } from '../../parts/connect/install-line.tsx';
import { CopyLine } from '../../parts/copy.tsx';
import { firstState, isHere } from './first-state.ts';
import { LiveNow } from './live-now.tsx';
import { useConnections, useTunnels, WAITING_MS } from './overview-queries.ts';

/** `onDone`: they have seen it work. */
export function FirstTunnel({ onDone }: { readonly onDone: () => void }) {
  const tunnels = useTunnels(WAITING_MS).data ?? [];
  const connections = useConnections(WAITING_MS).data ?? [];
  const mayPublish = useMay('member');
  const [hasCommand, setCommand] = useState(false);
  const state = firstState({ tunnels, connections });
  const isLive = state.kind === 'live';
  return (
    <Stack gap="md">
      {!isLive && (
        <>
          <Step number={1} title="Get culvert" isDone={state.kind === 'connected'}>
            <GetCulvert />
          </Step>
          <Step number={2} title="Connect your service" isDone={state.kind === 'connected'}>
            <ConnectAgent keyName="first tunnel" hasInstall={false} onShown={() => setCommand(true)} />
          </Step>
        </>
      )}
      <div role="status">
        {state.kind === 'live' ? (
          <LiveNow tunnel={state.tunnel} onDone={onDone} />
        ) : (
          <Step number={3} title="Open your tunnel" isDone={false}>
            {mayPublish || state.kind === 'connected' ? (
              <Waiting whence={whenceOf(state)} hasCommand={hasCommand} />
            ) : (
              <Watching />
            )}
          </Step>
        )}
      </div>
    </Stack>
  );
}

function whenceOf(state: ReturnType<typeof firstState>): string | undefined {
  return state.kind === 'connected' ? state.whence : undefined;
}

interface WaitingProps {
  /** From where an agent is connected. */
  readonly whence: string | undefined;
  /** There is a command to run: something can come. */
  readonly hasCommand: boolean;
}

function Waiting({ whence, hasCommand }: WaitingProps) {
  if (whence === undefined && !hasCommand)
    return (
      <Text size="sm" c="dimmed">
        When the command runs, the public URL appears here.
      </Text>
    );
  return (
    <Group gap="sm" wrap="nowrap">
      <Loader size="sm" type="dots" aria-hidden />
      <Text size="sm">
        {whence === undefined
          ? 'Waiting for the agent …'
          : `An agent is connected from ${whence}. Waiting for its tunnel … See the agent's output for the reason.`}
      </Text>
    </Group>
  );
}

function Watching() {
  return (
    <Text size="sm" c="dimmed">
      This organization has no tunnels yet.
    </Text>
  );
}

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly isDone: boolean;
  readonly children: ReactNode;
}

function Step({ number, title, isDone, children }: StepProps) {
  return (
    <Card withBorder component="section" aria-label={title} className="culvert-panel">
      <Stack gap="sm">
        <Group gap="sm" wrap="nowrap">
          <ThemeIcon size={28} radius="xl" variant={isDone ? 'filled' : 'light'} aria-hidden>
            {isDone ? <IconCheck size={16} /> : <span>{number}</span>}
          </ThemeIcon>
          <Title order={2} size="h5">
            {title}
          </Title>
        </Group>
        {children}
      </Stack>
    </Card>
  );
}

/** How the program comes to the machine of the service. */
function GetCulvert() {
  const { url } = useApi();
  const here = isHere(url);
  return (
    <Stack gap={6}>
      <Text size="sm">
        Install culvert on the machine where your service runs. It is the same file as the server. Check if it is
        installed:
      </Text>
      <CopyLine value="culvert --version" what="the version command" />
      {here ? (
        <Text size="sm" c="dimmed">
          The server runs on this machine, so the program is here: <Code>dist/culvert</Code> in the build folder, or{' '}
          <Code>/usr/local/bin/culvert</Code> after installation.
        </Text>
      ) : (
        <InstallLine />
      )}
    </Stack>
  );
}
