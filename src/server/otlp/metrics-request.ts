/**
 * The server's metrics as OTLP/HTTP with JSON: names are those of opentelemetry-proto's metrics.proto. Sums and histograms are cumulative, from the
 * server's start. Pure.
 */
import type { SheetMetric } from '../../control/core/http/metric-sheet.ts';
import { attributesOf, nanos, type Resource } from '../../control/organizations/export/otlp.ts';

/** AggregationTemporality of metrics.proto. */
const CUMULATIVE = 2;

type Value = SheetMetric['values'][number];

interface Span {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly now: number;
}

/** The body of a request to /v1/metrics (ExportMetricsServiceRequest). */
export function metricsRequest(metrics: readonly SheetMetric[], resource: Resource, span: Span): string {
  const scopeMetrics = [{ scope: { name: 'culvert' }, metrics: metrics.map((metric) => metricOf(metric, span)) }];
  return JSON.stringify({ resourceMetrics: [{ resource: { attributes: attributesOf(resource) }, scopeMetrics }] });
}

function metricOf({ name, help, type, values }: SheetMetric, span: Span) {
  const named = { name, description: help };
  if (type === 'histogram') {
    const dataPoints = histogramPoints(name, values, span);
    return { ...named, unit: 's', histogram: { aggregationTemporality: CUMULATIVE, dataPoints } };
  }
  const dataPoints = values.map(({ labels, value }) => ({ ...pointOf(labels, span, type), asDouble: value }));
  if (type === 'gauge') return { ...named, gauge: { dataPoints } };
  return { ...named, sum: { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints } };
}

function pointOf(labels: Value['labels'], { startedAt, now }: Span, type: SheetMetric['type']) {
  const start = type === 'gauge' ? {} : { startTimeUnixNano: nanos(startedAt) };
  return { ...start, timeUnixNano: nanos(now), attributes: attributesOf(labels) };
}

/** Prometheus has a value per bucket, each with all of those below in it; OTLP has a point with each bucket by itself. */
function histogramPoints(name: string, values: readonly Value[], span: Span) {
  const series = Map.groupBy(values, ({ labels }) => JSON.stringify({ ...labels, le: undefined }));
  return [...series].map(([labels, of]) => {
    const buckets = of.filter(({ metricName }) => metricName === `${name}_bucket`);
    const valueOf = (suffix: string): number => of.find(({ metricName }) => metricName === name + suffix)?.value ?? 0;
    return {
      ...pointOf(JSON.parse(labels) as Value['labels'], span, 'histogram'),
      count: String(valueOf('_count')),
      sum: valueOf('_sum'),
      bucketCounts: buckets.map(({ value }, i) => String(value - (buckets[i - 1]?.value ?? 0))),
      explicitBounds: buckets.map(({ labels: { le } }) => Number(le)).filter(Number.isFinite),
    };
  });
}
