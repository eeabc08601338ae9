/**
 * The words of the benchmark: a subject is a way to the origin (direct, through nginx, through Culvert, …), a scenario is
 * a load, a sample is what one subject did in one round of one scenario.
 */

/** `culvert-other`, `culvert-tls-other`: another build, or the same with other threads (`--other`, `--other-threads`). */
export const SUBJECTS = [
  'direct',
  'nginx',
  'haproxy',
  'ssh',
  'culvert',
  'culvert-other',
  'nginx-tls',
  'culvert-tls',
  'culvert-tls-other',
] as const;
export type SubjectName = (typeof SUBJECTS)[number];

/** The name that all requests ask for, so that the bytes are the same for every subject. */
export const HOST = 'bench.localhost';

export interface Subject {
  readonly name: SubjectName;
  readonly scheme: 'http' | 'https';
  readonly address: string;
  readonly port: number;
  /** Names of the processes between the client and the origin: their processor time is what this subject costs. */
  readonly processes: readonly string[];
}

export interface Sample {
  /** What was measured, by column key. */
  readonly values: Readonly<Record<string, number>>;
  /** Processor seconds by process name; `client` is the load program. */
  readonly cpuSeconds: Readonly<Record<string, number>>;
  /** How many requests or gigabytes the processor time was spent on. */
  readonly units: number;
  /** Share of the machine's time that was idle, and that the host took away, 0 to 1. */
  readonly idle: number;
  readonly steal: number;
  /** Share of the machine's time that went to processes that have nothing to do with this sample: a round to be doubted. */
  readonly others: number;
  /** Errors that the load program saw, in its words. */
  readonly trouble?: string;
}

export interface Column {
  readonly key: string;
  readonly head: string;
  readonly digits: number;
}

export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly subjects: readonly SubjectName[];
  /** The first column is the one that ratios are made of. */
  readonly columns: readonly [Column, ...Column[]];
  /** What processor time is divided by; absent where it says nothing. */
  readonly unit?: 'request' | 'GB';
  measure(subject: Subject): Promise<Sample>;
}
