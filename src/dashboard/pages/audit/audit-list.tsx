/** The log as a table: when, who, what, from where. */
import { Anchor, Box, Button, Center, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconHistory } from '@tabler/icons-react';
import { Link } from 'wouter';
import { When } from '../../parts/time/ago.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { actionWords } from './actions.ts';
import { moreWords, nameOf, pageOf } from './details.ts';
import type { AuditEvent } from './export.ts';
import { type Scope, useAuditLog } from './audit-log.ts';
import type { Filter } from './filter.ts';

/** Of organizations and accounts by their ids, as far as they are known: events tell ids alone. */
export type Names = ReadonlyMap<string, string>;

interface AuditListProps {
  readonly scope: Scope;
  readonly filter: Filter;
  readonly names?: Names;
}

/** What is typed is asked for once the typing stops. */
const TYPING_MS = 300;

const NO_NAMES: Names = new Map();

export function AuditList({ scope, filter, names = NO_NAMES }: AuditListProps) {
  const [asked] = useDebouncedValue(filter, TYPING_MS);
  const log = useAuditLog(scope, asked);
  return (
    <Loaded query={log} lines={8}>
      {({ pages }) => {
        const events = pages.flat();
        if (events.length === 0)
          return (
            <Empty icon={IconHistory} title="No events found">
              No events match these filters. “Actor” takes a full email address or a full key name.
            </Empty>
          );
        return (
          <Stack>
            <Table isPaged label="Audit log" rows={events} rowKey={({ id }) => id} columns={columnsFor(scope, names)} />
            {log.hasNextPage && (
              <Center>
                <Button variant="default" loading={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
                  Show older
                </Button>
              </Center>
            )}
          </Stack>
        );
      }}
    </Loaded>
  );
}

function columnsFor(scope: Scope, names: Names): ReadonlyArray<Column<AuditEvent>> {
  return [
    {
      key: 'when',
      title: 'Time',
      cell: ({ timestamp }) => <When at={timestamp} />,
    },
    { key: 'who', title: 'Actor', cell: (event) => <Who event={event} /> },
    // The log of the server names things of other organizations, whose pages are not the reader's.
    {
      key: 'what',
      title: 'Action',
      cell: (event) => <What event={event} hasLink={scope === 'organization'} target={names.get(event.resourceId)} />,
    },
    {
      key: 'from',
      title: 'IP address',
      cell: ({ ipAddress }) => <span className="culvert-mono culvert-nowrap">{ipAddress || '–'}</span>,
    },
    ...(scope === 'server'
      ? [
          {
            key: 'org',
            title: 'Organization',
            cell: ({ orgId }: AuditEvent) => <Org id={orgId ?? null} names={names} />,
          },
        ]
      : []),
  ];
}

function Who({ event: { userEmail, actorType } }: { readonly event: AuditEvent }) {
  return (
    <Box miw={150}>
      {userEmail}
      {actorType === 'token' && (
        <Text size="xs" c="dimmed">
          key
        </Text>
      )}
    </Box>
  );
}

interface WhatProps {
  readonly event: AuditEvent;
  readonly hasLink: boolean;
  /** Name of the thing, where it is known. */
  readonly target: string | undefined;
}

function What({ event, hasLink, target }: WhatProps) {
  const words = actionWords(event.action);
  const page = hasLink ? pageOf(event) : undefined;
  const name = nameOf(event, target);
  const more = moreWords(event);
  return (
    <div>
      <span title={event.action}>
        {page === undefined ? (
          words
        ) : (
          <Anchor component={Link} href={page} size="sm" underline="always">
            {words}
          </Anchor>
        )}
      </span>
      {name !== undefined && (
        <Text span inherit fw={500} className="culvert-wrap">
          {' '}
          {name}
        </Text>
      )}
      {more.length > 0 && (
        <Text size="xs" c="dimmed" className="culvert-wrap">
          {more.join(', ')}
        </Text>
      )}
    </div>
  );
}

function Org({ id, names }: { readonly id: string | null; readonly names: Names }) {
  if (id === null) return <span>–</span>;
  const name = names.get(id);
  return name === undefined ? <span className="culvert-mono">{id}</span> : <span title={id}>{name}</span>;
}
