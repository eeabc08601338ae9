/**
 * The UDP sockets of relays alone, in this process: what a small datagram that is received or sent costs, as node:dgram does it and many at a time.
 * Load and sink are native/datagrams.c. Processor time is this thread's, so that a busy machine makes the figures worse and not wrong.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { bindDatagrams, type DatagramSocket } from '../../../src/base/udp/datagrams.ts';
import type { Bench } from '../bench.ts';
import { freePort } from '../processes.ts';
import { say } from '../report/progress.ts';
import { align, number } from '../report/tables.ts';
import { median } from '../results.ts';

const NAME = 'datagrams';
const HOST = '127.0.0.1';
const SIZE_BYTES = 100;
/** A rate that both ways can take, and one that is a load. */
const RATES = [20_000, 100_000] as const;
const FLOWS = 8;
/** Sent in one turn of the loop: one by one, and as a relay does that is busy. */
const BURSTS = [1, 64] as const;
const SINK = 'datagrams-sink';

/** Microseconds of this thread per datagram, and the share that was lost. */
interface Figures {
  readonly us: number;
  readonly lost: number;
}

/** Measures; the text is the table for the report. */
export async function measureDatagrams(bench: Bench): Promise<string> {
  const { rounds, seconds } = bench.options;
  const found = new Map<string, Figures[]>();
  for (let round = 1; round <= rounds; round++) {
    for (const batched of [false, true]) {
      const way = batched ? 'many at a time' : 'one at a time';
      const keep = (title: string, figures: Figures): void => {
        found.set(title, [...(found.get(title) ?? []), figures]);
        say(`${NAME} ${round}/${rounds} ${title}: ${row([figures]).join('  ')}`);
      };
      for (const rate of RATES) {
        keep(`receive ${number(rate, 0)}/s, ${way}`, await measureReceiving(bench, batched, rate));
      }
      for (const burst of BURSTS) keep(`send ${burst} per turn, ${way}`, await measureSending(bench, batched, burst));
    }
  }
  return [
    `${NAME}: ${SIZE_BYTES} bytes; ${rounds} rounds of ${seconds} s, medians`,
    ...align([['', 'us', 'lost'], ...[...found].map(([title, figures]) => [title, ...row(figures)])]).map(
      (line) => `  ${line}`,
    ),
  ].join('\n');
}

async function measureReceiving(
  { processes, tools, options }: Bench,
  batched: boolean,
  rate: number,
): Promise<Figures> {
  let received = 0;
  const socket = await open(batched, () => received++);
  const words = [HOST, socket.port, rate, SIZE_BYTES, FLOWS, options.seconds].map(String);
  const start = process.threadCpuUsage();
  const { stdout, stderr } = await processes.run([tools.program('datagrams'), 'send', ...words]);
  const us = microseconds(start);
  socket.close();
  const sent = Number(/sent (\d+)/.exec(stdout)?.[1]);
  if (!(sent > 0)) throw new Error(`the load: ${stderr.trim() || stdout}`);
  return { us: us / received, lost: 1 - received / sent };
}

async function measureSending({ processes, tools, options }: Bench, batched: boolean, burst: number): Promise<Figures> {
  const port = await freePort();
  processes.start(SINK, [tools.program('datagrams'), 'sink', String(port)]);
  await processes.waitForOutput(SINK, /ready/);
  const socket = await open(batched, () => undefined);
  const bytes = Buffer.alloc(SIZE_BYTES, 7);
  let sent = 0;
  const start = process.threadCpuUsage();
  for (const end = performance.now() + options.seconds * 1_000; performance.now() < end; await turn()) {
    for (let i = 0; i < burst; i++) if (socket.send(bytes, 0, SIZE_BYTES, port, HOST)) sent++;
  }
  const us = microseconds(start);
  socket.close();
  await processes.stop(SINK);
  const received = Number(/received (\d+)/.exec(processes.readLog(SINK))?.[1]);
  return { us: us / sent, lost: 1 - received / sent };
}

function open(batched: boolean, onDatagram: () => void): Promise<DatagramSocket> {
  const onError = (error: Error): void => say(`${NAME}: ${error.message}`);
  return bindDatagrams({ host: HOST, port: 0, batched, onDatagram, onError });
}

function microseconds(start: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(start);
  return user + system;
}

function row(figures: readonly Figures[]): string[] {
  return [
    number(median(figures.map(({ us }) => us)), 2),
    `${number((median(figures.map(({ lost }) => lost)) ?? 0) * 100, 2)} %`,
  ];
}
