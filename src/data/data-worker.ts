/**
 * The thread of a data node: started by data-thread.ts, speaks with it over its port and with nothing else of the server. A fault that nothing
 * catches ends the thread, and with it the process.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { codeOf, messageOf } from '../base/errors.ts';
import { ProcessWatch } from '../base/process/process-watch.ts';
import { PortCalls } from '../plane/port/calls.ts';
import { linkOverPort } from '../plane/port/link-port.ts';
import { logOverPort } from '../plane/port/log-port.ts';
import { serveNode, tellPresence } from '../plane/port/node-port.ts';
import type { NodeStarted } from '../plane/port/started.ts';
import { startNode } from './node.ts';
import type { NodeSettings } from './node-settings.ts';
import { sendPulses } from './thread-watch.ts';

if (parentPort === null) throw new Error('this file must run in a worker thread');
const calls = new PortCalls(parentPort, {
  onFault: (what, error) => log.error({ err: error }, `${what} failed in the data thread`),
});
const log = logOverPort(calls);

async function start(): Promise<void> {
  const node = await startNode(workerData as NodeSettings, {
    link: linkOverPort(calls, log),
    log,
    onPresence: tellPresence(calls),
  });
  const watch = new ProcessWatch();
  serveNode(calls, { ...node, stats: () => ({ ...node.stats(), threads: [watch.look()] }) });
  sendPulses(calls);
  calls.tell('started', { ok: true, addresses: node.addresses() } satisfies NodeStarted);
}

start().catch((error: unknown) => {
  calls.tell('started', { ok: false, message: messageOf(error), code: codeOf(error) } satisfies NodeStarted);
});
