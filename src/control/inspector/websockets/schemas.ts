/** WebSockets in API responses: facts in lists, and recorded frames of one request. Called by ../schemas.ts. */
import { z } from '@hono/zod-openapi';
import type { RecordedFrame, WebSocketFacts } from '../../../plane/inspection.ts';

/** Status of an upgrade. */
const SWITCHING = 101;
const OPCODES = ['text', 'binary', 'close', 'ping', 'pong'] as const;
const OPCODE_NAMES: ReadonlyMap<number, (typeof OPCODES)[number]> = new Map([
  [1, 'text'],
  [2, 'binary'],
  [8, 'close'],
  [9, 'ping'],
  [10, 'pong'],
]);

export const webSocket = z
  .object({
    open: z.boolean().openapi({
      description: 'No end was recorded: the connection is open, or the server stopped without recording the end',
    }),
    duration_ms: z.number().openapi({ description: 'From the upgrade to the end; while open, to the last update' }),
    bytes_in: z.int().openapi({ description: 'From the visitor, including the headers of frames' }),
    bytes_out: z.int().openapi({ description: 'To the visitor' }),
    frames_in: z.int().openapi({ description: 'From the visitor, including control frames' }),
    frames_out: z.int(),
    valid_frames: z.boolean().openapi({
      description: 'False: data that is not a WebSocket frame ended the frame count of its direction',
    }),
    closed_by: z
      .enum(['visitor', 'service'])
      .nullable()
      .openapi({ description: 'Sender of the first close frame; null: there was none' }),
    close_code: z.int().nullable().openapi({ description: 'Code in that frame', example: 1000 }),
    frames_not_recorded: z.int().openapi({
      description: 'With `websocket_frames`: messages and control frames above the limits of recording',
    }),
  })
  .openapi('InspectedWebSocket');

export const webSocketFrame = z
  .object({
    from: z.enum(['visitor', 'service']),
    at_ms: z.number().openapi({ description: 'Since the upgrade' }),
    opcode: z.enum(OPCODES),
    fragments: z.int().openapi({ description: 'Number of frames of this message' }),
    size: z.int().openapi({ description: 'Size of the payload as transferred, in bytes' }),
    compressed: z.boolean().openapi({
      description: 'True: `data` is still compressed (permessage-deflate), because it could not be decoded',
    }),
    truncated: z.boolean().openapi({
      description: 'True: only the first part was recorded, or a mask rule could not be applied to the rest',
    }),
    data: z.base64().openapi({ description: 'The payload, unmasked and decoded' }),
  })
  .openapi('InspectedFrame');

/** null: it is no WebSocket. */
export function presentWebSocket({
  status,
  websocket,
}: {
  readonly status: number;
  readonly websocket?: WebSocketFacts;
}): z.input<typeof webSocket> | null {
  if (status !== SWITCHING) return null;
  return {
    open: websocket?.isOpen ?? true,
    duration_ms: websocket?.durationMs ?? 0,
    bytes_in: websocket?.bytesIn ?? 0,
    bytes_out: websocket?.bytesOut ?? 0,
    frames_in: websocket?.framesIn ?? 0,
    frames_out: websocket?.framesOut ?? 0,
    valid_frames: websocket?.isFramed ?? true,
    closed_by: websocket?.closedBy ?? null,
    close_code: websocket?.closeCode ?? null,
    frames_not_recorded: websocket?.framesLeftOut ?? 0,
  };
}

export function presentFrame(frame: RecordedFrame): z.input<typeof webSocketFrame> {
  const { from, atMs, opcode, fragments, size, isCompressed, isTruncated, bytes } = frame;
  return {
    ...{ from, fragments, size },
    at_ms: atMs,
    opcode: OPCODE_NAMES.get(opcode) ?? 'binary',
    compressed: isCompressed,
    truncated: isTruncated,
    data: Buffer.from(bytes).toString('base64'),
  };
}
