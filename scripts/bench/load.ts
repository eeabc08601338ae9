/**
 * Puts load on a subject and measures it: wrk for requests, curl for one long stream. Every measurement also takes the
 * processor time of the processes in the path. Scenarios call this; it knows nothing of rounds.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Processes } from './processes.ts';
import { type MachineTime, machineTime, readStat, treeSeconds } from './proc.ts';
import { HOST, type Sample, type Subject } from './subject.ts';

export interface RequestLoad {
  readonly path: string;
  readonly connections: number;
  readonly seconds: number;
  /** A new connection for every request. */
  readonly close?: boolean;
  /** Another name than the one that all subjects have. */
  readonly host?: string;
  /** Besides: `Name: value`. */
  readonly headers?: readonly string[];
  /** A file in Lua that says what wrk sends. */
  readonly script?: string;
  /** Network namespace of the visitor. */
  readonly netns?: string;
}

interface Measured {
  readonly values: Readonly<Record<string, number>>;
  readonly units: number;
  readonly trouble?: string;
}

export class Load {
  readonly #processes: Processes;

  constructor(processes: Processes) {
    this.#processes = processes;
  }

  /** Requests as fast as they are answered. Values: `rps`, `p50` and `p99` in microseconds. */
  requests(subject: Subject, load: RequestLoad): Promise<Sample> {
    return this.around(subject, async () => {
      const outcome = await this.#processes.run(wrkCommand(subject, load), {
        netns: load.netns,
        timeoutMs: load.seconds * 1_000 + 30_000,
      });
      const measured = readWrk(outcome.stdout);
      if (measured === undefined) throw new Error(`wrk on ${subject.name}: ${outcome.stderr || outcome.stdout}`);
      return measured;
    });
  }

  /** One download of so many bytes. Values: `gbps` in gigabytes (10^9 bytes) per second. */
  download(subject: Subject, bytes: number): Promise<Sample> {
    return this.around(subject, async () => {
      const outcome = await this.#processes.run(curlCommand(subject, `/bytes/${bytes}`));
      const { size, speed } = readCurl(outcome.stdout);
      const short = size === bytes ? {} : { trouble: `got ${size} of ${bytes} bytes` };
      return { values: { gbps: speed / 1e9 }, units: size / 1e9, ...short };
    });
  }

  /** Takes processor time and the load of the machine around an action. */
  async around(subject: Subject, action: () => Promise<Measured>): Promise<Sample> {
    const names = ['origin', ...subject.processes].filter((name) => this.#processes.isRunning(name));
    const pids = names.map((name) => this.#processes.pid(name));
    const machine = machineTime();
    const client = clientSeconds();
    const before = pids.map(treeSeconds);
    const measured = await action();
    const after = pids.map(treeSeconds);
    const then = machineTime();
    const spent = names.map((name, i): [string, number] => [name, (after[i] ?? 0) - (before[i] ?? 0)]);
    const cpuSeconds = Object.fromEntries([['client', clientSeconds() - client], ...spent]);
    return { ...measured, cpuSeconds, ...machineShares(machine, then, cpuSeconds) };
  }
}

function machineShares(
  before: MachineTime,
  after: MachineTime,
  ours: Readonly<Record<string, number>>,
): { readonly idle: number; readonly steal: number; readonly others: number } {
  const total = Math.max(0.01, after.total - before.total);
  const idle = (after.idle - before.idle) / total;
  const steal = (after.steal - before.steal) / total;
  const known = Object.values(ours).reduce((sum, seconds) => sum + seconds, 0) / total;
  return { idle, steal, others: Math.max(0, 1 - idle - steal - known) };
}

/** Waits until a small request through the subject succeeds. Throws after `timeoutMs`. */
export async function waitForAnswer(
  processes: Processes,
  subject: Subject,
  netns: string | undefined,
  timeoutMs = 15_000,
): Promise<void> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    const outcome = await processes.run([...curlCommand(subject, '/small', 5), '-f'], { netns });
    if (outcome.code === 0) return;
    if (Date.now() > until) {
      const words = subject.processes.map((name) => `${name}: ${processes.lastWords(name)}`).join('; ');
      throw new Error(`${subject.name} does not answer (curl exit ${outcome.code}); ${words}`);
    }
    await pause(100);
  }
}

/** The load program's own time: children that have been waited for are counted in the parent's line. */
function clientSeconds(): number {
  return readStat('self')?.childSeconds ?? 0;
}

export function wrkCommand(subject: Subject, load: RequestLoad): string[] {
  return [
    'wrk',
    ...['-c', String(load.connections), '-t', '1', '-d', `${load.seconds}s`, '--timeout', '10s', '--latency'],
    ...['-H', `Host: ${load.host ?? HOST}`],
    ...(load.headers ?? []).flatMap((line) => ['-H', line]),
    ...(load.close === true ? ['-H', 'Connection: close'] : []),
    ...(load.script === undefined ? [] : ['-s', load.script]),
    `${subject.scheme}://${subject.address}:${subject.port}${load.path}`,
  ];
}

/** curl throws the body away and prints size, bytes per second, seconds and version of HTTP. */
export function curlCommand(subject: Subject, path: string, maxSeconds = 60): string[] {
  return [
    'curl',
    ...['-s', '-k', '-o', '/dev/null', '-m', String(maxSeconds)],
    ...['-w', '%{size_download} %{speed_download} %{time_total} %{http_version}'],
    ...['--resolve', `${HOST}:${subject.port}:${subject.address}`],
    `${subject.scheme}://${HOST}:${subject.port}${path}`,
  ];
}

/** The same for the file that it sends. */
export function uploadCommand(curl: readonly string[], file: string, version: 1 | 2): string[] {
  const format = '%{size_upload} %{speed_upload} %{time_total} %{http_version}';
  return [...curl, '-w', format, '-H', 'Expect:', '-T', file, version === 2 ? '--http2' : '--http1.1'];
}

export function readCurl(stdout: string): { readonly size: number; readonly speed: number } {
  const [size, speed] = stdout.trim().split(' ').map(Number);
  return { size: size ?? 0, speed: speed ?? 0 };
}

/** Reads wrk's report, or gives undefined when it made none or no request was answered. */
export function readWrk(report: string): Measured | undefined {
  const total = Number(/(\d+) requests in/.exec(report)?.[1] ?? 0);
  const rps = Number(/Requests\/sec:\s+([\d.]+)/.exec(report)?.[1] ?? 0);
  const p50 = readDuration(/^\s+50%\s+(\S+)/m.exec(report)?.[1]);
  const p99 = readDuration(/^\s+99%\s+(\S+)/m.exec(report)?.[1]);
  if (total === 0) return undefined;
  const trouble = /(Socket errors.*|Non-2xx.*)/.exec(report)?.[1];
  return { values: { rps, p50, p99 }, units: total, ...(trouble === undefined ? {} : { trouble }) };
}

/** "812.00us", "1.20ms", "3.00s" in microseconds. */
function readDuration(text: string | undefined): number {
  const match = /^([\d.]+)(us|ms|s|m)$/.exec(text ?? '');
  const unit = { us: 1, ms: 1e3, s: 1e6, m: 60e6 }[match?.[2] ?? ''];
  return unit === undefined ? Number.NaN : Number(match?.[1]) * unit;
}
