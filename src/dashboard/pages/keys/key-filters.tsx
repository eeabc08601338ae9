/** Which keys the table shows. */
import { Select, SimpleGrid, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import type { KeyFilter } from './key-state.ts';
import { KIND_WORDS } from './key-labels.ts';

interface KeyFiltersProps {
  readonly filter: KeyFilter;
  readonly onFilter: (filter: KeyFilter) => void;
}

const KINDS = [
  { value: 'all', label: 'All kinds' },
  ...Object.entries(KIND_WORDS).map(([value, label]) => ({ value, label })),
];
const STATES = [
  { value: 'live', label: 'Live' },
  { value: 'expired', label: 'Expired' },
  { value: 'revoked', label: 'Revoked' },
  { value: 'all', label: 'Live and ended' },
];

export function KeyFilters({ filter, onFilter }: KeyFiltersProps) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="xs" verticalSpacing="xs" maw={720}>
      <TextInput
        aria-label="Search keys"
        placeholder="Name, project or ID"
        leftSection={<IconSearch size={16} />}
        value={filter.text}
        onChange={(event) => onFilter({ ...filter, text: event.currentTarget.value })}
      />
      <Select
        aria-label="Kind"
        data={KINDS}
        allowDeselect={false}
        value={filter.kind}
        onChange={(value) => onFilter({ ...filter, kind: (value ?? 'all') as KeyFilter['kind'] })}
      />
      <Select
        aria-label="State"
        data={STATES}
        allowDeselect={false}
        value={filter.state}
        onChange={(value) => onFilter({ ...filter, state: (value ?? 'live') as KeyFilter['state'] })}
      />
    </SimpleGrid>
  );
}
