/**
 * Which requests the inspector shows: in the address of the page, in the words of `GET /inspector`, and as a question to a request that comes live.
 * Nothing in it is secret: the address may be passed on.
 */
import type { Schemas } from '../../../api/types.ts';

export type Item = Schemas['InspectedRequest'];
export type Outcome = Item['outcome'];

export interface Filter {
  readonly tunnel?: string;
  readonly method?: string;
  /** `404`, `4xx`, or `0`: the visitor got nothing. */
  readonly status?: string;
  readonly outcome?: Outcome;
  /** Part of the path or query, in either case. */
  readonly path?: string;
  /** The visitor's address, or a network. */
  readonly address?: string;
  /** `name`, or `name:value`. */
  readonly header?: string;
  /** Text in the request body or response body. */
  readonly body?: string;
  /** Whole milliseconds. */
  readonly minMs?: string;
  readonly maxMs?: string;
  /** 32 hexadecimal digits. */
  readonly trace?: string;
  /** One of `SPANS`: no older than this. Or an instant, RFC 3339. */
  readonly since?: string;
  /** An instant: older than this. */
  readonly until?: string;
  readonly replayOf?: string;
}

/** Milliseconds by the word in the address. */
export const SPANS: Readonly<Record<string, number>> = {
  '15m': 900_000,
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 604_800_000,
};

const OUTCOMES: ReadonlySet<string> = new Set<Outcome>(['forwarded', 'refused', 'failed']);
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const MAX_PATH = 200;
const MAX_TEXT = 200;
/** A day: as the server has it. */
const MAX_MS = 86_400_000;

/** What each part of the address may hold: values that the server would refuse are dropped, for a link may hold anything. */
const GOOD: Readonly<Record<string, (text: string) => boolean>> = {
  tunnel: (text) => UUID.test(text),
  method: (text) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}$/.test(text),
  status: (text) => /^([1-5][xX]{2}|[1-5]\d\d|0)$/.test(text),
  outcome: (text) => OUTCOMES.has(text),
  path: (text) => text.length > 0 && text.length <= MAX_PATH,
  address: (text) => text.length <= 64 && /^[\da-f.:]+(\/\d{1,3})?$/i.test(text),
  header: (text) => text.length <= MAX_TEXT && /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}(:[^\r\n]*)?$/.test(text),
  body: (text) => text.length > 0 && text.length <= MAX_TEXT,
  minMs: isMilliseconds,
  maxMs: isMilliseconds,
  trace: (text) => /^[\da-f]{32}$/i.test(text),
  since: (text) => Object.hasOwn(SPANS, text) || isInstant(text),
  until: isInstant,
  replayOf: (text) => UUID.test(text),
};

function isMilliseconds(text: string): boolean {
  return /^\d{1,8}$/.test(text) && Number(text) <= MAX_MS;
}

function isInstant(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z$/.test(text) && !Number.isNaN(Date.parse(text));
}

/** Reads the query of the page's address. */
export function filterIn(search: string): Filter {
  const asked = new URLSearchParams(search);
  const found = Object.entries(GOOD).flatMap(([name, isGood]) => {
    const value = asked.get(name);
    return value !== null && isGood(value) ? [[name, value] as const] : [];
  });
  return Object.fromEntries(found);
}

/** The query of the page's address, without the question mark; empty when nothing is filtered. */
export function searchOf(filter: Filter): string {
  const given = Object.entries(filter as Readonly<Record<string, string | undefined>>).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  return new URLSearchParams(given).toString();
}

export function isFiltered(filter: Filter): boolean {
  return searchOf(filter) !== '';
}

/** The same in the words of `GET /inspector`. `now`: Unix milliseconds. */
export function queryOf(filter: Filter, now: number) {
  const { tunnel, method, status, outcome, path, since, until, replayOf } = filter;
  const { address, header, body, minMs, maxMs, trace } = filter;
  const span = since === undefined ? undefined : SPANS[since];
  const from = span === undefined ? since : new Date(now - span).toISOString();
  return {
    ...(tunnel === undefined ? {} : { tunnel_id: tunnel }),
    ...(method === undefined ? {} : { method }),
    ...(status === undefined ? {} : { status }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(path === undefined ? {} : { path }),
    ...(address === undefined ? {} : { address }),
    ...(header === undefined ? {} : { header }),
    ...(body === undefined ? {} : { body }),
    ...(minMs === undefined ? {} : { min_latency_ms: Number(minMs) }),
    ...(maxMs === undefined ? {} : { max_latency_ms: Number(maxMs) }),
    ...(trace === undefined ? {} : { trace_id: trace }),
    ...(from === undefined ? {} : { since: from }),
    ...(until === undefined ? {} : { until }),
    ...(replayOf === undefined ? {} : { replay_of: replayOf }),
  };
}

/** Can the server alone say whether a request that comes live is among what is shown? The feed has neither headers nor bodies. */
export function isServersCall({ address, header, body, trace }: Filter): boolean {
  return [address, header, body, trace].some((value) => value !== undefined);
}

/**
 * Is a request that comes live among what is shown, as far as the feed tells? As the server decides it for the recorded ones; what is new is young
 * enough.
 */
export function matches(filter: Filter, item: Item): boolean {
  const { tunnel, method, status, outcome, path, until, replayOf, minMs, maxMs } = filter;
  if (until !== undefined && Date.parse(item.timestamp) >= Date.parse(until)) return false;
  if (tunnel !== undefined && item.tunnel_id !== tunnel.toLowerCase()) return false;
  if (method !== undefined && item.method !== method && item.method !== method.toUpperCase()) return false;
  if (status !== undefined && !isOfStatus(status, item.status)) return false;
  if (outcome !== undefined && item.outcome !== outcome) return false;
  if (replayOf !== undefined && item.replay_of !== replayOf.toLowerCase()) return false;
  if (minMs !== undefined && item.latency_ms < Number(minMs)) return false;
  if (maxMs !== undefined && item.latency_ms > Number(maxMs)) return false;
  return path === undefined || item.path.toLowerCase().includes(path.toLowerCase());
}

function isOfStatus(asked: string, status: number): boolean {
  return /xx$/i.test(asked) ? Math.floor(status / 100) === Number(asked[0]) : status === Number(asked);
}
