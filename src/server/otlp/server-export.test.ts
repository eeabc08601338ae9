/** What the server sends to the operator's collector, over real HTTP. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { systemClock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { silentLog } from '../../base/log.ts';
import { MetricSheet } from '../../control/core/http/metric-sheet.ts';
import type { ExportItem } from '../../control/organizations/export/export-items.ts';
import { Collector } from '../../control/organizations/export/testing.ts';
import { ENTRY } from '../access-log/testing.ts';
import { readHeaders } from './headers-file.ts';
import { ServerExport } from './server-export.ts';

function sheet(): MetricSheet {
  const made = new MetricSheet();
  made.gauge('culvert_open', 'Open', [[{ state: 'a' }, 3]]);
  made.counter('culvert_all_total', 'All', 7);
  made.histogram('culvert_request_duration_seconds', 'Durations', {
    limits: [0.1, 1],
    rows: [[{ tunnel: 'shop' }, { counts: [4, 2, 1], sumSeconds: 5.5 }]],
  });
  return made;
}

async function fixture(
  t: TestContext,
  signals: ReadonlyArray<'logs' | 'metrics'>,
  log: Logger = silentLog,
  nextAudit: () => readonly ExportItem[] = () => [],
) {
  const collector = await Collector.start(t);
  const made = new ServerExport(
    {
      endpoint: collector.url,
      signals,
      headers: async () => ({ 'x-key': 'k' }),
      resource: { 'service.name': 'culvert' },
    },
    { nextAudit, metrics: () => sheet().metrics(), clock: systemClock, log },
  );
  t.after(() => made.close());
  return { collector, made };
}

test('export of the server: metrics are cumulative sums, gauges and histograms', async (t) => {
  const { collector, made } = await fixture(t, ['metrics']);
  await made.sendMetrics();
  assert.deepEqual(collector.faults, []);
  const [got] = collector.received;
  assert.deepEqual([got?.path, got?.headers['x-key']], ['/v1/metrics', 'k']);
  const { resourceMetrics } = JSON.parse(got?.text ?? '') as {
    resourceMetrics: Array<{ scopeMetrics: Array<{ metrics: Array<Record<string, unknown>> }> }>;
  };
  const metrics = resourceMetrics[0]?.scopeMetrics[0]?.metrics ?? [];
  const of = (name: string): unknown => metrics.find((metric) => metric['name'] === name);
  const point = { timeUnixNano: ANY, attributes: [] };
  const started = { ...point, startTimeUnixNano: ANY };
  assert.deepEqual(masked(of('culvert_open')), {
    name: 'culvert_open',
    description: 'Open',
    gauge: { dataPoints: [{ ...point, asDouble: 3, attributes: [{ key: 'state', value: { stringValue: 'a' } }] }] },
  });
  assert.deepEqual(masked(of('culvert_all_total')), {
    name: 'culvert_all_total',
    description: 'All',
    sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: [{ ...started, asDouble: 7 }] },
  });
  assert.deepEqual(masked(of('culvert_request_duration_seconds')), {
    name: 'culvert_request_duration_seconds',
    description: 'Durations',
    unit: 's',
    histogram: {
      aggregationTemporality: 2,
      dataPoints: [
        {
          ...started,
          count: '7',
          sum: 5.5,
          bucketCounts: ['4', '2', '1'],
          explicitBounds: [0.1, 1],
          attributes: [{ key: 'tunnel', value: { stringValue: 'shop' } }],
        },
      ],
    },
  });
});

const ANY = 'a time';

/** With its times the same. */
function masked(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(/"\d{19}"/g, JSON.stringify(ANY)));
}

test('export of the server: requests of all organizations are log records, and nothing where logs are off', async (t) => {
  const { collector, made } = await fixture(t, ['logs']);
  made.take([ENTRY, { ...ENTRY, orgId: null, tunnelId: null }]);
  made.pump();
  await made.idle();
  assert.equal(collector.logs().length, 2);
  const { made: other } = await fixture(t, ['metrics']);
  other.take([ENTRY]);
  assert.equal(other.stats().waiting, 0);
});

test('export of the server: 20,000 records may wait, for the requests of all organizations', async (t) => {
  const { made } = await fixture(t, ['logs']);
  made.take(Array.from({ length: 20_001 }, () => ENTRY));
  assert.deepEqual([made.stats().waiting, made.stats().dropped], [20_000, 1]);
});

test('export of the server: a collector that fails is logged once, and once when it is well again', async (t) => {
  const lines: string[] = [];
  const log = {
    ...silentLog,
    warn: (_: object, text: string) => lines.push(text),
    info: (_: object, text: string) => lines.push(text),
  };
  const { collector, made } = await fixture(t, ['metrics'], log);
  collector.refusals.push({ status: 500 }, { status: 500 });
  for (let i = 0; i < 4; i++) await made.sendMetrics();
  assert.deepEqual(lines, ['could not export to the collector; retrying', 'exporting to the collector again']);
});

test('export of the server: an audit log that cannot be read is logged once, and requests are still sent', async (t) => {
  const lines: string[] = [];
  const log = { ...silentLog, error: (_: object, text: string) => lines.push(text) };
  const { collector, made } = await fixture(t, ['logs'], log, () => {
    throw new Error('database is locked');
  });
  made.take([ENTRY]);
  for (let i = 0; i < 2; i++) made.pump();
  await made.idle();
  assert.equal(collector.logs().length, 1);
  assert.deepEqual(lines, ['could not read the audit log for the export; retrying']);
});

test('headers file: a field per line, and what is no field is named', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-headers-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'headers');
  writeFileSync(file, '# of the collector\nAuthorization: Bearer a b\r\n\nX-Scope-OrgID:  7 \n');
  assert.deepEqual(await readHeaders(file), { Authorization: 'Bearer a b', 'X-Scope-OrgID': '7' });
  assert.deepEqual(await readHeaders(null), {});
  writeFileSync(file, 'Authorization: x\nnonsense\n');
  await assert.rejects(readHeaders(file), /headers:2 \(export\.otlp\.headers_file\) must be a line like/);
});
