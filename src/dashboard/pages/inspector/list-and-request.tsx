/** The list of a filter, and the request that was chosen in it. */
import { ActionIcon, Alert, Anchor, Button, Card, Group, Loader, Text } from '@mantine/core';
import { IconActivity, IconArrowsMaximize, IconGitCompare, IconX } from '@tabler/icons-react';
import { type ReactNode, useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { Link, useLocation } from 'wouter';
import { Empty } from '../../parts/empty.tsx';
import { clockText, timeOf } from '../../parts/format.ts';
import { FailureAlert } from '../../parts/loaded.tsx';
import { CompareView } from './compare/compare-view.tsx';
import { type Chosen, listHref, requestHref } from './filters/address.ts';
import { type Filter, isFiltered, type Item } from './filters/filter.ts';
import type { LiveRequests, LiveStatus } from './live/live-requests.ts';
import type { Detail } from './messages.ts';
import { RequestDetail } from './request-detail.tsx';
import { useRequest } from './request-query.ts';
import { RequestList } from './request-list.tsx';
import type { Tunnels } from './tunnels.ts';
import { visiblePath } from './visible-text.ts';

interface Props {
  readonly filter: Filter;
  readonly chosen: Chosen;
  readonly requests: LiveRequests;
  readonly status: LiveStatus;
  readonly tunnels: Tunnels;
  readonly isWide: boolean;
  readonly isPaused: boolean;
  readonly onPaused: (isPaused: boolean) => void;
}

export function ListAndRequest({ filter, chosen, requests, status, tunnels, isWide, isPaused, onPaused }: Props) {
  const [, go] = useLocation();
  const { list } = requests;
  const view = useSyncExternalStore(list.subscribe, list.view);
  const { request, against } = chosen;
  const [isAway, setAway] = useState(false);
  const listRef = useRef<HTMLDivElement>(null);
  useEffect(() => requests.hold(isPaused || isAway), [requests, isPaused, isAway]);
  const onOpen = ({ id }: Item): void => {
    if (!isWide) return go(requestHref(id, filter, against));
    // One step back leads to the list, however many were looked at.
    go(listHref(filter, { ...chosen, request: id }), { replace: request !== undefined });
  };
  const onClose = useCallback(() => {
    go(listHref(filter), { replace: true });
    listRef.current?.focus();
  }, [go, filter]);
  const onOlder = useCallback(() => void requests.older(), [requests]);
  const isEmpty = view.rows.length === 0;
  return (
    <>
      {status.error !== undefined && <FailureAlert error={status.error} again={requests.load} />}
      {against !== undefined && request === undefined && <ChooseOther id={against} onCancel={onClose} />}
      {isEmpty && view.waiting === 0 ? (
        // A list that could not be read is not known to be empty.
        status.error === undefined && <Nothing filter={filter} status={status} onOlder={onOlder} />
      ) : (
        <div className="culvert-inspector-split" data-beside={request !== undefined || undefined}>
          <Card withBorder padding={0}>
            <RequestList
              view={view}
              nameOf={tunnels.nameOf}
              chosen={request}
              against={against}
              isBeside={isWide}
              listRef={listRef}
              hasOlder={status.hasOlder}
              searchedTo={status.searchedTo}
              isSearching={status.isSearching}
              onOpen={onOpen}
              onClose={onClose}
              onOlder={onOlder}
              onAway={setAway}
              isPaused={isPaused}
              onResume={() => onPaused(false)}
            />
          </Card>
          {request !== undefined && (
            <Beside onClose={onClose}>
              <ChosenRequest filter={filter} request={request} against={against} tunnels={tunnels} onClose={onClose} />
            </Beside>
          )}
        </div>
      )}
    </>
  );
}

/** The place beside the list, which Escape closes. */
function Beside({ onClose, children }: { readonly onClose: () => void; readonly children: ReactNode }) {
  return (
    <Card
      withBorder
      component="section"
      aria-label="Selected request"
      className="culvert-inspector-request"
      tabIndex={0}
      onKeyDown={(event) => {
        const { key, target, currentTarget } = event;
        // A dialog or menu of it has an Escape of its own.
        if (key !== 'Escape' || !(target instanceof Node) || !currentTarget.contains(target)) return;
        event.preventDefault();
        onClose();
      }}
    >
      {children}
    </Card>
  );
}

interface ChosenProps {
  readonly filter: Filter;
  readonly request: string;
  readonly against: string | undefined;
  readonly tunnels: Tunnels;
  readonly onClose: () => void;
}

function ChosenRequest({ filter, request, against, tunnels, onClose }: ChosenProps) {
  const [, go] = useLocation();
  const close = (
    <>
      <ActionIcon
        component={Link}
        href={requestHref(request, filter, against)}
        variant="default"
        size={36}
        aria-label="Open as page"
      >
        <IconArrowsMaximize size={16} />
      </ActionIcon>
      <ActionIcon variant="default" size={36} aria-label="Close request" onClick={onClose}>
        <IconX size={16} />
      </ActionIcon>
    </>
  );
  if (against === undefined)
    return (
      <RequestDetail id={request} tunnels={tunnels}>
        {close}
      </RequestDetail>
    );
  return (
    <CompareView left={against} right={request}>
      <Button
        variant="default"
        onClick={() => go(listHref(filter, { request: against, against: request }), { replace: true })}
      >
        Swap
      </Button>
      {close}
    </CompareView>
  );
}

/** One request was chosen to be compared; the reader chooses the other. */
function ChooseOther({ id, onCancel }: { readonly id: string; readonly onCancel: () => void }) {
  const { data } = useRequest(id);
  return (
    <Alert color="culvert" variant="light" icon={<IconGitCompare size={18} />} role="status" py="xs">
      <Group justify="space-between" gap="xs">
        <Text size="sm" className="culvert-foreign">
          Choose a request to compare with {data === undefined ? 'the first one' : titleOf(data)}.
        </Text>
        <Button size="compact-sm" variant="default" onClick={onCancel}>
          Cancel
        </Button>
      </Group>
    </Alert>
  );
}

function titleOf({ method, path, timestamp }: Detail): string {
  return `${method} ${visiblePath(path).slice(0, 80)} (${clockText(timeOf(timestamp))})`;
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
          <Button variant="default" loading={status.isSearching} onClick={onOlder}>
            Search further back
          </Button>
        ) : undefined
      }
    >
      <Text span inherit>
        {status.searchedTo !== undefined && `Searched back to ${clockText(timeOf(status.searchedTo))}. `}
        New requests that match appear here.
      </Text>
    </Empty>
  );
}
