/**
 * An edge with a tunnel and a service in a process of its own, for attacks to be measured on: it says how much processor time it took, how much
 * memory it holds, and what it dropped. Started by target.ts with an engine's name.
 */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Rig } from '../../../src/data/edge/testing/rig.ts';
import { Ending } from '../../harness/ends.ts';
import type { Engine } from '../engines.ts';

/** Short ones, so that what waits for them takes seconds. */
const LIMITS = { bodyIdleTimeoutSeconds: 1, headTimeoutSeconds: 1, idleTimeoutSeconds: 2, lingerTimeoutSeconds: 1 };

/** What the parent gets back. */
export interface Measured {
  /** Milliseconds of processor time since the start. */
  readonly cpuMs: number;
  readonly rss: number;
  readonly dropped: Readonly<Record<string, number>>;
}

const LARGE = Buffer.alloc(65_536, 'x');

async function main(engine: Engine): Promise<void> {
  const ends = new Ending();
  const rig = await Rig.start(ends, { http2: engine, inspector: null, limits: LIMITS });
  const service = createServer((incoming, response) => {
    if (incoming.url === '/large') response.end(LARGE);
    else if (incoming.url !== '/never') response.end('ok');
    incoming.resume();
  });
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  await rig.serve('shop', (service.address() as AddressInfo).port);
  process.on('message', () => process.send?.(measure(rig)));
  process.on('disconnect', () => process.exit(0));
  process.send?.({ port: rig.httpsPort });
}

function measure(rig: Rig): Measured {
  globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1_000, rss: process.memoryUsage.rss(), dropped: rig.node.stats().dropped };
}

await main(process.argv[2] as Engine);
