/** One request in the list. Everything in it is a text node: most of it was sent by a visitor. Drawn again only when the request is another. */
import { memo } from 'react';
import { bytesText, durationText } from '../../parts/format.ts';
import type { Item } from './filter.ts';
import { visiblePath } from './visible-text.ts';
import { decisionText, statusClass, statusText } from './messages.ts';

interface RowProps {
  readonly item: Item;
  readonly tunnel: string;
}

export const RequestRow = memo(({ item, tunnel }: RowProps) => (
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
    <time className="culvert-req-time" dateTime={item.timestamp}>
      {timeText(item.timestamp)}
    </time>
  </>
));

/** 14:03:22 of today, Nov 21 14:03 of another day; in the reader's time zone. */
function timeText(at: string): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  const clock = date.toTimeString();
  if (isToday) return clock.slice(0, 8);
  return `${date.toLocaleDateString('en-US', { month: 'short', day: 'numeric' })} ${clock.slice(0, 5)}`;
}
