/** The filters of the request list. They are in the page's address, so that a view can be shared. */
import { ActionIcon, Button, Pill, Select, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconFilter, IconFilterOff } from '@tabler/icons-react';
import { useRef } from 'react';
import { useShortcuts } from '../keyboard/shortcuts.ts';
import { visibleText } from '../visible-text.ts';
import { type Filter, isFiltered, SPANS } from './filter.ts';
import { SavedFilters } from './saved-filters.tsx';
import { SearchField } from './search-field.tsx';
import { TimeRange } from './time-range.tsx';
import type { Tunnels } from '../tunnels.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
const STATUSES = [
  { value: '2xx', label: '2xx success' },
  { value: '3xx', label: '3xx redirect' },
  { value: '4xx', label: '4xx client error' },
  { value: '5xx', label: '5xx server error' },
  { value: '0', label: 'no response' },
];
const OUTCOMES = [
  { value: 'forwarded', label: 'Forwarded' },
  { value: 'refused', label: 'Blocked' },
  { value: 'failed', label: 'No full response' },
];
const SPAN_WORDS: Readonly<Record<string, string>> = {
  '15m': 'Last 15 minutes',
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
};

/** Filters without a field of their own: they come by words. */
const PILLS: ReadonlyArray<{ readonly name: keyof Filter; readonly label: string }> = [
  { name: 'address', label: 'Visitor' },
  { name: 'header', label: 'Header' },
  { name: 'body', label: 'Body contains' },
  { name: 'minMs', label: 'At least ms:' },
  { name: 'maxMs', label: 'At most ms:' },
  { name: 'trace', label: 'Trace' },
  { name: 'replayOf', label: 'Replays of one request' },
];

interface FilterBarProps {
  readonly filter: Filter;
  readonly tunnels: Tunnels;
  /** `isTyped`: with each key. */
  readonly onChange: (filter: Filter, isTyped?: boolean) => void;
}

export function FilterBar({ filter, tunnels, onChange }: FilterBarProps) {
  const [isOpen, { toggle }] = useDisclosure(false);
  const set = (name: keyof Filter) => (value: string | null) => onChange(without({ ...filter, [name]: value ?? '' }));
  const input = useRef<HTMLInputElement>(null);
  useShortcuts({ '/': () => input.current?.focus() });
  const names = tunnels.all.filter(({ protocol }) => protocol !== 'tcp');
  return (
    <div className="culvert-filters" data-open={isOpen || undefined} role="search" aria-label="Filter requests">
      <SearchField
        path={filter.path ?? ''}
        input={input}
        onPath={(path) => onChange(without({ ...filter, path }), true)}
        onWords={(words) => onChange(without({ ...filter, path: '', ...words }))}
      />
      <Button
        className="culvert-filters-toggle"
        variant="default"
        leftSection={<IconFilter size={16} />}
        onClick={toggle}
        aria-label="Filters"
        aria-expanded={isOpen}
      >
        Filters
      </Button>
      <Select
        aria-label="Tunnel"
        placeholder="All tunnels"
        searchable
        clearable
        nothingFoundMessage="No tunnels found"
        data={withOwn(
          names.map(({ id, subdomain }) => ({ value: id, label: subdomain })),
          filter.tunnel,
          'Another tunnel',
        )}
        value={filter.tunnel ?? null}
        onChange={set('tunnel')}
      />
      <Select
        aria-label="Method"
        placeholder="All methods"
        clearable
        data={withOwn(
          METHODS.map((value) => ({ value, label: value })),
          filter.method,
        )}
        value={filter.method ?? null}
        onChange={set('method')}
      />
      <Select
        aria-label="Status"
        placeholder="All statuses"
        clearable
        data={withOwn(STATUSES, filter.status)}
        value={filter.status ?? null}
        onChange={set('status')}
      />
      <Select
        aria-label="Decision"
        placeholder="All decisions"
        clearable
        data={OUTCOMES}
        value={filter.outcome ?? null}
        onChange={(value) => set('outcome')(value)}
      />
      <Select
        aria-label="Since"
        placeholder="Any time"
        clearable
        data={Object.keys(SPANS).map((value) => ({ value, label: SPAN_WORDS[value] ?? value }))}
        value={filter.since !== undefined && Object.hasOwn(SPANS, filter.since) ? filter.since : null}
        onChange={(value) => onChange(without({ ...filter, since: value ?? '', until: '' }))}
      />
      <TimeRange filter={filter} onRemove={() => onChange(without({ ...filter, since: '', until: '' }))} />
      {PILLS.map(({ name, label }) => {
        const value = filter[name];
        return value === undefined ? null : (
          <Pill
            key={name}
            size="lg"
            withRemoveButton
            onRemove={() => set(name)(null)}
            className="culvert-foreign"
            removeButtonProps={{ 'aria-label': `Remove filter: ${label}`, 'aria-hidden': false, tabIndex: 0 }}
          >
            {name === 'replayOf' ? label : `${label} ${visibleText(value)}`}
          </Pill>
        );
      })}
      <SavedFilters filter={filter} onChange={onChange} />
      {isFiltered(filter) && (
        <Tooltip label="Clear filters">
          <ActionIcon size={36} variant="default" aria-label="Clear filters" onClick={() => onChange({})}>
            <IconFilterOff size={16} />
          </ActionIcon>
        </Tooltip>
      )}
    </div>
  );
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** A link may ask for what is not offered: it is shown then. */
function withOwn(choices: readonly Choice[], own: string | undefined, label = own): Choice[] {
  if (own === undefined || choices.some(({ value }) => value === own)) return [...choices];
  return [...choices, { value: own, label: label ?? own }];
}

function without(filter: Readonly<Record<string, string | undefined>>): Filter {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined && value !== ''));
}
