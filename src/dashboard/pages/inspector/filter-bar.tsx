/** The filters of the request list. They are in the page's address, so that a view can be shared. */
import { ActionIcon, Button, CloseButton, Pill, Select, TextInput, Tooltip } from '@mantine/core';
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks';
import { IconFilter, IconFilterOff, IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { type Filter, isFiltered, SPANS } from './filter.ts';
import type { Tunnels } from './tunnels.ts';

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
const TYPING_MS = 250;

interface FilterBarProps {
  readonly filter: Filter;
  readonly tunnels: Tunnels;
  readonly onChange: (filter: Filter) => void;
}

export function FilterBar({ filter, tunnels, onChange }: FilterBarProps) {
  const [isOpen, { toggle }] = useDisclosure(false);
  const set = (name: keyof Filter) => (value: string | null) => onChange(without({ ...filter, [name]: value ?? '' }));
  const names = tunnels.all.filter(({ protocol }) => protocol !== 'tcp');
  return (
    <div className="culvert-filters" data-open={isOpen || undefined} role="search" aria-label="Filter requests">
      <PathInput value={filter.path ?? ''} onChange={set('path')} />
      <Button
        className="culvert-filters-toggle"
        variant="default"
        leftSection={<IconFilter size={16} />}
        onClick={toggle}
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
        value={filter.since ?? null}
        onChange={set('since')}
      />
      {filter.replayOf !== undefined && (
        <Pill
          size="lg"
          withRemoveButton
          onRemove={() => set('replayOf')(null)}
          removeButtonProps={{
            'aria-label': 'Show all requests',
            'aria-hidden': false,
            tabIndex: 0,
          }}
        >
          Replays of one request
        </Pill>
      )}
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

/** Asks once the user has stopped typing. */
function PathInput({ value, onChange }: { readonly value: string; readonly onChange: (path: string) => void }) {
  const [typed, setTyped] = useState(value);
  const tell = useDebouncedCallback(onChange, TYPING_MS);
  const [known, setKnown] = useState(value);
  // Another filter by another way than by typing: a link, or all of them cleared.
  if (known !== value) {
    setKnown(value);
    setTyped(value);
  }
  const change = (text: string): void => {
    setTyped(text);
    tell(text);
  };
  return (
    <TextInput
      aria-label="Path contains"
      placeholder="Path contains"
      className="culvert-filters-path"
      maxLength={200}
      leftSection={<IconSearch size={16} aria-hidden />}
      rightSection={typed === '' ? null : <CloseButton aria-label="Any path" onClick={() => change('')} />}
      value={typed}
      onChange={({ currentTarget }) => change(currentTarget.value)}
    />
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
