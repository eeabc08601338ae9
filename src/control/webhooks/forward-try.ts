/**
 * One try to bring a delivery to the service: what is sent down the tunnel, and what its answer means. Called by forwarder.ts. Pure.
 */
import { HOUR_MS } from '../../base/clock.ts';
import type { KeptResponse, TunnelAnswer, TunnelRequest } from '../../plane/inspection.ts';
import type { DeliveryRow } from './forward-rows.ts';

/** From the start of a try to the end of the answer: what senders themselves give at most. */
const TIMEOUT_MS = 30_000;
/** After the first tries, one more each time; then one an hour, until a day is over. */
const FIRST_WAITS_MS = [1_000, 5_000, 30_000, 2 * 60_000, 10 * 60_000] as const;
const HOURLY_TRIES = 23;
export const MAX_ATTEMPTS = 1 + FIRST_WAITS_MS.length + HOURLY_TRIES;
/** No try either: the node, or the tunnel, had no place for it. Twice as long each time in a row. */
const CROWDED_MS = 1_000;
const MAX_CROWDED_MS = 30_000;
/** The service says so itself: what is sent here is never wanted. */
const GONE = 410;
/** The edge's error for a tunnel without an agent: no fault of the delivery. */
const PAUSES = new Set(['tunnel_offline', 'maintenance']);
/** What the edge says of a head that it never passes on: it will be the same one next time. */
const NEVER = new Set(['bad_request', 'head_too_large', 'uri_too_long']);
/**
 * What the edge says of the new request by itself, what belongs to the sender's connection (codings too: this server reads the response), and what
 * only this server says. The signature, the type and everything else goes as it came.
 */
const NOT_SENT =
  /^(host|accept-encoding|content-length|transfer-encoding|trailer|upgrade|expect|http2-settings|forwarded|via|x-real-ip|proxy-.*|x-forwarded-.*|culvert-.*)$/;
/** Of the body of a response, for the list of attempts. */
export const KEPT_BYTES = 2_048;
/** Of a delivery that came before the address of its sender was kept: unknown, so that no rule about addresses allows it. */
const UNKNOWN_SENDER = '0.0.0.0';

export interface Trial {
  readonly delivery: DeliveryRow;
  /** Counted from 1. */
  readonly attempt: number;
  readonly tunnelId: string;
  readonly path: string;
  readonly publicUrl: string;
}

/** It was not tried. `later`: the tunnel has no agent or is paused; `crowded`: too much is on its way already. */
export type Outcome =
  | { readonly kind: 'later' }
  | { readonly kind: 'crowded' }
  | (Took & { readonly kind: 'delivered'; readonly status: number })
  | (Took & {
      readonly kind: 'refused';
      /** null: there was no answer. */
      readonly status: number | null;
      /** What the edge says was wrong; null: it was the service's own answer. */
      readonly error: string | null;
      /** There is no sense in trying again. */
      readonly isFinal: boolean;
    });

/** How long an attempt took, and what it brought. */
interface Took {
  readonly latencyMs: number;
  /** null: nothing of the service's. */
  readonly response: KeptResponse | null;
}

export function requestOf({ delivery, attempt, tunnelId, path, publicUrl }: Trial): TunnelRequest {
  const { protocol, host } = new URL(publicUrl);
  return {
    tunnelId,
    method: 'POST',
    target: path,
    fields: [
      ...Object.entries(delivery.headers).filter(([name]) => !NOT_SENT.test(name)),
      ['Culvert-Webhook-Receiver', delivery.receiverId],
      ['Culvert-Webhook-Delivery', delivery.id],
      ['Culvert-Webhook-Attempt', String(attempt)],
      ...(delivery.isTest ? ([['Culvert-Webhook-Test', '1']] as const) : []),
    ],
    host,
    body: delivery.body,
    clientIp: delivery.remoteIp ?? UNKNOWN_SENDER,
    scheme: protocol === 'https:' ? 'https' : 'http',
    replayOf: null,
    timeoutMs: TIMEOUT_MS,
    keepBytes: KEPT_BYTES,
  };
}

export function outcomeOf(answer: TunnelAnswer): Outcome {
  if (!answer.ok) return { kind: answer.code === 'overloaded' ? 'crowded' : 'later' };
  const { status, code, latencyMs, response = null } = answer;
  if (code === null && status >= 200 && status < 300) return { kind: 'delivered', status, latencyMs, response };
  if (code !== null && PAUSES.has(code)) return { kind: 'later' };
  return {
    kind: 'refused',
    status: status === 0 ? null : status,
    error: code,
    isFinal: code === null ? status === GONE : NEVER.has(code),
    latencyMs,
    response,
  };
}

/** What is stored of it. */
export function attemptOf(outcome: Exclude<Outcome, { kind: 'later' | 'crowded' }>) {
  const { status, latencyMs, response } = outcome;
  return {
    status,
    error: outcome.kind === 'refused' ? outcome.error : null,
    latencyMs: Math.round(latencyMs),
    contentType: response?.contentType ?? null,
    size: response?.size ?? 0,
    body: response === null || response.size === 0 ? null : Buffer.from(response.body),
  };
}

/** How long to wait after this many tries that failed; null: it is given up. */
export function waitAfter(attempts: number): number | null {
  return attempts >= MAX_ATTEMPTS ? null : (FIRST_WAITS_MS[attempts - 1] ?? HOUR_MS);
}

/** How long to wait after so many times in a row, from 1, that there was no place for it. */
export function waitForPlace(times: number): number {
  return Math.min(MAX_CROWDED_MS, CROWDED_MS * 2 ** (times - 1));
}
