/** HTTP/2 to the visitor, beside nginx as an HTTP/2 proxy to the same origin: small requests by h2load, and one large download by curl. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { curlCommand, type Load, readCurl } from '../load.ts';
import type { Processes } from '../processes.ts';
import { HOST, type Scenario, type Subject, type SubjectName } from '../subject.ts';
import type { Tools } from '../tools.ts';

const SUBJECTS: readonly SubjectName[] = ['nginx-tls', 'culvert-tls'];
const CONNECTIONS = 10;
const STREAMS = 20;
const DOWNLOAD_BYTES = 100_000_000;

interface Parts {
  readonly load: Load;
  readonly processes: Processes;
  readonly tools: Tools;
  readonly seconds: number;
}

export function http2Scenarios({ load, processes, tools, seconds }: Parts): Scenario[] {
  return [
    {
      name: 'h2',
      title: `HTTP/2, small GET, ${CONNECTIONS} connections with ${STREAMS} streams each`,
      subjects: SUBJECTS,
      columns: [
        { key: 'rps', head: 'req/s', digits: 0 },
        { key: 'p50', head: 'p50 us', digits: 0 },
        { key: 'p99', head: 'p99 us', digits: 0 },
      ],
      unit: 'request',
      measure: (subject) =>
        load.around(subject, async () => {
          const log = join(processes.folder, 'h2load.log');
          const h2load = tools.find('h2load');
          if (h2load === undefined) throw new Error('h2load is not here (Debian package nghttp2-client)');
          const { stdout, stderr } = await processes.run(h2loadCommand(h2load, subject, { log, seconds }), {
            timeoutMs: seconds * 1_000 + 30_000,
          });
          return readH2load(stdout + stderr, log);
        }),
    },
    {
      name: 'h2-bulk',
      title: `HTTP/2, one download of ${DOWNLOAD_BYTES / 1e6} MB`,
      subjects: SUBJECTS,
      columns: [{ key: 'gbps', head: 'GB/s', digits: 3 }],
      unit: 'GB',
      measure: (subject) =>
        load.around(subject, async () => {
          const words = [...curlCommand(subject, `/bytes/${DOWNLOAD_BYTES}`), '--http2'];
          const { stdout } = await processes.run(words);
          if (!stdout.trim().endsWith(' 2')) throw new Error(`curl got no HTTP/2 from ${subject.name}: ${stdout}`);
          const { size, speed } = readCurl(stdout);
          const short = size === DOWNLOAD_BYTES ? {} : { trouble: `got ${size} of ${DOWNLOAD_BYTES} bytes` };
          return { values: { gbps: speed / 1e9 }, units: size / 1e9, ...short };
        }),
    },
  ];
}

function h2loadCommand(
  h2load: string,
  { address, port }: Subject,
  of: { readonly log: string; readonly seconds: number },
): string[] {
  return [
    h2load,
    ...['-c', String(CONNECTIONS), '-m', String(STREAMS), '-t', '1', '-D', String(of.seconds)],
    ...[`--connect-to=${address}:${port}`, `--log-file=${of.log}`],
    `https://${HOST}:${port}/small`,
  ];
}

/** h2load's report has no percentiles: its log has a line per request (start, status, microseconds). */
function readH2load(report: string, log: string): { values: Record<string, number>; units: number; trouble?: string } {
  if (!/Application protocol: h2\b/.test(report)) throw new Error(`h2load got no HTTP/2: ${report.slice(-300)}`);
  const rps = Number(/finished in [\d.]+\w+, ([\d.]+) req\/s/.exec(report)?.[1]);
  const times = readFileSync(log, 'utf8')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [Number(line.split('\t')[2])]))
    .sort((a, b) => a - b);
  rmSync(log);
  if (times.length === 0 || !(rps > 0)) throw new Error(`h2load: ${report.slice(-300)}`);
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? Number.NaN;
  const bad = /(\d+) failed, (\d+) errored, (\d+) timeout/.exec(report);
  const [, , , , other] = /status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx/.exec(report) ?? [];
  const isTrouble = bad?.slice(1).some((count) => Number(count) > 0) === true || Number(other) > 0;
  return {
    values: { rps, p50: at(0.5), p99: at(0.99) },
    units: times.length,
    ...(isTrouble ? { trouble: `${bad?.[0] ?? ''}; ${other ?? 0} answers 5xx` } : {}),
  };
}
