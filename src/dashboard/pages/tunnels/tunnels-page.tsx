/** The tunnels page: the list, its filters, and the way to a new tunnel. */
import { Button, CloseButton, Group, Select, TextInput } from '@mantine/core';
import { IconSearch, IconWorld, IconZoom } from '@tabler/icons-react';
import { useSearchParams } from 'wouter';
import type { Schemas, Tunnel } from '../../api/types.ts';
import { ConnectButton } from '../../parts/connect/connect-agent.tsx';
import { Empty } from '../../parts/empty.tsx';
import { focusMain } from '../../parts/focus.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { useNow } from '../../parts/time/now.ts';
import { Page } from '../../parts/page.tsx';
import { NewTunnel } from './new-tunnel.tsx';
import { choiceIn, chosen, countsByState, type ListChoice, paramsOf, type Sort, SORTS } from './tunnel-list.ts';
import { useProjects, useTunnels } from './tunnel-queries.ts';
import { STATE_ORDER, STATES, type TunnelState } from './tunnel-state.ts';
import { TunnelTable } from './tunnel-table.tsx';

/** How late a tunnel is said to have expired. */
const LOOK_MS = 5000;

export function TunnelsPage() {
  const tunnels = useTunnels();
  return (
    <Page title="Tunnels" about="Public URLs of services on your machines." actions={<NewTunnel />}>
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
          title="No tunnels match"
          action={
            <Button
              variant="default"
              onClick={() => {
                choose({ search: '', state: null, project: null, sort: choice.sort });
                focusMain();
              }}
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
    <Empty icon={IconWorld} title="No tunnels yet" action={<ConnectButton />}>
      Run an agent on the machine of your service: one command opens a tunnel. Or create a tunnel here first, to set its
      name and access control before it goes online.
    </Empty>
  );
}

interface ListFiltersProps {
  readonly choice: ListChoice;
  readonly counts: Readonly<Record<TunnelState, number>>;
  readonly projects: ReadonlyArray<Schemas['Project']>;
  readonly onChange: (choice: ListChoice) => void;
}

/** Search, state, project and order of a list of tunnels. */
function ListFilters({ choice, counts, projects, onChange }: ListFiltersProps) {
  const { search, state, project, sort } = choice;
  return (
    <Group gap="sm" className="culvert-tunnels-filters">
      <TextInput
        value={search}
        onChange={(event) => onChange({ ...choice, search: event.currentTarget.value })}
        placeholder="Name, URL or port"
        aria-label="Search tunnels"
        leftSection={<IconSearch size={16} aria-hidden />}
        rightSection={
          search !== '' && (
            <CloseButton size="sm" aria-label="Clear search" onClick={() => onChange({ ...choice, search: '' })} />
          )
        }
      />
      <Select
        value={state}
        onChange={(next: TunnelState | null) => onChange({ ...choice, state: next })}
        data={STATE_ORDER.map((value) => ({ value, label: `${STATES[value].word} (${counts[value]})` }))}
        placeholder="Any state"
        aria-label="State"
        clearable
        clearButtonProps={{ 'aria-label': 'Any state' }}
      />
      {projects.length > 1 && (
        <Select
          value={project}
          onChange={(next) => onChange({ ...choice, project: next })}
          data={projects.map(({ slug, name }) => ({ value: slug, label: name === '' ? slug : name }))}
          placeholder="Any project"
          aria-label="Project"
          searchable={projects.length > 8}
          clearable
          clearButtonProps={{ 'aria-label': 'Any project' }}
        />
      )}
      <Select
        value={sort}
        onChange={(next: Sort | null) => onChange({ ...choice, sort: next ?? 'newest' })}
        data={Object.entries(SORTS).map(([value, label]) => ({ value: value as Sort, label }))}
        aria-label="Order"
        allowDeselect={false}
      />
    </Group>
  );
}
