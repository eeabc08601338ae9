/**
 * Makes a Node process and its worker threads collect their garbage, through its own inspector, so that two looks at its memory differ by what lives
 * and not by when the collector last ran. Used by the memory scenario only.
 */
import type { Processes } from './processes.ts';

const RESPONSE_MS = 30_000;

/** For NODE_OPTIONS of such a process. By a signal it opens no inspector: server and agent refuse that. */
export const INSPECTABLE = '--inspect=127.0.0.1:0';

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly sessionId?: string };
}

/** Collects all garbage of the process. Throws when it does not respond. */
export async function collectGarbage(processes: Processes, name: string): Promise<void> {
  const url = (await processes.waitForOutput(name, /Debugger listening on (ws:\S+)/))[1] ?? '';
  const socket = new WebSocket(url);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new Error(`${name} did not collect its garbage in time`)), RESPONSE_MS);
  const collect = { id: 2, method: 'HeapProfiler.collectGarbage' };
  let missing = 1;
  let isEnabled = false;
  const send = (message: object): void => socket.send(JSON.stringify(message));
  socket.addEventListener('error', () => reject(new Error(`no connection to the inspector of ${name}`)));
  socket.addEventListener('open', () => {
    // Workers are attached before its response.
    send({ id: 1, method: 'NodeWorker.enable', params: { waitForDebuggerOnStart: false } });
    send(collect);
  });
  socket.addEventListener('message', ({ data }) => {
    const { id, method, params } = JSON.parse(String(data)) as Message;
    if (id === 1) isEnabled = true;
    if (method === 'NodeWorker.attachedToWorker') {
      missing += 1;
      const message = JSON.stringify(collect);
      send({ id: 3, method: 'NodeWorker.sendMessageToWorker', params: { sessionId: params?.sessionId, message } });
    }
    if (id === 2 || method === 'NodeWorker.receivedMessageFromWorker') missing -= 1;
    if (isEnabled && missing === 0) resolve();
  });
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    socket.close();
  }
}
