/** Values of the export's form: as they come from the API, and as they are sent to it. Pure: tested without a browser. */
import type { Schemas } from '../../api/types.ts';

export type Export = Schemas['Export'];
export type ExportEvent = Export['events'][number];

/** As the API limits them. */
export const MOST_HEADERS = 20;

export const EVENTS: ReadonlyArray<{ readonly value: ExportEvent; readonly label: string; readonly help: string }> = [
  { value: 'requests', label: 'Requests', help: 'Finished requests and connections, as in the access log.' },
  { value: 'audit', label: 'Audit events', help: 'New entries of the audit log.' },
  { value: 'security', label: 'Security events', help: 'Logins, keys, roles, access control and blocked requests.' },
];

export interface HeaderValues {
  /** In the form alone. */
  key: string;
  name: string;
  value: string;
}

export interface ExportValues {
  events: ExportEvent[];
  toCollector: boolean;
  endpoint: string;
  /** Sent instead of the saved headers; null: those stay. */
  headers: HeaderValues[] | null;
  toWebhook: boolean;
  url: string;
  /** Empty: the saved one stays, or the server creates one. */
  secret: string;
}

export function valuesOf({ events, otlp, webhook }: Export): ExportValues {
  return {
    events,
    toCollector: otlp !== null,
    endpoint: otlp?.endpoint ?? '',
    headers: otlp === null || otlp.headers.length === 0 ? [] : null,
    toWebhook: webhook !== null,
    url: webhook?.url ?? '',
    secret: '',
  };
}

/** The view to keep: the secret is shown once. */
export function withoutSecret(view: Export): Export {
  return view.webhook === null ? view : { ...view, webhook: { ...view.webhook, new_secret: null } };
}

/** Headers are sent to the address that they were set for, and to no other: another one begins without. */
export function keepsHeaders(saved: Export, endpoint: string): boolean {
  return saved.otlp !== null && saved.otlp.headers.length > 0 && saved.otlp.endpoint === endpoint.trim();
}

export function keepsSecret({ webhook }: Export, url: string): boolean {
  return webhook !== null && webhook.url === url.trim();
}

/** As the API takes it. A header without a name and a value is an empty row. */
export function bodyOf(values: ExportValues): Schemas['ExportSettings'] {
  const { events, toCollector, endpoint, headers, toWebhook, url, secret } = values;
  const filled = headers?.filter(({ name, value }) => name.trim() !== '' || value.trim() !== '');
  const sent = filled?.map(({ name, value }) => [name.trim(), value.trim()] as const);
  return {
    events,
    otlp: toCollector
      ? { endpoint: endpoint.trim(), ...(sent === undefined ? {} : { headers: Object.fromEntries(sent) }) }
      : null,
    webhook: toWebhook ? { url: url.trim(), ...(secret.trim() === '' ? {} : { secret: secret.trim() }) } : null,
  };
}

/** Problems of the fields, null where there is none. Fields of a destination that is off are not checked. */
export const CHECKS = {
  events: (events: readonly ExportEvent[], { toCollector, toWebhook }: ExportValues): string | null =>
    events.length === 0 && (toCollector || toWebhook) ? 'Select at least one event.' : null,
  endpoint: (endpoint: string, { toCollector }: ExportValues): string | null =>
    toCollector && endpoint.trim() === '' ? 'Enter the endpoint.' : null,
  url: (url: string, { toWebhook }: ExportValues): string | null =>
    toWebhook && url.trim() === '' ? 'Enter the URL.' : null,
  headers: {
    name: (name: string, values: ExportValues, path: string): string | null =>
      values.toCollector && isRepeated(values, { name, index: Number(path.split('.')[1]) })
        ? 'Another header has this name. Remove one of them.'
        : null,
  },
} as const;

/** Does a header before it have its name? Case does not count. */
function isRepeated(
  { headers }: ExportValues,
  { name, index }: { readonly name: string; readonly index: number },
): boolean {
  const key = keyOf(name);
  return key !== '' && (headers ?? []).slice(0, index).some((before) => keyOf(before.name) === key);
}

function keyOf(name: string): string {
  return name.trim().toLowerCase();
}

/** Field of the form for a path of the API. */
export const FAULTS: Readonly<Record<string, string>> = {
  'otlp.endpoint': 'endpoint',
  'webhook.url': 'url',
  'webhook.secret': 'secret',
};
