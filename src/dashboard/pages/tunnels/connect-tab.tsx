/** The command that connects an agent to this tunnel. */
import { Alert, Stack } from '@mantine/core';
import { Panel } from '../../parts/panel.tsx';
import { ConnectCommand } from '../../parts/connect/connect-command.tsx';
import { type TunnelDetail, useProjects } from './tunnel-queries.ts';
import { isShut } from './tunnel-state.ts';

interface ConnectTabProps {
  readonly tunnel: TunnelDetail;
  /** Unix milliseconds. */
  readonly now: number;
}

export function ConnectTab({ tunnel, now }: ConnectTabProps) {
  return (
    <Stack gap="md">
      {isShut(tunnel, now) && (
        <Alert color="yellow" role="status">
          Start the tunnel first. Until then, agents can&apos;t connect.
        </Alert>
      )}
      <ConnectPanel
        tunnel={tunnel}
        title="Connect an agent"
        about="Run this on the machine of your service. A new agent replaces the current one."
      />
    </Stack>
  );
}

interface ConnectPanelProps {
  readonly tunnel: TunnelDetail;
  readonly title: string;
  readonly about: string;
}

export function ConnectPanel({ tunnel, title, about }: ConnectPanelProps) {
  const { protocol, localPort, subdomain, projectSlug, startCommand } = tunnel;
  const project = useProjects().data?.find(({ slug }) => slug === projectSlug);
  return (
    <Panel title={title} about={about}>
      <ConnectCommand
        protocol={protocol}
        localPort={localPort}
        subdomain={subdomain}
        project={project === undefined || project.isDefault ? undefined : project.slug}
        keyName={subdomain}
        start={startCommand}
      />
    </Panel>
  );
}
