/**
 * One thread that computes argon2id, and nothing else. Started by argon2-threads.ts; the only file that imports @node-rs/argon2.
 * Unless it is the prompt one it runs at the lowest priority: a storm of log-ins gets the time that visitors leave, and takes none from them.
 */
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { hashSync, verifySync } from '@node-rs/argon2';

export type Argon2Job =
  | { readonly kind: 'hash'; readonly password: string; readonly memoryKib: number; readonly passes: number }
  | { readonly kind: 'verify'; readonly password: string; readonly stored: string };

export type Argon2Answer =
  | { readonly ok: true; readonly value: string | boolean; readonly tookMs: number }
  | { readonly ok: false; readonly message: string };

const { isPrompt } = workerData as { readonly isPrompt: boolean };

try {
  // On Linux 0 means the calling thread; elsewhere it would be the whole process.
  if (!isPrompt && process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_LOW);
} catch {
  // A sandbox forbids it: log-ins then compete with visitors on equal terms, and still work.
}

parentPort?.on('message', (job: Argon2Job) => parentPort?.postMessage(answer(job)));

function answer(job: Argon2Job): Argon2Answer {
  const start = performance.now();
  try {
    const value =
      job.kind === 'verify'
        ? verifySync(job.stored, job.password)
        : hashSync(job.password, { memoryCost: job.memoryKib, timeCost: job.passes, parallelism: 1 });
    return { ok: true, value, tookMs: performance.now() - start };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}
