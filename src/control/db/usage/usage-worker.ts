/** The thread of `usage.db`, and all of it. Started by usage-thread.ts. */
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { Question, UsageSetup } from './questions.ts';
import { UsageDesk } from './usage-desk.ts';

try {
  // On Linux 0 means the calling thread. Visitors come first, and a list still takes milliseconds.
  if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);
} catch {
  // A sandbox forbids it: the thread then competes with visitors on equal terms.
}

const port = parentPort;
const desk = new UsageDesk(workerData as UsageSetup, (message) => port?.postMessage(message));
port?.on('message', (question: Question) => desk.ask(question));
