/** The requests that would have been refused, each with a way to its record. Method and path are a visitor's: they are text and nothing else. */
import { Anchor, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { Ago } from '../../parts/ago.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { countText } from '../../parts/format.ts';
import { visiblePath } from '../inspector/visible-text.ts';
import { entryOf, type Policy } from './kinds.ts';
import type { PolicyTest } from './policy-test-messages.ts';

type Request = PolicyTest['requests'][number];

export function PolicyTestRequests({ result, policy }: { readonly result: PolicyTest; readonly policy: Policy }) {
  const all = result.by_action.reduce((sum, { would_refuse: count }) => sum + count, 0);
  return (
    <Stack gap="xs">
      {all > result.requests.length && (
        <Text size="sm" c="dimmed">
          The newest {countText(result.requests.length)} of them:
        </Text>
      )}
      <Table
        label="Requests that would be refused"
        rows={result.requests}
        rowKey={({ id }) => id}
        columns={columnsFor(policy)}
      />
    </Stack>
  );
}

function columnsFor(policy: Policy): ReadonlyArray<Column<Request>> {
  return [
    {
      key: 'request',
      title: 'Request',
      cell: ({ id, method, path }) => (
        <Anchor component={Link} href={`/inspector/${id}`} className="culvert-mono culvert-policy-path">
          {method} <bdi>{visiblePath(path)}</bdi>
        </Anchor>
      ),
    },
    { key: 'status', title: 'Got then', cell: ({ status }) => (status === 0 ? 'nothing' : String(status)) },
    { key: 'from', title: 'From', cell: ({ remote_ip: from }) => <span className="culvert-mono">{from}</span> },
    {
      key: 'by',
      title: 'Refused by',
      cell: ({ action, enforced }) => {
        const kind = policy.actions[action]?.kind ?? '';
        return `${entryOf(kind)?.title ?? kind}${enforced ? '' : ' (only tried)'}`;
      },
    },
    { key: 'when', title: 'When', cell: ({ timestamp }) => <Ago at={timestamp} /> },
  ];
}
