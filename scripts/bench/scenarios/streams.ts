/**
 * The loads of long streams: one big download, small requests while such a download saturates the same way, and event
 * streams whose events must come through at once.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { curlCommand, type Load, readCurl, readWrk, wrkCommand } from '../load.ts';
import type { Processes } from '../processes.ts';
import { HOST, type Scenario } from '../subject.ts';
import type { Tools } from '../tools.ts';

/** Connections of the small requests beside a bulk stream. */
const BESIDE = 8;
const EVENT_STREAMS = 8;
/** More than any download reaches in the time that it is given, in fewer digits than a strict parser allows. */
const ENDLESS_BYTES = 1e12;
/** Until a download runs at its full rate on loopback. */
const RAMP_MS = 300;

export interface StreamOptions {
  readonly seconds: number;
  readonly bulkBytes: number;
}

export function bulkScenario(load: Load, options: StreamOptions): Scenario {
  return {
    name: 'bulk',
    title: `one download of ${(options.bulkBytes / 1e9).toFixed(2)} GB`,
    subjects: ['direct', 'nginx', 'haproxy', 'ssh', 'culvert', 'culvert-other', 'nginx-tls', 'culvert-tls'],
    columns: [{ key: 'gbps', head: 'GB/s', digits: 2 }],
    unit: 'GB',
    measure: (subject) => load.download(subject, options.bulkBytes),
  };
}

/** Small requests alone, then beside a download through the same processes: what the download does to their p99. */
export function fairScenario(load: Load, processes: Processes, options: StreamOptions): Scenario {
  return {
    name: 'fair',
    title: `small GET, ${BESIDE} connections, alone and beside a saturating download`,
    subjects: ['direct', 'nginx', 'ssh', 'culvert', 'culvert-other'],
    columns: [
      { key: 'times', head: 'p99 times', digits: 2 },
      { key: 'alone', head: 'p99 alone us', digits: 0 },
      { key: 'beside', head: 'p99 beside us', digits: 0 },
      { key: 'p50alone', head: 'p50 alone us', digits: 0 },
      { key: 'p50beside', head: 'p50 beside us', digits: 0 },
      { key: 'rps', head: 'req/s beside', digits: 0 },
      { key: 'gbps', head: 'bulk GB/s', digits: 2 },
    ],
    measure: async (subject) => {
      const requests = { path: '/small', connections: BESIDE, seconds: options.seconds };
      const alone = await load.requests(subject, requests);
      return load.around(subject, async () => {
        const downloadSeconds = options.seconds + RAMP_MS / 1_000;
        const download = processes.run(curlCommand(subject, `/bytes/${ENDLESS_BYTES}`, downloadSeconds));
        await pause(RAMP_MS);
        const outcome = await processes.run(wrkCommand(subject, requests));
        const gbps = readCurl((await download).stdout).speed / 1e9;
        if (gbps === 0) throw new Error(`the download through ${subject.name} brought nothing`);
        const beside = readWrk(outcome.stdout);
        if (beside === undefined) throw new Error(`wrk on ${subject.name}: ${outcome.stderr || outcome.stdout}`);
        const [before, after] = [alone.values['p99'] ?? Number.NaN, beside.values['p99'] ?? Number.NaN];
        return {
          values: {
            times: after / before,
            alone: before,
            beside: after,
            p50alone: alone.values['p50'] ?? Number.NaN,
            p50beside: beside.values['p50'] ?? Number.NaN,
            rps: beside.values['rps'] ?? Number.NaN,
            gbps,
          },
          units: beside.units,
          ...(beside.trouble === undefined ? {} : { trouble: beside.trouble }),
        };
      });
    },
  };
}

/** The time from the origin's write of an event to its arrival at the visitor. */
export function eventScenario(load: Load, processes: Processes, tools: Tools, seconds: number): Scenario {
  return {
    name: 'events',
    title: `event stream, ${EVENT_STREAMS} streams of 50 events/s: write at the origin to first byte at the visitor`,
    subjects: ['direct', 'nginx', 'haproxy', 'ssh', 'culvert', 'culvert-other'],
    columns: [
      { key: 'p50_us', head: 'p50 us', digits: 0 },
      { key: 'p99_us', head: 'p99 us', digits: 0 },
      { key: 'max_us', head: 'max us', digits: 0 },
      { key: 'events', head: 'events', digits: 0 },
    ],
    measure: (subject) =>
      load.around(subject, async () => {
        const { address, port } = subject;
        const command = [tools.program('events'), address, String(port), String(EVENT_STREAMS), String(seconds), HOST];
        const outcome = await processes.run(command);
        if (outcome.code !== 0) throw new Error(`events on ${subject.name}: ${outcome.stderr}`);
        const values = readNumbers(outcome.stdout);
        return { values, units: values['events'] ?? 0 };
      }),
  };
}

function readNumbers(json: string): Record<string, number> {
  const parsed: unknown = JSON.parse(json);
  if (typeof parsed !== 'object' || parsed === null) throw new Error(`not an object: ${json}`);
  return Object.fromEntries(Object.entries(parsed).map(([key, value]): [string, number] => [key, Number(value)]));
}
