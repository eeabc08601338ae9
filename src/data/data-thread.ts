/**
 * The data node in a thread of its own, so that nothing that holds up the control plane (a long query, a slow disk, a large body) holds up a
 * visitor. Started by server/data-node.ts; what runs in the thread is data-worker.ts. When the thread ends before it was asked to, `failed` says why, and the server must stop: half of it is none.
 */
import type { Worker } from 'node:worker_threads';
import { startWorker } from '../base/process/assets.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Link, NodeAccess } from '../plane/link.ts';
import { PortCalls } from '../plane/port/calls.ts';
import { serveLink } from '../plane/port/link-port.ts';
import { serveLog } from '../plane/port/log-port.ts';
import { FarNode } from '../plane/port/node-port.ts';
import type { NodeStarted } from '../plane/port/started.ts';
import type { NodeSettings } from './node-settings.ts';
import { SILENT_MS, watchPulses } from './thread-watch.ts';

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
  /** Without a sign of life for so long, the thread is ended. Injected by tests. */
  readonly silentMs?: number;
}

/** A thread that runs JavaScript or waits ends in milliseconds, on a machine that is overloaded in seconds; one that collects its heap may never. */
const END_MS = 10_000;
const CAN_NOT_END = "fatal error: the data thread can't be stopped, so the server exits immediately";

function startDataWorker(settings: NodeSettings): Worker {
  return startWorker('data-worker', new URL('./data-worker.ts', import.meta.url), settings);
}

/** Rejects when a listener can't bind, with the code of the system; or when the thread ends before its node runs. */
export async function startDataThread(
  settings: NodeSettings,
  { link, log, startThread = startDataWorker, silentMs = SILENT_MS }: DataThreadDeps,
): Promise<StartedNode> {
  const worker = startThread(settings);
  const failed = Promise.withResolvers<Error>();
  const calls = new PortCalls(worker, {
    onFault: (what, error) => log.error({ err: error }, `could not handle ${what} from the data thread`),
  });
  serveLog(calls, log);
  let unwatch = (): void => undefined;
  const end = endOf(worker, log, (error) => {
    unwatch();
    calls.close(messageOf(error));
    stopLink();
    failed.resolve(error);
  });
  const far = new FarNode(calls, {
    log,
    onClosed: () => {
      unwatch();
      return end.stop();
    },
  });
  const stopLink = serveLink(calls, link, (agentId, tunnelId) => far.expect(agentId, tunnelId));
  try {
    const started = Promise.withResolvers<NodeStarted>();
    calls.hear('started', (said: NodeStarted) => started.resolve(said));
    const said = await Promise.race([started.promise, failed.promise.then((error) => Promise.reject(error))]);
    if (!said.ok) throw Object.assign(new Error(said.message), said.code === undefined ? {} : { code: said.code });
    far.addresses = said.addresses;
    unwatch = watchPulses(worker, silentMs, () => void end.cut(still(silentMs)));
  } catch (error) {
    await end.stop();
    throw error;
  }
  return { node: far, failed: failed.promise };
}

interface ThreadEnd {
  /** Ends the thread in order: that is no fault. */
  readonly stop: () => Promise<void>;
  /** Ends a thread that does not end by itself, with this fault. */
  readonly cut: (cause: Error) => Promise<void>;
}

/** Calls `onFault` for an end that was not asked for. A thread that can't be ended ends the whole process. */
function endOf(worker: Worker, log: Logger, onFault: (error: Error) => void): ThreadEnd {
  let isStopping = false;
  let cause: Error | undefined;
  worker.on('error', (error: unknown) => {
    if (!isStopping) onFault(error instanceof Error ? error : new Error(messageOf(error)));
  });
  worker.on('exit', (code) => {
    if (!isStopping) onFault(cause ?? new Error(`the data thread ended with code ${code}`));
  });
  const end = async (): Promise<void> => {
    const timer = setTimeout(() => {
      log.error({ err: cause, thread: 'data' }, CAN_NOT_END);
      // `process.exit` would wait for the thread. What was acknowledged is on the disk.
      process.kill(process.pid, 'SIGKILL');
    }, END_MS);
    await worker.terminate();
    clearTimeout(timer);
  };
  return {
    stop: () => {
      isStopping = true;
      return end();
    },
    cut: (error) => {
      cause = error;
      return end();
    },
  };
}

function still(ms: number): Error {
  return new Error(`the data thread has not responded for ${Math.round(ms / 1_000)} s`);
}
