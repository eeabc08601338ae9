/**
 * Keeps all samples of a run by scenario, subject and round, and answers with medians and with ratios that are made per
 * round: the machine may be slower in one round than in the next, but then it is for both sides of the ratio.
 */
import type { Sample, SubjectName } from './subject.ts';

export class Results {
  readonly #samples = new Map<string, Map<number, Sample>>();
  readonly #singles = new Map<string, number>();

  add(scenario: string, subject: SubjectName, entry: { readonly round: number; readonly sample: Sample }): void {
    const key = `${scenario} ${subject}`;
    const rounds = this.#samples.get(key) ?? new Map<number, Sample>();
    rounds.set(entry.round, entry.sample);
    this.#samples.set(key, rounds);
  }

  samples(scenario: string, subject: SubjectName): Sample[] {
    return [...(this.#samples.get(`${scenario} ${subject}`)?.values() ?? [])];
  }

  /** Values of one column over the rounds; empty when there is no sample. */
  values(scenario: string, subject: SubjectName, key: string): number[] {
    return this.samples(scenario, subject).map((sample) => sample.values[key] ?? Number.NaN);
  }

  /** Median over the rounds, or undefined. */
  median(scenario: string, subject: SubjectName, key: string): number | undefined {
    return median(this.values(scenario, subject, key));
  }

  /** Median of the quotients subject / reference of the rounds that both have. */
  ratio(scenario: string, pair: readonly [SubjectName, SubjectName], key: string): number | undefined {
    return median(this.ratios(scenario, pair, key));
  }

  ratios(scenario: string, [subject, reference]: readonly [SubjectName, SubjectName], key: string): number[] {
    const others = this.#samples.get(`${scenario} ${reference}`);
    return [...(this.#samples.get(`${scenario} ${subject}`) ?? [])].flatMap(([round, sample]) => {
      const other = others?.get(round)?.values[key];
      return other === undefined ? [] : [(sample.values[key] ?? Number.NaN) / other];
    });
  }

  /** Median processor seconds per unit of one process, or of all processes of `names` together. */
  cpuPerUnit(scenario: string, subject: SubjectName, names: readonly string[]): number | undefined {
    return median(
      this.samples(scenario, subject).map(
        (sample) => names.reduce((sum, name) => sum + (sample.cpuSeconds[name] ?? 0), 0) / sample.units,
      ),
    );
  }

  /** Median of the per-round ratios of processor time per unit, without client and origin. */
  cpuRatio(scenario: string, [subject, reference]: readonly [SubjectName, SubjectName]): number | undefined {
    const others = this.#samples.get(`${scenario} ${reference}`);
    return median(
      [...(this.#samples.get(`${scenario} ${subject}`) ?? [])].flatMap(([round, sample]) => {
        const other = others?.get(round);
        return other === undefined ? [] : [costBetween(sample) / costBetween(other)];
      }),
    );
  }

  /** Keeps a figure that is taken once in a run. */
  addSingle(scenario: string, key: string, value: number): void {
    this.#singles.set(`${scenario} ${key}`, value);
  }

  single(scenario: string, key: string): number | undefined {
    return this.#singles.get(`${scenario} ${key}`);
  }

  /** All samples, for a file. */
  toJSON(): unknown {
    const rounds: Record<string, Record<number, Sample>> = {};
    for (const [key, samples] of this.#samples) rounds[key] = Object.fromEntries(samples);
    return { rounds, single: Object.fromEntries(this.#singles) };
  }
}

/** Processor seconds per unit of the processes between client and origin. */
function costBetween({ cpuSeconds, units }: Sample): number {
  const { client: _, origin: __, ...between } = cpuSeconds;
  return Object.values(between).reduce((sum, seconds) => sum + seconds, 0) / units;
}

/** The middle of the numbers (the mean of the two middle ones), or undefined when there are none or one is none. */
export function median(numbers: readonly number[]): number | undefined {
  if (numbers.length === 0 || numbers.some(Number.isNaN)) return undefined;
  const sorted = [...numbers].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] as number) + upper) / 2;
}

/** The smallest of the numbers that is not below this part of them; NaN when there are none. */
export function percentile(numbers: readonly number[], part: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}
