/** A page in Prometheus' text format, written line by line. The library knows how labels are escaped and what `promtool` wants of a name. */
import { Counter, Gauge, Registry } from 'prom-client';

export interface Exposition {
  readonly contentType: string;
  readonly text: string;
}

type Labels = Readonly<Record<string, string>>;
/** One value without labels, or one per set of labels; of none only what the metric is about is written. */
export type Values = number | ReadonlyArray<readonly [labels: Labels, value: number]>;

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
