/** A page in Prometheus' text format, written line by line. The library knows how labels are escaped and what `promtool` wants of a name. */
import { Counter, Gauge, type Metric, Registry } from 'prom-client';

export interface Exposition {
  readonly contentType: string;
  readonly text: string;
}

type Labels = Readonly<Record<string, string>>;
/** One value without labels, or one per set of labels; of none only what the metric is about is written. */
export type Values = number | ReadonlyArray<readonly [labels: Labels, value: number]>;

/** Durations or sizes that were counted elsewhere. */
export interface Counted {
  /** How many are in each bucket alone; the last one is above all limits. */
  readonly counts: readonly number[];
  readonly sumSeconds: number;
}

/** One metric with all of its values. */
export interface SheetMetric {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly values: ReadonlyArray<{
    readonly metricName?: string;
    readonly labels: Readonly<Record<string, string | number>>;
    readonly value: number;
  }>;
}

/** A sheet per answer: what one organization sees was never in another's. */
export class MetricSheet {
  readonly #registry = new Registry();

  /** What goes up and down. */
  gauge(name: string, help: string, values: Values): void {
    const rows = rowsOf(values);
    const gauge = new Gauge({ name, help, labelNames: labelsOf(rows), registers: [this.#registry] });
    for (const [labels, value] of rows) gauge.set(labels, value);
  }

  /** What only grows, until whatever counts it starts anew; its name ends in `_total`. */
  counter(name: string, help: string, values: Values): void {
    const rows = rowsOf(values);
    const counter = new Counter({ name, help, labelNames: labelsOf(rows), registers: [this.#registry] });
    for (const [labels, value] of rows) counter.inc(labels, value);
  }

  /** What only grows, by upper limits in seconds; its name ends in `_seconds`. The library's own counts one observation at a time. */
  histogram(
    name: string,
    help: string,
    of: { readonly limits: readonly number[]; readonly rows: ReadonlyArray<readonly [Labels, Counted]> },
  ): void {
    const values = of.rows.flatMap(([labels, { counts, sumSeconds }]) => {
      let below = 0;
      const buckets = counts.map((count, i) => {
        below += count;
        const le = i < of.limits.length ? String(of.limits[i]) : '+Inf';
        return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: below };
      });
      const sum = { metricName: `${name}_sum`, labels, value: sumSeconds };
      return [...buckets, sum, { metricName: `${name}_count`, labels, value: below }];
    });
    const written = { name, help, type: 'histogram', aggregator: 'sum', values };
    this.#registry.registerMetric({ name, get: async () => written } as unknown as Metric);
  }

  /** What is on it, as plain data: of a histogram the `_bucket`, `_sum` and `_count` values of Prometheus. */
  async metrics(): Promise<readonly SheetMetric[]> {
    return (await this.#registry.getMetricsAsJSON()) as unknown as SheetMetric[];
  }

  async page(): Promise<Exposition> {
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }
}

/** Counts by name, as values with the name as the one label. */
export function byLabel(label: string, counts: Readonly<Record<string, number>>): Values {
  return Object.entries(counts).map(([name, value]) => [{ [label]: name }, value]);
}

function rowsOf(values: Values): ReadonlyArray<readonly [Labels, number]> {
  return typeof values === 'number' ? [[{}, values]] : values;
}

/** Where there is no row there is a label all the same: the library writes a 0 for what has none, and an alarm on too little would go off. */
function labelsOf(rows: ReadonlyArray<readonly [Labels, number]>): string[] {
  return Object.keys(rows[0]?.[0] ?? { of: '' });
}
