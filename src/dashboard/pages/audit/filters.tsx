/** Narrows the audit log: what, who, since when. */
import { Group, Select, TextInput } from '@mantine/core';
import type { ChangeEvent } from 'react';
import { actionChoices } from './actions.ts';
import type { Filter, Scope } from './audit-log.ts';

interface FiltersProps {
  readonly scope: Scope;
  readonly filter: Filter;
  readonly onChange: (filter: Filter) => void;
}

const CHOICES = actionChoices();
const SIZES = ['50', '100', '500', '1000'];

export function Filters({ scope, filter, onChange }: FiltersProps) {
  const typed = (key: 'actor' | 'org' | 'from') => ({
    value: filter[key],
    onChange: (event: ChangeEvent<HTMLInputElement>) => onChange({ ...filter, [key]: event.currentTarget.value }),
  });
  return (
    <Group gap="sm" align="flex-end">
      <Select
        label="Action"
        placeholder="All actions"
        data={CHOICES}
        value={filter.action}
        onChange={(action) => onChange({ ...filter, action })}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'All actions' }}
        nothingFoundMessage="No actions found"
        flex="1 1 150px"
      />
      <TextInput label="Actor" placeholder="Email or key name" {...typed('actor')} flex="1 1 150px" />
      {scope === 'server' && (
        <TextInput label="Organization" placeholder="Slug or id" {...typed('org')} flex="1 1 120px" />
      )}
      <TextInput label="Since" type="date" {...typed('from')} flex="1 1 140px" />
      <Select
        label="Per page"
        data={SIZES}
        value={String(filter.limit)}
        onChange={(limit) => onChange({ ...filter, limit: Number(limit ?? '50') })}
        allowDeselect={false}
        flex="0 0 90px"
      />
    </Group>
  );
}
