/** Tunnels: the list of what is published, live, and the way to the next one. */
import { Button } from '@mantine/core';
import { IconWorld, IconZoom } from '@tabler/icons-react';
import { useSearchParams } from 'wouter';
import type { Tunnel } from '../../api/types.ts';
import { ConnectButton } from '../../parts/connect-dialog.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { useNow } from '../../parts/now.ts';
import { Page } from '../../parts/page.tsx';
import { ListFilters } from './list-filters.tsx';
import { NewTunnel } from './new-tunnel.tsx';
import { choiceIn, chosen, countsByState, type ListChoice, paramsOf } from './tunnel-list.ts';
import { useProjects, useTunnels } from './tunnel-queries.ts';
import { TunnelTable } from './tunnel-table.tsx';

/** How late a tunnel is said to have expired. */
const LOOK_MS = 5000;

export function TunnelsPage() {
  const tunnels = useTunnels();
  return (
    <Page
      title="Tunnels"
      about="Public names, and the services on your machines that answer there."
      actions={<NewTunnel />}
    >
      <Loaded query={tunnels}>{(all) => (all.length === 0 ? <NoTunnels /> : <List all={all} />)}</Loaded>
    </Page>
  );
}

function List({ all }: { readonly all: readonly Tunnel[] }) {
  const projects = useProjects().data ?? [];
  const now = useNow(LOOK_MS);
  const [params, setParams] = useSearchParams();
  const choice = choiceIn(params);
  const choose = (next: ListChoice): void => setParams(paramsOf(next), { replace: true });
  const found = chosen(all, choice, now);
  return (
    <>
      <ListFilters choice={choice} counts={countsByState(all, now)} projects={projects} onChange={choose} />
      {found.length === 0 ? (
        <Empty
          icon={IconZoom}
          title="No tunnel is like that"
          action={
            <Button
              variant="default"
              onClick={() => choose({ search: '', state: null, project: null, sort: choice.sort })}
            >
              Show all {all.length}
            </Button>
          }
        />
      ) : (
        <TunnelTable tunnels={found} now={now} hasProjects={projects.length > 1} />
      )}
    </>
  );
}

function NoTunnels() {
  return (
    <Empty icon={IconWorld} title="Nothing is published yet" action={<ConnectButton />}>
      An agent beside your service opens a tunnel by itself: one command is enough. Or create a tunnel here first, to
      keep its name and to require a password from the first visit.
    </Empty>
  );
}
