/** Webhook receivers and deliveries as the server shows them, and how they are written on a terminal. */
import { z } from 'zod';
import { type Span, type Style, span } from '../terminal/paint.ts';

export const receiver = z.looseObject({
  id: z.string(),
  name: z.string(),
  validator: z.string(),
  url: z.string(),
  last_received_at: z.string().nullable(),
  stored: z.int(),
  displaced: z.int(),
  /** A server that is older does not say. */
  refused: z
    .looseObject({ total: z.int(), last_at: z.string().nullable(), last_reason: z.string().nullable() })
    .optional(),
  waiting: z.int(),
  /** A server that is older has none. */
  verify_token: z.string().optional(),
  forward: z.looseObject({ tunnel_id: z.string(), path: z.string() }).nullable(),
});
export type Receiver = z.output<typeof receiver>;

export const delivery = z.looseObject({
  id: z.string(),
  received_at: z.string(),
  event_type: z.string().nullable(),
  body: z.string(),
  /** A server that is older sends no test events. */
  test: z.boolean().optional(),
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

const REASONS: ReadonlyMap<string, string> = new Map([
  ['signature_missing', 'no signature in the expected format'],
  ['signature_wrong', 'signed with another secret'],
  ['signature_too_old', 'signature too old or too new; check the clock'],
  ['too_large', 'larger than 1 MiB'],
  ['came_back', 'forwarded by this server itself'],
]);

/** "12 refused, the last at 2026-11-21 09:04:50 UTC: signed with another secret"; undefined where nothing was. */
export function refusedShown({ refused }: Receiver): string | undefined {
  if (refused === undefined || refused.last_at === null) return undefined;
  const { total, last_at: at, last_reason: reason } = refused;
  const why = REASONS.get(reason ?? '') ?? reason;
  return `${total} refused, the last at ${at.slice(0, 19).replace('T', ' ')} UTC: ${why}`;
}

/** What became of it on its way to the tunnel. */
export function stateShown({ forward }: Delivery): Span {
  const { state } = forward;
  return state === 'none' ? span('-', 'dim') : span(state, STYLES.get(state) ?? 'dim');
}

/** As the server filters: one that is being sent waits. */
export function isInState({ forward }: Delivery, state: string): boolean {
  return forward.state === state || (state === 'waiting' && forward.state === 'sending');
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
  query: {
    readonly after: string | undefined;
    readonly limit: number;
    readonly wait?: number;
    readonly state?: string | undefined;
  },
): string {
  const { after, limit, state, wait } = query;
  const parts = {
    ...(after === undefined ? {} : { after }),
    limit: String(limit),
    ...(state === undefined ? {} : { state }),
  };
  const asked = new URLSearchParams(wait === undefined ? parts : { ...parts, wait: String(wait) });
  return `${pathOf(receiverId)}/events?${asked.toString()}`;
}

/** Behind which the next page begins. */
export function lastIdOf(page: readonly Delivery[]): string | undefined {
  return page.at(-1)?.id;
}
