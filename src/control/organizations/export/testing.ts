/**
 * A collector of OTLP/HTTP and a receiver of webhooks, over real HTTP. It takes nothing that is not as opentelemetry-proto's JSON form says
 * (logs/v1/logs.proto, metrics/v1/metrics.proto, common/v1/common.proto). Used by tests alone.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

type Json = Record<string, unknown>;

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A response that is not 200. */
export interface Refusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Scope {
  after(close: () => void): void;
}

export class Collector {
  readonly url: string;
  readonly received: Received[] = [];
  /** What the next requests get, in turn; then 200. */
  readonly refusals: Refusal[] = [];
  readonly faults: unknown[] = [];

  constructor(port: number) {
    this.url = `http://127.0.0.1:${port}`;
  }

  static async start(t: Scope): Promise<Collector> {
    const made = Promise.withResolvers<Collector>();
    const server = createServer((request, response) => {
      void Promise.all([text(request), made.promise]).then(([body, of]) => {
        of.received.push({ path: request.url ?? '', headers: request.headers, text: body });
        const refusal = of.refusals.shift();
        if (refusal !== undefined) return response.writeHead(refusal.status, refusal.headers).end();
        try {
          if (request.url === '/v1/logs') checkLogs(JSON.parse(body) as Json);
          if (request.url === '/v1/metrics') checkMetrics(JSON.parse(body) as Json);
        } catch (error) {
          of.faults.push(error);
          return response.writeHead(400).end();
        }
        return response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => {
      server.close();
      server.closeAllConnections();
    });
    made.resolve(new Collector((server.address() as AddressInfo).port));
    return made.promise;
  }

  /** All log records so far. Throws when something was not as the form says. */
  logs(): LogRecord[] {
    if (this.faults.length > 0) throw this.faults[0];
    return this.received
      .filter(({ path }) => path === '/v1/logs')
      .flatMap(({ text: body }) => checkLogs(JSON.parse(body) as Json));
  }
}

export interface LogRecord {
  readonly eventName: string;
  readonly body: string;
  readonly severityNumber: number;
  readonly traceId: string | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
}

const NANOS = /^\d{19}$/;

function checkLogs(body: Json): LogRecord[] {
  return only(body, ['resourceLogs'])
    .list('resourceLogs')
    .flatMap((resourceLogs) => {
      const of = only(resourceLogs, ['resource', 'scopeLogs']);
      checkAttributes(of.object('resource')['attributes']);
      return of.list('scopeLogs').flatMap((scopeLogs) => {
        const scope = only(scopeLogs, ['scope', 'logRecords']);
        assert.equal(typeof scope.object('scope')['name'], 'string');
        return scope.list('logRecords').map(checkRecord);
      });
    });
}

function checkRecord(record: Json): LogRecord {
  const fields = [
    ...['timeUnixNano', 'observedTimeUnixNano', 'severityNumber', 'severityText'],
    ...['eventName', 'body', 'attributes', 'traceId', 'spanId', 'flags'],
  ];
  only(record, fields);
  assert.match(String(record['timeUnixNano']), NANOS);
  assert.equal(typeof record['timeUnixNano'], 'string', '64 bits are a decimal string');
  assert.match(String(record['observedTimeUnixNano']), NANOS);
  assert.ok([9, 13].includes(record['severityNumber'] as number), 'an enum is its number');
  const traceId = record['traceId'] as string | undefined;
  if (traceId !== undefined) assert.match(traceId, /^[0-9a-f]{32}$/, 'hexadecimal, not base64');
  return {
    eventName: record['eventName'] as string,
    body: (record['body'] as { stringValue: string }).stringValue,
    severityNumber: record['severityNumber'] as number,
    traceId,
    attributes: checkAttributes(record['attributes']),
  };
}

function checkAttributes(list: unknown): Record<string, unknown> {
  assert.ok(Array.isArray(list));
  const pairs = (list as Json[]).map((pair) => {
    only(pair, ['key', 'value']);
    const entries = Object.entries(pair['value'] as Json);
    assert.equal(entries.length, 1, 'AnyValue is a oneof');
    const [kind, value] = entries[0] as [string, unknown];
    const types: Record<string, string> = { stringValue: 'string', boolValue: 'boolean', doubleValue: 'number' };
    if (kind === 'intValue') assert.match(value as string, /^-?\d+$/);
    else assert.equal(typeof value, types[kind], kind);
    return [pair['key'] as string, kind === 'intValue' ? Number(value) : value] as const;
  });
  assert.equal(new Set(pairs.map(([key]) => key)).size, pairs.length, 'keys are unique');
  return Object.fromEntries(pairs);
}

function checkMetrics(body: Json): void {
  for (const resourceMetrics of only(body, ['resourceMetrics']).list('resourceMetrics')) {
    const of = only(resourceMetrics, ['resource', 'scopeMetrics']);
    checkAttributes(of.object('resource')['attributes']);
    for (const scope of of.list('scopeMetrics'))
      for (const metric of only(scope, ['scope', 'metrics']).list('metrics')) checkMetric(metric);
  }
}

function checkMetric(metric: Json): void {
  only(metric, ['name', 'description', 'unit', 'gauge', 'sum', 'histogram']);
  const { gauge, sum, histogram } = metric as Record<string, Json | undefined>;
  const data = gauge ?? sum ?? histogram;
  assert.ok(data !== undefined, 'a metric has data');
  if (gauge === undefined) assert.equal(data['aggregationTemporality'], 2, 'cumulative');
  if (sum !== undefined) assert.equal(sum['isMonotonic'], true);
  for (const point of data['dataPoints'] as Json[]) {
    assert.match(String(point['timeUnixNano']), NANOS);
    checkAttributes(point['attributes']);
    if (histogram === undefined) assert.equal(typeof point['asDouble'], 'number');
    else {
      const bounds = point['explicitBounds'] as number[];
      const counts = point['bucketCounts'] as string[];
      assert.equal(counts.length, bounds.length + 1);
      const total = counts.reduce((all, one) => all + Number(one), 0);
      assert.equal(String(total), point['count']);
    }
  }
}

/** Only these fields are there; what they hold. */
function only(object: Json, fields: readonly string[]) {
  const others = Object.keys(object).filter((name) => !fields.includes(name));
  assert.deepEqual(others, []);
  return {
    list: (name: string): Json[] => {
      assert.ok(Array.isArray(object[name]), name);
      return object[name] as Json[];
    },
    object: (name: string): Json => object[name] as Json,
  };
}
