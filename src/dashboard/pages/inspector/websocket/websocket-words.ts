/** Texts about a WebSocket and its frames. Pure: tested without a browser. */
import type { Schemas } from '../../../api/types.ts';
import { bytesText, durationText } from '../../../parts/format.ts';

export type WebSocketFacts = Schemas['InspectedWebSocket'];
export type Frame = Schemas['InspectedFrame'];

export function durationWords({ open, duration_ms: ms }: WebSocketFacts): string {
  if (!open) return durationText(ms);
  return ms === 0 ? 'Open' : `Open, ${durationText(ms)} at the last update`;
}

/** `1000, by the visitor`. */
export function closeText({ open, closed_by: by, close_code: code }: WebSocketFacts): string {
  if (by === null) return open ? '–' : 'without a close frame';
  return `${code ?? 'no code'}, by ${by === 'visitor' ? 'the visitor' : 'your service'}`;
}

/** `→ text`. */
export function frameTitle({ from, opcode }: Frame): string {
  return `${from === 'visitor' ? '→' : '←'} ${opcode}`;
}

/** `1000 · compressed · +1.23 s · 12 B`. `bytes`: of its data. */
export function frameFacts(frame: Frame, bytes: Uint8Array): string {
  const { opcode, fragments, compressed, truncated, at_ms: at, size } = frame;
  const [high, low] = bytes;
  return [
    ...(opcode === 'close' && high !== undefined && low !== undefined ? [String(high * 256 + low)] : []),
    ...(fragments > 1 ? [`${fragments} parts`] : []),
    ...(compressed ? ['compressed'] : []),
    ...(truncated ? [`first ${bytesText(bytes.length)}`] : []),
    `+${durationText(at)}`,
    bytesText(size),
  ].join(' · ');
}
