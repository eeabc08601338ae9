/** The list of a filter, and the request that was chosen in it. */
import { ActionIcon, Anchor, Button, Card, Loader, Text } from '@mantine/core';
import { IconActivity, IconArrowsMaximize, IconX } from '@tabler/icons-react';
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { Link, useLocation } from 'wouter';
import { Empty } from '../../parts/empty.tsx';
import { FailureAlert } from '../../parts/loaded.tsx';
import { type Filter, isFiltered, type Item } from './filter.ts';
import type { LiveRequests, LiveStatus } from './live-requests.ts';
import { RequestDetail } from './request-detail.tsx';
import { RequestList } from './request-list.tsx';
import type { Tunnels } from './tunnels.ts';

interface Props {
  readonly filter: Filter;
  readonly requests: LiveRequests;
  readonly status: LiveStatus;
  readonly tunnels: Tunnels;
  readonly isWide: boolean;
  readonly isPaused: boolean;
  readonly onPaused: (isPaused: boolean) => void;
}

export function ListAndRequest({ filter, requests, status, tunnels, isWide, isPaused, onPaused }: Props) {
  const [, go] = useLocation();
  const { list } = requests;
  const view = useSyncExternalStore(list.subscribe, list.view);
  const [chosen, setChosen] = useState<string>();
  const [isAway, setAway] = useState(false);
  const listRef = useRef<HTMLDivElement>(null);
  useEffect(() => requests.hold(isPaused || isAway), [requests, isPaused, isAway]);
  const onOpen = (item: Item): void => (isWide ? setChosen(item.id) : go(`/inspector/${item.id}`));
  const onClose = useCallback(() => {
    setChosen(undefined);
    listRef.current?.focus();
  }, []);
  const onOlder = useCallback(() => void requests.older(), [requests]);
  const isEmpty = view.rows.length === 0;
  return (
    <>
      {status.error !== undefined && <FailureAlert error={status.error} again={requests.load} />}
      {isEmpty && view.waiting === 0 ? (
        // A list that could not be read is not known to be empty.
        status.error === undefined && <Nothing filter={filter} status={status} onOlder={onOlder} />
      ) : (
        <div className="culvert-inspector-split" data-beside={chosen !== undefined || undefined}>
          <Card withBorder padding={0}>
            <RequestList
              view={view}
              nameOf={tunnels.nameOf}
              chosen={chosen}
              isBeside={isWide}
              listRef={listRef}
              hasOlder={status.hasOlder}
              onOpen={onOpen}
              onClose={onClose}
              onOlder={onOlder}
              onAway={setAway}
              isPaused={isPaused}
              onResume={() => onPaused(false)}
            />
          </Card>
          {chosen !== undefined && (
            <Card
              withBorder
              component="section"
              aria-label="Selected request"
              className="culvert-inspector-request"
              tabIndex={0}
              onKeyDown={({ key, target, currentTarget }) => {
                // A dialog or menu of it has an Escape of its own.
                if (key === 'Escape' && target instanceof Node && currentTarget.contains(target)) onClose();
              }}
            >
              <RequestDetail id={chosen} tunnels={tunnels}>
                <ActionIcon
                  component={Link}
                  href={`/inspector/${chosen}`}
                  variant="default"
                  size={36}
                  aria-label="Open as page"
                >
                  <IconArrowsMaximize size={16} />
                </ActionIcon>
                <ActionIcon variant="default" size={36} aria-label="Close request" onClick={onClose}>
                  <IconX size={16} />
                </ActionIcon>
              </RequestDetail>
            </Card>
          )}
        </div>
      )}
    </>
  );
}

interface NothingProps {
  readonly filter: Filter;
  readonly status: LiveStatus;
  readonly onOlder: () => void;
}

function Nothing({ filter, status, onOlder }: NothingProps) {
  if (status.isLoading)
    return (
      <Card withBorder padding="xl" className="culvert-inspector-waiting" role="status" aria-label="Loading">
        <Loader size="sm" />
      </Card>
    );
  if (!isFiltered(filter))
    return (
      <Empty icon={IconActivity} title="No requests yet">
        Open the public URL of a tunnel. Its requests appear here immediately. No tunnel yet?{' '}
        <Anchor component={Link} href="/tunnels" inherit underline="always">
          Create tunnel
        </Anchor>
        .
      </Empty>
    );
  return (
    <Empty
      icon={IconActivity}
      title="No requests match"
      action={
        status.hasOlder ? (
          <Button variant="default" onClick={onOlder}>
            Search further back
          </Button>
        ) : undefined
      }
    >
      <Text span inherit>
        New requests that match appear here.
      </Text>
    </Empty>
  );
}
