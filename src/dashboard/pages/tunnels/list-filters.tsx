/** Search, state, project and order of a list of tunnels. */
import { CloseButton, Group, Select, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import type { Schemas } from '../../api/types.ts';
import { type ListChoice, type Sort, SORTS } from './tunnel-list.ts';
import { STATE_ORDER, STATES, type TunnelState } from './tunnel-state.ts';

interface ListFiltersProps {
  readonly choice: ListChoice;
  readonly counts: Readonly<Record<TunnelState, number>>;
  readonly projects: ReadonlyArray<Schemas['Project']>;
  readonly onChange: (choice: ListChoice) => void;
}

export function ListFilters({ choice, counts, projects, onChange }: ListFiltersProps) {
  const { search, state, project, sort } = choice;
  return (
    <Group gap="sm" className="culvert-tunnels-filters">
      <TextInput
        value={search}
        onChange={(event) => onChange({ ...choice, search: event.currentTarget.value })}
        placeholder="Name, address or port"
        aria-label="Search tunnels"
        leftSection={<IconSearch size={16} aria-hidden />}
        rightSection={
          search !== '' && (
            <CloseButton size="sm" aria-label="Clear the search" onClick={() => onChange({ ...choice, search: '' })} />
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
