/** What an empty organization sees: from here to the first live tunnel. Each step says whether it is done. */
import { Card, Code, Group, Loader, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useApi, useMay } from '../../api/context.tsx';
import { ConnectAgent } from '../../parts/connect/connect-agent.tsx';
import { CopyLine } from '../../parts/copy.tsx';
import { copyCommand, firstState, isHere } from './first-state.ts';
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
            <ConnectAgent keyName="first tunnel" onShown={() => setCommand(true)} />
          </Step>
        </>
      )}
      <div role="status">
        {state.kind === 'live' ? (
          <LiveNow tunnel={state.tunnel} onDone={onDone} />
        ) : (
          <Step number={3} title="See it live" isDone={false}>
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
        Once the command runs, its address is here.
      </Text>
    );
  return (
    <Group gap="sm" wrap="nowrap">
      <Loader size="sm" type="dots" aria-hidden />
      <Text size="sm">
        {whence === undefined
          ? 'Waiting for the agent …'
          : `An agent is connected from ${whence}. Waiting for its tunnel … Its own output says what holds it up.`}
      </Text>
    </Group>
  );
}

function Watching() {
  return (
    <Text size="sm" c="dimmed">
      This organization has not published anything yet.
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
        On the machine where your service runs. It is the same single file as the server. See whether it is there
        already:
      </Text>
      <CopyLine value="culvert --version" what="the command that says the version" />
      {here ? (
        <Text size="sm" c="dimmed">
          The server runs on this machine, so its program is here too: <Code>dist/culvert</Code> where it was built, or{' '}
          <Code>/usr/local/bin/culvert</Code> once it is installed.
        </Text>
      ) : (
        <>
          <Text size="sm">
            If it is not: from the server, to a machine with the same system and processor. Your operator can also give
            you the file.
          </Text>
          <CopyLine value={copyCommand(url)} what="the command that copies the program" />
          <Text size="sm" c="dimmed">
            Elsewhere, and on Windows, build it from the source: <Code>npm ci && npm run build</Code> makes{' '}
            <Code>dist/culvert</Code>.
          </Text>
        </>
      )}
    </Stack>
  );
}
