/** Filters of the audit log: action, actor, first and last day. */
import { Group, Select, TextInput } from '@mantine/core';
import type { ChangeEvent } from 'react';
import { actionChoices } from './actions.ts';
import type { Scope } from './audit-log.ts';
import { type Filter, SIZES } from './filter.ts';

interface FiltersProps {
  readonly scope: Scope;
  readonly filter: Filter;
  readonly onChange: (filter: Filter) => void;
}

const CHOICES = actionChoices();

export function Filters({ scope, filter, onChange }: FiltersProps) {
  const typed = (key: 'actor' | 'org' | 'since' | 'until') => ({
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
      <TextInput label="Since" type="date" {...typed('since')} flex="1 1 130px" />
      <TextInput label="Until" type="date" {...typed('until')} flex="1 1 130px" />
      <Select
        label="Per page"
        data={SIZES.map(String)}
        value={String(filter.limit)}
        onChange={(limit) => onChange({ ...filter, limit: Number(limit ?? '50') })}
        allowDeselect={false}
        flex="0 0 90px"
      />
    </Group>
  );
}
