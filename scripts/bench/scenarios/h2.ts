/**
 * HTTP/2 to the visitor, beside nginx as an HTTP/2 proxy to the same origin: requests by h2load with many streams a connection and with one, and
 * large bodies both ways by curl, which says them in HTTP/1.1 too.
 */
import { closeSync, ftruncateSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { curlCommand, type Load, readCurl, uploadCommand } from '../load.ts';
import type { Processes } from '../processes.ts';
import { HOST, type Sample, type Scenario, type Subject, type SubjectName } from '../subject.ts';
import type { Tools } from '../tools.ts';

const SUBJECTS: readonly SubjectName[] = ['nginx-tls', 'culvert-tls', 'culvert-tls-other'];
const DOWNLOAD_BYTES = 100_000_000;
const UPLOAD_BYTES = 200_000_000;

interface Parts {
  readonly load: Load;
  readonly processes: Processes;
  readonly tools: Tools;
  readonly seconds: number;
}

/** What h2load asks for, and how. */
interface Requests {
  readonly connections: number;
  readonly streams: number;
  readonly path: string;
}

export function http2Scenarios(parts: Parts): Scenario[] {
  return [
    requests(parts, 'h2', { connections: 10, streams: 20, path: '/small' }),
    requests(parts, 'h2-many', { connections: 8, streams: 16, path: '/small' }),
    requests(parts, 'h2-one', { connections: 64, streams: 1, path: '/small' }),
    requests(parts, 'h2-64k', { connections: 8, streams: 4, path: '/64k' }),
    body(parts, 'h2-bulk', `HTTP/2, one download of ${DOWNLOAD_BYTES / 1e6} MB`, (subject) => download(subject)),
    body(parts, 'h2-upload', `HTTP/2, one upload of ${UPLOAD_BYTES / 1e6} MB`, (subject) => upload(parts, subject, 2)),
    body(parts, 'upload', `HTTP/1.1 on TLS, one upload of ${UPLOAD_BYTES / 1e6} MB`, (subject) =>
      upload(parts, subject, 1),
    ),
  ];
}

function requests({ load, processes, tools, seconds }: Parts, name: string, of: Requests): Scenario {
  const { connections, streams, path } = of;
  return {
    name,
    title: `HTTP/2, GET ${path}, ${connections} connections with ${streams} stream${streams === 1 ? '' : 's'} each`,
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
        const command = h2loadCommand(h2load, subject, { ...of, log, seconds });
        const { stdout, stderr } = await processes.run(command, { timeoutMs: seconds * 1_000 + 30_000 });
        return readH2load(stdout + stderr, log);
      }),
  };
}

interface Body {
  readonly command: readonly string[];
  readonly bytes: number;
  /** Of HTTP, as curl names it. */
  readonly version: '1.1' | '2';
}

function body({ load, processes }: Parts, name: string, title: string, of: (subject: Subject) => Body): Scenario {
  return {
    name,
    title,
    subjects: SUBJECTS,
    columns: [{ key: 'gbps', head: 'GB/s', digits: 3 }],
    unit: 'GB',
    measure: (subject): Promise<Sample> =>
      load.around(subject, async () => {
        const { command, bytes, version } = of(subject);
        const { stdout } = await processes.run(command);
        if (!stdout.trim().endsWith(` ${version}`))
          throw new Error(`curl got no HTTP/${version} from ${subject.name}: ${stdout}`);
        const { size, speed } = readCurl(stdout);
        const short = size === bytes ? {} : { trouble: `${size} of ${bytes} bytes` };
        return { values: { gbps: speed / 1e9 }, units: size / 1e9, ...short };
      }),
  };
}

function download(subject: Subject): Body {
  const command = [...curlCommand(subject, `/bytes/${DOWNLOAD_BYTES}`), '--http2'];
  return { command, bytes: DOWNLOAD_BYTES, version: '2' };
}

/** The origin reads all of it and answers in a few bytes. */
function upload({ processes }: Parts, subject: Subject, version: 1 | 2): Body {
  const file = join(processes.folder, 'upload');
  const descriptor = openSync(file, 'w');
  ftruncateSync(descriptor, UPLOAD_BYTES);
  closeSync(descriptor);
  const command = uploadCommand(curlCommand(subject, '/small'), file, version);
  return { command, bytes: UPLOAD_BYTES, version: version === 2 ? '2' : '1.1' };
}

function h2loadCommand(
  h2load: string,
  { address, port }: Subject,
  of: Requests & { readonly log: string; readonly seconds: number },
): string[] {
  return [
    h2load,
    ...['-c', String(of.connections), '-m', String(of.streams), '-t', '1', '-D', String(of.seconds)],
    ...[`--connect-to=${address}:${port}`, `--log-file=${of.log}`],
    `https://${HOST}:${port}${of.path}`,
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
