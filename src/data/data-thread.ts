/**
 * The data node in a thread of its own, so that nothing that holds up the control plane (a long query, a slow disk, a large body) holds up a
 * visitor. Started by server/data-node.ts; what runs in the thread is data-worker.ts. When the thread ends before it was asked to, `failed` says why, and the server must stop: half of it is none.
 */
import type { Worker } from 'node:worker_threads';
import { startWorker } from '../base/assets.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Link, NodeAccess } from '../plane/link.ts';
import { PortCalls } from '../plane/port/calls.ts';
import { serveLink } from '../plane/port/link-port.ts';
import { serveLog } from '../plane/port/log-port.ts';
import { FarNode } from '../plane/port/node-port.ts';
import type { NodeStarted } from '../plane/port/started.ts';
import type { NodeSettings } from './node.ts';

export interface StartedNode {
  readonly node: NodeAccess;
  /** Resolves when the node has ended by a fault; never for one that was closed. */
  readonly failed: Promise<Error>;
}

export interface DataThreadDeps {
  readonly link: Link;
  readonly log: Logger;
  /** Other code for the thread, for tests of its end. */
  readonly startThread?: (settings: NodeSettings) => Worker;
}

function startDataWorker(settings: NodeSettings): Worker {
  return startWorker('data-worker', new URL('./data-worker.ts', import.meta.url), settings);
}

/** Rejects when a listener can't bind, with the code of the system; or when the thread ends before its node runs. */
export async function startDataThread(
  settings: NodeSettings,
  { link, log, startThread = startDataWorker }: DataThreadDeps,
): Promise<StartedNode> {
  const worker = startThread(settings);
  const failed = Promise.withResolvers<Error>();
  const calls = new PortCalls(worker, {
    onFault: (what, error) => log.error({ err: error }, `${what} of the data thread could not be taken`),
  });
  serveLog(calls, log);
  const end = endOf(worker, (error) => {
    calls.close(messageOf(error));
    stopLink();
    failed.resolve(error);
  });
  const far = new FarNode(calls, { log, onClosed: end.stop });
  const stopLink = serveLink(calls, link, (agentId, tunnelId) => far.expect(agentId, tunnelId));
  try {
    const started = Promise.withResolvers<NodeStarted>();
    calls.hear('started', (said: NodeStarted) => started.resolve(said));
    const said = await Promise.race([started.promise, failed.promise.then((error) => Promise.reject(error))]);
    if (!said.ok) throw Object.assign(new Error(said.message), said.code === undefined ? {} : { code: said.code });
    far.addresses = said.addresses;
  } catch (error) {
    await end.stop();
    throw error;
  }
  return { node: far, failed: failed.promise };
}

/** Tells `onFault` of an end that was not asked for. `stop` ends the thread. */
function endOf(worker: Worker, onFault: (error: Error) => void): { readonly stop: () => Promise<void> } {
  let isStopping = false;
  worker.on('error', (error: unknown) => {
    if (!isStopping) onFault(error instanceof Error ? error : new Error(messageOf(error)));
  });
  worker.on('exit', (code) => {
    if (!isStopping) onFault(new Error(`the data thread ended with code ${code}`));
  });
  return {
    stop: async () => {
      isStopping = true;
      await worker.terminate();
    },
  };
}
