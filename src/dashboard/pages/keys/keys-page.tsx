/** Keys: what agents, CI jobs and programs act with. */
import { Button, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconKey, IconPlus, IconSearch } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useSearchParams } from 'wouter';
import { useMay } from '../../api/context.tsx';
import type { Token } from '../../api/types.ts';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { filtered, filterIn, type KeyFilter, KIND_WORDS, paramsOf } from './key-state.ts';
import { nowSeconds, useTokens } from './key-query.ts';
import { KeyTable } from './key-table.tsx';
import { MetricsKeys } from './metrics-keys.tsx';
import { NewKey } from './new-key.tsx';

export function KeysPage() {
  const tokens = useTokens();
  const mayMint = useMay('member');
  const [opened, { open, close }] = useDisclosure(false);
  const button = mayMint && (
    <Button leftSection={<IconPlus size={16} />} onClick={open}>
      New key
    </Button>
  );
  return (
    <Page
      title="Keys"
      about="Credentials of agents and CI jobs. A key limits names, bandwidth, lifetime and budget."
      actions={button}
    >
      <Loaded query={tokens}>{(all) => (all.length === 0 ? <NoKeys action={button} /> : <Listed all={all} />)}</Loaded>
      <MetricsKeys />
      <NewKey opened={opened} onClose={close} />
    </Page>
  );
}

function NoKeys({ action }: { readonly action: ReactNode }) {
  return (
    <Empty icon={IconKey} title="No keys yet" action={action}>
      An agent needs a key to publish a port. Create one for each machine or job, to limit and revoke each separately.
      On your own machine, culvert login creates one.
    </Empty>
  );
}

function Listed({ all }: { readonly all: readonly Token[] }) {
  const [params, setParams] = useSearchParams();
  const filter = filterIn(params);
  const shown = filtered(all, filter, nowSeconds());
  return (
    <Stack gap="sm">
      <KeyFilters filter={filter} onFilter={(next) => setParams(paramsOf(next), { replace: true })} />
      {shown.length === 0 ? (
        <Text c="dimmed" size="sm" role="status">
          {paramsOf(filter).size === 0 ? 'No live keys.' : 'No keys match.'}
        </Text>
      ) : (
        <KeyTable label="Keys" tokens={shown} all={all} />
      )}
    </Stack>
  );
}

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
  { value: 'all', label: 'All states' },
];

/** Which keys the table shows. */
function KeyFilters({ filter, onFilter }: KeyFiltersProps) {
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
