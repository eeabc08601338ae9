/** How a batch goes to its receiver: OTLP/HTTP, or a webhook that is signed by Standard Webhooks. */
import { guardedPost, type Posted, type PostRules } from '../../../base/net/outbound/guarded-post.ts';
import { signedHeaders } from '../../../signatures/sign.ts';
import type { ExportItem } from './export-items.ts';
import type { Send, Sent } from './export-queue.ts';
import { logsRequest, type Resource } from './otlp.ts';

/** Of OTLP/HTTP (https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes): all others mean that the batch is at fault. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** A receiver that says so wants none of it any more. */
const GONE = 410;
const JSON_TYPE = { 'Content-Type': 'application/json' } as const;

export interface OtlpTarget {
  /** Base URL: /v1/logs comes behind it, unless it ends so. */
  readonly endpoint: string;
  readonly headers: () => Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>>;
  readonly resource: Resource;
}

export function sendByOtlp({ endpoint, headers, resource }: OtlpTarget, rules: PostRules, now: () => number): Send {
  const url = signalUrl(endpoint, 'logs');
  return async (items) => {
    const body = logsRequest(items, resource, now());
    return ofOtlp(await guardedPost(url, { headers: { ...(await headers()), ...JSON_TYPE }, body }, rules));
  };
}

/** As exporters build it of OTEL_EXPORTER_OTLP_ENDPOINT. */
export function signalUrl(endpoint: string, signal: 'logs' | 'metrics'): string {
  const base = endpoint.replace(/\/+$/, '').replace(/\/v1\/(logs|metrics)$/, '');
  return `${base}/v1/${signal}`;
}

export function ofOtlp(posted: Posted): Sent {
  return ofStatus(posted, RETRYABLE.has(posted.status));
}

export function sendByWebhook(
  { url, secret }: { readonly url: string; readonly secret: string },
  rules: PostRules,
  now: () => number,
): Send {
  return async (items, id) => {
    const at = now();
    const body = webhookBody(items, at);
    const headers = { ...JSON_TYPE, ...signedHeaders(secret, { id, at, body }) };
    const posted = await guardedPost(url, { headers, body }, rules);
    return ofStatus(posted, posted.status !== GONE);
  };
}

/** Form of Standard Webhooks: type, timestamp, data. */
function webhookBody(items: readonly ExportItem[], at: number): string {
  const events = items.map(({ id, type, data }) => ({ id, type, ...data }));
  return JSON.stringify({ type: 'culvert.events', timestamp: new Date(at).toISOString(), data: { events } });
}

function ofStatus({ status, retryAfterSeconds }: Posted, mayRetry: boolean): Sent {
  if (status >= 200 && status < 300) return { ok: true };
  return { ok: false, error: `the response status is ${status}`, mayRetry, retryAfterSeconds };
}
