/**
 * Makes a Node process collect its garbage, through its own inspector, so that two looks at its memory differ by what lives
 * and not by when the collector last ran. Used by the memory scenario only.
 */
import type { Processes } from './processes.ts';

const ANSWER_MS = 30_000;

/** For NODE_OPTIONS of a process that is to be asked: any free port instead of the well-known one. */
export const INSPECTABLE = '--inspect-port=127.0.0.1:0';

/** Collects all garbage of the process. Throws when it does not answer. */
export async function collectGarbage(processes: Processes, name: string): Promise<void> {
  // Node opens its inspector on SIGUSR1 and says where on standard error; a second signal changes nothing.
  process.kill(processes.pid(name), 'SIGUSR1');
  const url = (await processes.waitForOutput(name, /Debugger listening on (ws:\S+)/))[1] ?? '';
  const socket = new WebSocket(url);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new Error(`${name} did not collect its garbage in time`)), ANSWER_MS);
  socket.addEventListener('error', () => reject(new Error(`no connection to the inspector of ${name}`)));
  socket.addEventListener('open', () => socket.send('{"id":1,"method":"HeapProfiler.collectGarbage"}'));
  socket.addEventListener('message', () => resolve());
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    socket.close();
  }
}
