/** Reads what `GET /superadmin/metrics` answers: the text format of Prometheus, as far as this server writes it. Pure: tested without a browser. */

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export type Metrics = ReadonlyMap<string, readonly Sample[]>;

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** What is no sample is passed over. */
export function readMetrics(text: string): Metrics {
  const metrics = new Map<string, Sample[]>();
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    const samples = metrics.get(name) ?? [];
    samples.push({ labels: readLabels(labels), value: Number(value) });
    metrics.set(name, samples);
  }
  return metrics;
}

function readLabels(text: string): Record<string, string> {
  const pairs = [...text.matchAll(LABEL)].map(([, name = '', value = '']) => [name, unescaped(value)] as const);
  return Object.fromEntries(pairs);
}

function unescaped(value: string): string {
  return value.replaceAll(/\\(.)/g, (_, next: string) => (next === 'n' ? '\n' : next));
}

/** The sum of a metric's samples, of those with this label when one is given; 0 when there is none. */
export function figure(metrics: Metrics, name: string, label?: readonly [name: string, value: string]): number {
  const samples = metrics.get(name) ?? [];
  const wanted = label === undefined ? samples : samples.filter(({ labels }) => labels[label[0]] === label[1]);
  return wanted.reduce((sum, { value }) => sum + value, 0);
}

/** Its samples by the value of one label. */
export function byLabel(metrics: Metrics, name: string, label: string): ReadonlyMap<string, number> {
  return new Map((metrics.get(name) ?? []).map(({ labels, value }) => [labels[label] ?? '', value]));
}
