/** Webhook receivers and deliveries as the server shows them, and how they are written on a terminal. */
import { z } from 'zod';
import { type Span, type Style, span } from './paint.ts';

export const receiver = z.looseObject({
  id: z.string(),
  name: z.string(),
  validator: z.string(),
  url: z.string(),
  last_received_at: z.string().nullable(),
  stored: z.int(),
  displaced: z.int(),
  waiting: z.int(),
  forward: z.looseObject({ tunnel_id: z.string(), path: z.string() }).nullable(),
});
export type Receiver = z.output<typeof receiver>;

export const delivery = z.looseObject({
  id: z.string(),
  received_at: z.string(),
  event_type: z.string().nullable(),
  body: z.string(),
  forward: z.looseObject({
    state: z.string(),
    attempts: z.int(),
    last_status: z.int().nullable(),
    last_error: z.string().nullable(),
    next_attempt_at: z.string().nullable(),
  }),
});
export type Delivery = z.output<typeof delivery>;

const STYLES: ReadonlyMap<string, Style> = new Map([
  ['delivered', 'green'],
  ['failed', 'red'],
  ['waiting', 'yellow'],
  ['sending', 'cyan'],
]);

/** What became of it on its way to the tunnel. */
export function stateShown({ forward }: Delivery): Span {
  const { state } = forward;
  return state === 'none' ? span('-', 'dim') : span(state, STYLES.get(state) ?? 'dim');
}

/** It waits for its way to the tunnel, or is on it: what becomes of it is still to come. */
export function isOpen({ forward }: Delivery): boolean {
  return forward.state === 'waiting' || forward.state === 'sending';
}

export function pathOf(receiverId: string): string {
  return `/webhook-receivers/${encodeURIComponent(receiverId)}`;
}

export function eventsPath(
  receiverId: string,
  query: { readonly after: string | undefined; readonly limit: number; readonly wait?: number },
): string {
  const { after, limit, wait } = query;
  const parts = { ...(after === undefined ? {} : { after }), limit: String(limit) };
  const asked = new URLSearchParams(wait === undefined ? parts : { ...parts, wait: String(wait) });
  return `${pathOf(receiverId)}/events?${asked.toString()}`;
}

/** Behind which the next page begins. */
export function lastIdOf(page: readonly Delivery[]): string | undefined {
  return page.at(-1)?.id;
}
