/**
 * Large bodies of a visitor at 50 ms round trip, both ways, by HTTP/1.1 and HTTP/2 on TLS: windows that are too small show here. The visitor is in a
 * network namespace of its own, all else in another one.
 */
import { closeSync, ftruncateSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import {
  type CulvertBuild,
  culvertBuild,
  httpsSubject,
  moveServer,
  otherBuild,
  startAgent,
  startServer,
} from '../culvert.ts';
import { addNamespaces, type Ends, endsOf, NEAR_ADDRESS, removePresent, startLink } from '../link-ends.ts';
import { curlCommand, readCurl, uploadCommand } from '../load.ts';
import { startOrigin } from '../peers.ts';
import { say } from '../report/progress.ts';
import { align, number } from '../report/tables.ts';
import { median } from '../results.ts';
import type { Subject } from '../subject.ts';

const NAME = 'far';
const BYTES = 200_000_000;
const LINK = ['--delay-ms', '25', '--loss-pct', '0', '--rate-mbit', '2000', '--queue', '20000'];

const WAYS = ['download 1.1', 'download 2', 'upload 1.1', 'upload 2'] as const;
type Way = (typeof WAYS)[number];

/** Measures and keeps the ratios under `far`; the text is the table for the report. */
export async function measureFar(bench: Bench): Promise<string> {
  const { processes, tools, options, results } = bench;
  const ip = tools.find('ip');
  if (process.getuid?.() !== 0 || ip === undefined)
    return `${NAME} is SKIPPED: namespaces need root and the program ip`;
  const ends = endsOf();
  processes.atEnd(() => removePresent(ends, ip));
  await addNamespaces(processes, ends, undefined);
  await startLink(bench, ends, LINK);
  const origin = await startOrigin(processes, tools, { name: 'origin-far', address: '127.0.0.1', netns: ends.near });
  const file = join(processes.folder, 'upload');
  const descriptor = openSync(file, 'w');
  ftruncateSync(descriptor, BYTES);
  closeSync(descriptor);
  const lines: string[][] = [['', ...WAYS.map((way) => `${way} MB/s`), 'download x', 'upload x']];
  const subjects = new Map<string, Subject>();
  const builds: [string, CulvertBuild | undefined][] = [
    ['culvert', culvertBuild(options)],
    ['other', otherBuild(options)],
  ];
  for (const [name, build] of builds)
    if (build !== undefined) subjects.set(name, await startFar(bench, { build, name, ends, originPort: origin.port }));
  const found = new Map<string, number[]>();
  for (let round = 0; round <= options.rounds; round++)
    for (const [name, subject] of subjects)
      for (const way of WAYS) {
        const speed = await transfer(bench, subject, { way, file, ends });
        say(`${NAME} ${round}/${options.rounds} ${name} ${way}: ${number(speed, 1)} MB/s`);
        const key = `${name} ${way}`;
        // The first is a warm-up.
        if (round > 0) found.set(key, [...(found.get(key) ?? []), speed]);
      }
  for (const name of subjects.keys()) {
    const of = (way: Way): number => median(found.get(`${name} ${way}`) ?? []) ?? Number.NaN;
    const down = of('download 2') / of('download 1.1');
    const up = of('upload 2') / of('upload 1.1');
    results.addSingle(NAME, `${name} download`, down);
    results.addSingle(NAME, `${name} upload`, up);
    lines.push([name, ...WAYS.map((way) => number(of(way), 1)), number(down, 2), number(up, 2)]);
  }
  await processes.stopAll();
  removePresent(ends, ip);
  return [
    `${NAME}: one body of ${BYTES / 1e6} MB at 50 ms round trip`,
    ...align(lines).map((line) => `  ${line}`),
  ].join('\n');
}

async function startFar(
  { processes, certificate }: Bench,
  of: { readonly build: CulvertBuild; readonly name: string; readonly ends: Ends; readonly originPort: number },
): Promise<Subject> {
  const { build, name, ends, originPort } = of;
  // The first start and the log-in are on loopback, where this program can reach the API.
  const server = await startServer(processes, build, { name: `server-far-${name}`, certificate });
  const place = { address: NEAR_ADDRESS, netns: ends.near, certificate };
  const moved = await moveServer(processes, server, place);
  const agent = `agent-far-${name}`;
  await startAgent(processes, moved, { originPort, name: agent, netns: ends.near });
  return { ...httpsSubject(moved, agent), address: NEAR_ADDRESS };
}

/** Megabytes per second. */
async function transfer(
  { processes }: Bench,
  subject: Subject,
  { way, file, ends }: { readonly way: Way; readonly file: string; readonly ends: Ends },
): Promise<number> {
  const [direction, version] = way.split(' ');
  const isTwo = version === '2';
  const command =
    direction === 'download'
      ? [...curlCommand(subject, `/bytes/${BYTES}`), isTwo ? '--http2' : '--http1.1']
      : uploadCommand(curlCommand(subject, '/small'), file, isTwo ? 2 : 1);
  const { stdout, stderr } = await processes.run(command, { netns: ends.far, timeoutMs: 90_000 });
  const { size, speed } = readCurl(stdout);
  if (size !== BYTES || !stdout.trim().endsWith(` ${version}`)) throw new Error(`${way}: ${stdout} ${stderr}`);
  return speed / 1e6;
}
