/** The trail as a table: when, who, what, from where. */
import { Anchor, Button, Center, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconHistory } from '@tabler/icons-react';
import { Link } from 'wouter';
import { Ago } from '../../parts/ago.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { actionWords } from './actions.ts';
import { detailWords, pageOf } from './details.ts';
import type { AuditEvent } from './export.ts';
import { type Filter, type Scope, useTrail } from './trail.ts';

interface TrailListProps {
  readonly scope: Scope;
  readonly filter: Filter;
}

/** What is typed is asked for once the typing stops. */
const TYPING_MS = 300;

export function TrailList({ scope, filter }: TrailListProps) {
  const [asked] = useDebouncedValue(filter, TYPING_MS);
  const trail = useTrail(scope, asked);
  return (
    <Loaded query={trail} lines={8}>
      {({ pages }) => {
        const events = pages.flat();
        if (events.length === 0)
          return (
            <Empty icon={IconHistory} title="Nothing found">
              No event fits these filters. “Who” takes the whole e-mail address, or the whole name of a key.
            </Empty>
          );
        return (
          <Stack>
            <Table label="Audit trail" rows={events} rowKey={({ id }) => id} columns={columnsFor(scope)} />
            {trail.hasNextPage && (
              <Center>
                <Button variant="default" loading={trail.isFetchingNextPage} onClick={() => void trail.fetchNextPage()}>
                  Show earlier ones
                </Button>
              </Center>
            )}
          </Stack>
        );
      }}
    </Loaded>
  );
}

function columnsFor(scope: Scope): ReadonlyArray<Column<AuditEvent>> {
  return [
    { key: 'when', title: 'When', cell: ({ timestamp }) => <Ago at={timestamp} /> },
    { key: 'who', title: 'Who', cell: (event) => <Who event={event} /> },
    // The trail of the server names things of other organizations, whose pages are not the reader's.
    { key: 'what', title: 'What', cell: (event) => <What event={event} hasLink={scope === 'organization'} /> },
    { key: 'from', title: 'From', cell: ({ ipAddress }) => <span className="culvert-mono">{ipAddress || '–'}</span> },
    ...(scope === 'server'
      ? [{ key: 'org', title: 'Organization', cell: ({ orgId }: AuditEvent) => <Org id={orgId ?? null} /> }]
      : []),
  ];
}

function Who({ event: { userEmail, actorType } }: { readonly event: AuditEvent }) {
  return (
    <div>
      {userEmail}
      {actorType === 'token' && (
        <Text size="xs" c="dimmed">
          key
        </Text>
      )}
    </div>
  );
}

function What({ event, hasLink }: { readonly event: AuditEvent; readonly hasLink: boolean }) {
  const words = actionWords(event.action);
  const page = hasLink ? pageOf(event) : undefined;
  const details = detailWords(event.details);
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
      {details.length > 0 && (
        <Text size="xs" c="dimmed">
          {details.join(', ')}
        </Text>
      )}
    </div>
  );
}

/** The end of the id tells organizations apart; the whole one is in the title. */
function Org({ id }: { readonly id: string | null }) {
  if (id === null) return <span>–</span>;
  return (
    <span className="culvert-mono" title={id}>
      …{id.slice(-12)}
    </span>
  );
}
