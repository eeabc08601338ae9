/** A recorded request as lists of the API have it, and how a line of a terminal shows it. Called by inspect.ts and follow.ts. */
import { z } from 'zod';
import { type Span, span } from '../terminal/paint.ts';

/** A longer one is cut in lines, where it would push the rest away. */
const MAX_PATH = 60;

export const item = z.looseObject({
  id: z.string(),
  tunnel_id: z.string(),
  timestamp: z.string(),
  method: z.string(),
  path: z.string(),
  status: z.int(),
  latency_ms: z.number(),
  request_size: z.int(),
  response_size: z.int(),
  remote_ip: z.string(),
  outcome: z.string(),
  code: z.string().nullable(),
  replay_of: z.string().nullable(),
});

export type Item = z.output<typeof item>;

export function pathShown(path: string): string {
  return path.length > MAX_PATH ? `${path.slice(0, MAX_PATH - 1)}…` : path;
}

/** What the edge did by itself, and what is no visitor's: empty for a request that the service answered. */
export function remarkOf({ code, replay_of: replayOf }: Pick<Item, 'code' | 'replay_of'>): string {
  return [code ?? '', replayOf === null ? '' : 'replay'].filter((part) => part !== '').join(', ');
}

/** Without a status the visitor got nothing. */
export function statusShown({ status }: Pick<Item, 'status'>): Span {
  if (status === 0) return span('none', 'red');
  if (status >= 500) return span(String(status), 'red');
  return status >= 400 ? span(String(status), 'yellow') : span(String(status), 'green');
}
