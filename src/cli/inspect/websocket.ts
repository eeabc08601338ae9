/** A recorded WebSocket as lines of a terminal: its duration, counts and recorded frames. Called by detail.ts. */
import { z } from 'zod';
import { harmless, type Line, span } from '../terminal/paint.ts';

/** Of the text of a frame. */
const MAX_TEXT = 200;

export const webSocket = z.looseObject({
  open: z.boolean(),
  duration_ms: z.number(),
  bytes_in: z.int(),
  bytes_out: z.int(),
  frames_in: z.int(),
  frames_out: z.int(),
  closed_by: z.string().nullable(),
  close_code: z.int().nullable(),
  frames_not_recorded: z.int(),
});

export const webSocketFrame = z.looseObject({
  from: z.string(),
  at_ms: z.number(),
  opcode: z.string(),
  size: z.int(),
  compressed: z.boolean(),
  truncated: z.boolean(),
  data: z.string(),
});

type WebSocketFacts = z.output<typeof webSocket>;
type Frame = z.output<typeof webSocketFrame>;

/** `12.3 s, 4 frames in (60 bytes), 3 out (48 bytes), closed by the service with 1000`. */
export function sayWebSocket(facts: WebSocketFacts): string {
  const { open, duration_ms: ms, frames_in: framesIn, frames_out: framesOut } = facts;
  const sums = `${framesIn} frames in (${facts.bytes_in} bytes), ${framesOut} out (${facts.bytes_out} bytes)`;
  const code = facts.close_code === null ? '' : ` with ${facts.close_code}`;
  const close = facts.closed_by === null ? '' : `, closed by the ${facts.closed_by}${code}`;
  return `${open ? 'open, ' : ''}${(ms / 1_000).toFixed(1)} s, ${sums}${close}`;
}

/** Empty if frames were not recorded. */
export function frameLines(frames: readonly Frame[], leftOut: number): Line[] {
  if (frames.length === 0) return [];
  const more: Line[] = leftOut === 0 ? [] : [[span(`  … ${leftOut} more were not recorded`, 'dim')]];
  return [[], [span('Frames', 'bold')], ...frames.map(frameLine), ...more];
}

function frameLine({ from, at_ms: ms, opcode, size, compressed, truncated, data }: Frame): Line {
  const bytes = Buffer.from(data, 'base64');
  const isClose = opcode === 'close' && bytes.length >= 2;
  const text = (isClose ? bytes.subarray(2) : bytes).toString('utf8');
  const isText = !compressed && !/[\0\ufffd]/u.test(text.replace(/\ufffd$/u, ''));
  const said = isText
    ? harmless(text.replaceAll(/\s+/g, ' ').slice(0, MAX_TEXT))
    : compressed
      ? '(compressed)'
      : '(binary)';
  const cut = truncated || (isText && text.length > MAX_TEXT) ? '…' : '';
  const code = isClose ? `${bytes.readUInt16BE()} ` : '';
  const head = `  ${`+${(ms / 1_000).toFixed(3)} s`.padStart(11)}  ${from === 'visitor' ? '→' : '←'} ${opcode.padEnd(6)} ${`${size} bytes`.padStart(12)}  `;
  return [span(head, 'dim'), span(`${code}${said}${cut}`)];
}
