/**
 * Bandwidth limits: how near a limited token comes to its limit, how evenly, and how long a small request takes on it meanwhile. Three
 * limits at once, each with its own token and two agents, on a server of their own.
 */
import type { Bench } from '../bench.ts';
import { culvertBuild, mintToken, startAgent, startServer } from '../culvert.ts';
import { say } from '../report/progress.ts';
import { number } from '../report/tables.ts';
import { Arrivals, type Course, type Flow, runFlows, settled, startEndlessOrigin } from '../traffic.ts';

const NAME = 'bandwidth';
const LIMITS_MBPS = [1, 10, 100] as const;
const SECONDS = 10;
const LOADS: readonly { readonly title: string; readonly flows: (names: readonly [string, string]) => Flow[] }[] = [
  { title: 'one download', flows: ([name]) => [{ name, downloads: 1, uploads: 0 }] },
  { title: 'one upload', flows: ([name]) => [{ name, downloads: 0, uploads: 1 }] },
  { title: 'both at once', flows: ([name]) => [{ name, downloads: 1, uploads: 1 }] },
  { title: '8 downloads', flows: ([name]) => [{ name, downloads: 8, uploads: 0 }] },
  { title: '8 uploads', flows: ([name]) => [{ name, downloads: 0, uploads: 8 }] },
  { title: 'two agents', flows: (names) => names.map((name) => ({ name, downloads: 1, uploads: 1 })) },
];

/** Measures; the text is the table for the report. */
export async function measureBandwidth(bench: Bench): Promise<string> {
  const { processes, options } = bench;
  const arrivals = new Arrivals();
  const origin = await startEndlessOrigin(arrivals);
  try {
    const server = await startServer(processes, culvertBuild(options), { name: 'server-bandwidth' });
    for (const limit of LIMITS_MBPS) {
      const token = await mintToken(server, { name: `limit-${limit}`, tunnelQuota: 10, bandwidthLimitMbps: limit });
      for (const subdomain of namesOf(limit))
        await startAgent(processes, server, { originPort: origin.port, name: subdomain, subdomain, token });
    }
    const rows: string[] = [];
    for (const { title, flows } of LOADS) {
      const way = { port: server.httpPort, seconds: SECONDS, arrivals };
      await Promise.all(LIMITS_MBPS.map((limit) => settled(namesOf(limit), server.httpPort)));
      const courses = await Promise.all(LIMITS_MBPS.map((limit) => runFlows(flows(namesOf(limit)), way)));
      for (const [i, course] of courses.entries()) {
        const row = rowOf(title, LIMITS_MBPS[i] ?? Number.NaN, course);
        say(`${NAME}: ${row}`);
        rows.push(`  ${row}`);
      }
    }
    return [`${NAME}: ${SECONDS} s each; seconds are without the first`, ...rows].join('\n');
  } finally {
    origin.close();
    await processes.stopAll();
  }
}

function namesOf(limit: number): readonly [string, string] {
  return [`limit-${limit}`, `limit-${limit}-b`];
}

function rowOf(title: string, limit: number, { seconds, smallMs }: Course): string {
  const mean = seconds.reduce((sum, each) => sum + each, 0) / seconds.length;
  const later = seconds.slice(1).map((each) => each / limit);
  const sorted = [...smallMs].sort((a, b) => a - b);
  return [
    title.padEnd(13),
    `limit ${String(limit).padStart(3)} Mbps`,
    `measured ${number(mean, 2).padStart(6)} (${number(mean / limit, 3)})`,
    `seconds ${number(Math.min(...later), 2)}..${number(Math.max(...later), 2)}`,
    `small GET median ${number(sorted[Math.floor(sorted.length / 2)], 0)} max ${number(sorted.at(-1), 0)} ms (${sorted.length})`,
  ].join('  ');
}
