/**
 * OTLP/HTTP with JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): logs. Names are those of opentelemetry-proto's logs.proto,
 * attributes those of the semantic conventions where they have one. Why by hand: docs/decisions/0031-otlp-by-hand.md. Pure.
 */
import type { ExportItem } from './export-items.ts';

export type AttributeValue = string | number | boolean;

interface KeyValue {
  readonly key: string;
  readonly value:
    | { readonly stringValue: string }
    | { readonly boolValue: boolean }
    /** 64 bits: a decimal string. */
    | { readonly intValue: string }
    | { readonly doubleValue: number };
}

/** Who sends: service.name, service.version and what else is known of it. */
export type Resource = Readonly<Record<string, AttributeValue>>;

/** SeverityNumber of logs.proto. */
const INFO = 9;
const WARN = 13;

/** Fields that the semantic conventions have a name for; all others are `culvert.…`. */
const NAMES: Readonly<Record<string, string>> = {
  method: 'http.request.method',
  status: 'http.response.status_code',
  scheme: 'url.scheme',
  host: 'server.address',
  http_version: 'network.protocol.version',
  remote_ip: 'client.address',
  user_agent: 'user_agent.original',
  referer: 'http.request.header.referer',
  bytes_in: 'http.request.size',
  bytes_out: 'http.response.size',
  reason: 'error.type',
};
/** What the record says by itself. */
const LEFT_OUT = new Set(['time', 'trace_id']);

/** The body of a request to /v1/logs (ExportLogsServiceRequest). `nowMs`: when they are sent. */
export function logsRequest(items: readonly ExportItem[], resource: Resource, nowMs: number): string {
  const scopeLogs = [{ scope: { name: 'culvert' }, logRecords: items.map((item) => logRecord(item, nowMs)) }];
  return JSON.stringify({ resourceLogs: [{ resource: { attributes: attributesOf(resource) }, scopeLogs }] });
}

function logRecord({ id, type, at, traceId, text, isWarning, data }: ExportItem, nowMs: number) {
  return {
    timeUnixNano: nanos(at),
    observedTimeUnixNano: nanos(nowMs),
    severityNumber: isWarning ? WARN : INFO,
    severityText: isWarning ? 'WARN' : 'INFO',
    eventName: `culvert.${type}`,
    body: { stringValue: text },
    attributes: [...attributesOf({ 'log.record.uid': id, 'culvert.type': type }), ...fieldsOf(data)],
    ...(traceId === '' ? {} : { traceId }),
  };
}

function fieldsOf(data: ExportItem['data']): KeyValue[] {
  return Object.entries(data).flatMap(([name, value]) => {
    if (value === null || value === '' || LEFT_OUT.has(name)) return [];
    if (name === 'path' && typeof value === 'string') return pathOf(value);
    // A port in it is the visitor's own word for the listener.
    const shown = name === 'host' ? String(value).replace(/:\d+$/, '') : value;
    return [keyValue(NAMES[name] ?? `culvert.${name}`, shown)];
  });
}

function pathOf(target: string): KeyValue[] {
  const at = target.indexOf('?');
  if (at < 0) return [keyValue('url.path', target)];
  return [keyValue('url.path', target.slice(0, at)), keyValue('url.query', target.slice(at + 1))];
}

export function attributesOf(attributes: Resource): KeyValue[] {
  return Object.entries(attributes).map(([key, value]) => keyValue(key, value));
}

function keyValue(key: string, value: AttributeValue): KeyValue {
  if (typeof value === 'string') return { key, value: { stringValue: value } };
  if (typeof value === 'boolean') return { key, value: { boolValue: value } };
  return { key, value: Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value } };
}

/** Nanoseconds since the epoch, 64 bits: a decimal string. */
export function nanos(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n);
}
