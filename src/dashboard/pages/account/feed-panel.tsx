/** Events of the account. */
import { Button, Center, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { When } from '../../parts/time/ago.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { actionWords } from '../audit/actions.ts';
import { moreWords, nameOf } from '../audit/details.ts';

type Event = Schemas['AuditEvent'];

const PAGE = 10;
/** New events are fetched while the user has not paged back. */
const AGAIN_MS = 15_000;

const COLUMNS: ReadonlyArray<Column<Event>> = [
  { key: 'when', title: 'Time', cell: ({ timestamp }) => <When at={timestamp} /> },
  { key: 'who', title: 'Actor', cell: ({ userEmail }) => userEmail },
  { key: 'what', title: 'Action', cell: (event) => <What event={event} /> },
  {
    key: 'from',
    title: 'IP address',
    cell: ({ ipAddress }) => <span className="culvert-mono">{ipAddress || '–'}</span>,
  },
];

export function FeedPanel() {
  const { client } = useApi();
  const feed = useInfiniteQuery({
    queryKey: ['me', 'events'],
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: PAGE, ...(pageParam === undefined ? {} : { before: pageParam }) };
      return answered(client.GET('/me/events', { params: { query }, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => (page.length < PAGE ? undefined : page.at(-1)?.id),
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : AGAIN_MS),
  });
  return (
    <Panel
      title="Security feed"
      about="Events for your account, in all organizations. If you don't recognize one, change your password and end all other sessions."
    >
      <Loaded query={feed}>
        {({ pages }) => (
          <Stack>
            <Table isPaged label="Security feed" rows={pages.flat()} rowKey={({ id }) => id} columns={COLUMNS} />
            {feed.hasNextPage && (
              <Center>
                <Button variant="default" loading={feed.isFetchingNextPage} onClick={() => void feed.fetchNextPage()}>
                  Show older
                </Button>
              </Center>
            )}
          </Stack>
        )}
      </Loaded>
    </Panel>
  );
}

function What({ event }: { readonly event: Event }) {
  const name = nameOf(event);
  const more = moreWords(event);
  return (
    <div>
      <span title={event.action}>{actionWords(event.action)}</span>
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
