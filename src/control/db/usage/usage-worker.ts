/** The thread of `usage.db`, and all of it. Started by usage-thread.ts. */
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { Question, UsageSetup } from './questions.ts';
import { UsageDesk } from './usage-desk.ts';

/** About a third of what a thread of normal priority gets where there is not enough for both: visitors come first, and lists still come. */
const NICE = 5;

try {
  // On Linux 0 means the calling thread.
  if (process.platform === 'linux') setPriority(0, NICE);
} catch {
  // A sandbox forbids it: the thread then competes with visitors on equal terms.
}

const port = parentPort;
const desk = new UsageDesk(workerData as UsageSetup, (message) => port?.postMessage(message));
port?.on('message', (question: Question) => desk.ask(question));
