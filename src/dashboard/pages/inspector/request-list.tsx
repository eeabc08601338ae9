/**
 * The list of requests: draws what is in sight and no more, goes on at its end, and lets the arrow keys move through it. While its reader is not at
 * the top, new requests wait, so that nothing moves under the eyes or the pointer.
 */
import { Button } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, memo, type MouseEvent, type RefObject, useEffect, useState } from 'react';
import { bytesText, clockText, countText, durationText, shortTimeText, timeOf } from '../../parts/format.ts';
import { zoneText } from '../../parts/time/time-zone.ts';
import type { Item } from './filters/filter.ts';
import { useShortcuts } from './keyboard/shortcuts.ts';
import { type ListView, MAX_ROWS } from './live/live-list.ts';
import { decisionText, statusClass, statusText } from './messages.ts';
import { visiblePath } from './visible-text.ts';

/** As the sheet has it. */
const ROW_PX = 48;
const OVERSCAN = 6;
/** So many rows before the end the next page is asked for. */
const AHEAD = 30;

interface ListProps {
  readonly view: ListView;
  readonly nameOf: (tunnel: string) => string;
  readonly chosen: string | undefined;
  /** The request that another one is compared with. */
  readonly against: string | undefined;
  /** The list is beside the request that it shows: moving through the rows shows each. */
  readonly isBeside: boolean;
  readonly listRef: RefObject<HTMLDivElement | null>;
  readonly hasOlder: boolean;
  /** How far back a search came that took too long. */
  readonly searchedTo: string | undefined;
  readonly isSearching: boolean;
  readonly onOpen: (item: Item) => void;
  readonly onClose: () => void;
  readonly onOlder: () => void;
  /** The reader has left the top, or is back. */
  readonly onAway: (isAway: boolean) => void;
  readonly isPaused: boolean;
  readonly onResume: () => void;
}

export function RequestList(props: ListProps) {
  const {
    view,
    nameOf,
    chosen,
    against,
    listRef,
    hasOlder,
    searchedTo,
    isSearching,
    onOlder,
    onAway,
    isPaused,
    onResume,
  } = props;
  const { rows, waiting } = view;
  // oxlint-disable-next-line react/incompatible-library -- its functions are called where they are made; no compiler keeps them
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => listRef.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const isNearEnd = rows.length > 0 && last >= rows.length - AHEAD;
  useEffect(() => {
    if (isNearEnd && hasOlder) onOlder();
  }, [isNearEnd, hasOlder, onOlder, rows.length]);
  const { current, onKeyDown, onClick } = useMoves(props, (index) => virtual.scrollToIndex(index));
  const toTop = (): void => {
    listRef.current?.scrollTo({ top: 0 });
    onAway(false);
    onResume();
  };
  // Only what is drawn can be pointed at.
  const isActiveDrawn = items.some(({ index }) => rows[index]?.id === current);
  return (
    <div className="culvert-req-frame">
      <Heads />
      {waiting > 0 && (
        <Button className="culvert-req-new" size="compact-sm" radius="xl" onClick={toTop}>
          {countText(waiting)} new
        </Button>
      )}
      <div
        ref={listRef}
        className="culvert-req-list"
        role="listbox"
        aria-label="Requests"
        tabIndex={0}
        aria-activedescendant={isActiveDrawn && current !== undefined ? `request-${current}` : undefined}
        onKeyDown={onKeyDown}
        onClick={onClick}
        onScroll={({ currentTarget }) => onAway(currentTarget.scrollTop > ROW_PX / 2)}
        data-paused={isPaused || undefined}
      >
        <div role="presentation" className="culvert-req-space" style={{ height: virtual.getTotalSize() }}>
          {/* By place, not by id: at 200 a second every row is another ten times a second, and texts cost less than elements. */}
          {items.map(({ index, key, start }) => {
            const item = rows[index];
            if (item === undefined) return null;
            return (
              <div
                key={key}
                id={`request-${item.id}`}
                role="option"
                aria-selected={item.id === chosen}
                aria-posinset={index + 1}
                aria-setsize={rows.length}
                className="culvert-req"
                data-index={index}
                data-active={item.id === current || undefined}
                data-against={item.id === against || undefined}
                style={{ transform: `translateY(${start}px)` }}
              >
                <RequestRow item={item} tunnel={nameOf(item.tunnel_id)} />
              </div>
            );
          })}
        </div>
      </div>
      {hasOlder && searchedTo !== undefined && (
        <p className="culvert-req-end">
          Searched back to {clockText(timeOf(searchedTo))}.{' '}
          <Button size="compact-xs" variant="default" loading={isSearching} onClick={onOlder}>
            Search further back
          </Button>
        </p>
      )}
      {rows.length >= MAX_ROWS && (
        <p className="culvert-req-end">The newest {countText(MAX_ROWS)} are shown. Use filters to find older ones.</p>
      )}
    </div>
  );
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };

/** Moving through the rows by keyboard and pointer. `current`: the row of the keyboard, else the one that is open. */
function useMoves({ view, chosen, isBeside, listRef, onOpen, onClose }: ListProps, scrollTo: (index: number) => void) {
  const { rows } = view;
  const [active, setActive] = useState<string>();
  const current = active ?? chosen;
  const moveTo = (index: number): void => {
    const item = rows[Math.min(Math.max(index, 0), rows.length - 1)];
    if (item === undefined) return;
    setActive(item.id);
    scrollTo(rows.indexOf(item));
    if (isBeside && chosen !== undefined) onOpen(item);
  };
  const placeOf = (): number => rows.findIndex(({ id }) => id === current);
  /** From anywhere on the page: the list has the keys then. */
  const step = (by: number): void => {
    listRef.current?.focus({ preventScroll: true });
    const at = placeOf();
    moveTo(at < 0 ? 0 : at + by);
  };
  useShortcuts({
    j: () => step(1),
    k: () => step(-1),
    ...(current !== undefined && {
      Enter: () => {
        const item = rows[placeOf()];
        if (item !== undefined) onOpen(item);
      },
    }),
    ...(chosen !== undefined && { Escape: onClose }),
  });
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = rows.findIndex(({ id }) => id === current);
    const by = STEPS[event.key];
    if (by !== undefined) moveTo(at < 0 ? 0 : at + by);
    else if (event.key === 'Home') moveTo(0);
    else if (event.key === 'End') moveTo(rows.length - 1);
    else if (event.key === 'Enter' && at >= 0) onOpen(rows[at] as Item);
    else if (event.key === 'Escape') onClose();
    else return;
    event.preventDefault();
  };
  const onClick = ({ target }: MouseEvent): void => {
    const row = target instanceof Element ? target.closest<HTMLElement>('[data-index]') : null;
    const item = rows[Number(row?.dataset['index'] ?? -1)];
    if (item === undefined) return;
    setActive(item.id);
    onOpen(item);
  };
  return { current, onKeyDown, onClick };
}

/** What the columns are; rows say it themselves to screen readers. */
function Heads() {
  return (
    <div className="culvert-req culvert-req-heads" aria-hidden="true">
      <span className="culvert-req-status">Status</span>
      <span className="culvert-req-method">Method</span>
      <span className="culvert-req-path">Path and tunnel</span>
      <span className="culvert-req-decision">Decision</span>
      <span className="culvert-req-latency">Duration</span>
      <span className="culvert-req-sizes">In / out</span>
      <span className="culvert-req-address">Visitor</span>
      <span className="culvert-req-time">Time {zoneText()}</span>
    </div>
  );
}

interface RowProps {
  readonly item: Item;
  readonly tunnel: string;
}

/** One request in the list. Everything in it is a text node: most of it was sent by a visitor. Drawn again only when the request is another. */
const RequestRow = memo(({ item, tunnel }: RowProps) => (
  <>
    <span className="culvert-req-method">{item.method}</span>
    <bdi className="culvert-req-path">{visiblePath(item.path)}</bdi>
    <span className="culvert-req-tunnel">{tunnel}</span>
    <span className="culvert-req-status" data-class={statusClass(item.status)}>
      {statusText(item.status)}
    </span>
    <span className="culvert-req-decision" data-outcome={item.outcome}>
      {decisionText(item)}
      {item.replay_of !== null && ' (replay)'}
    </span>
    <span className="culvert-req-latency">{durationText(item.latency_ms)}</span>
    <span className="culvert-req-sizes">
      {/* Sizes are those of what was passed on. */}
      {item.outcome === 'refused' ? '–' : `${bytesText(item.request_size)} / ${bytesText(item.response_size)}`}
    </span>
    <span className="culvert-req-address">{item.remote_ip}</span>
    <time className="culvert-req-time" dateTime={item.timestamp} title={clockText(timeOf(item.timestamp))}>
      {shortTimeText(timeOf(item.timestamp))}
    </time>
  </>
));
