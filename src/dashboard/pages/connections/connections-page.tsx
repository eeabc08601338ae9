/** The agents of the organization: those that are connected, and how the last ones ended. */
import { ConnectButton } from '../../parts/connect/connect-agent.tsx';
import { Page } from '../../parts/page.tsx';
import { useConnections } from './connection-queries.ts';
import { EndedPanel } from './ended-panel.tsx';
import { LivePanel } from './live-panel.tsx';

export function ConnectionsPage() {
  // An empty list offers the same by itself.
  const isEmpty = useConnections().data?.length === 0;
  return (
    <Page
      title="Connections"
      about="Agents connected from your machines. Each agent has one connection for all its tunnels."
      actions={isEmpty ? undefined : <ConnectButton />}
    >
      <LivePanel />
      <EndedPanel />
    </Page>
  );
}
