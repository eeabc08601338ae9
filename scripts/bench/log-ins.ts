/**
 * What a log-in computes, on two threads and nothing else: the measure of the log-in scenario. A process of its own; takes the seconds and
 * prints how many were done per second.
 */
import { hash, verify } from '@node-rs/argon2';
import { COST } from '../../src/control/core/secrets/passwords.ts';

const PASSWORD = 'correct horse battery staple';
const THREADS = 2;

const seconds = Number(process.argv[2] ?? 3);
const stored = await hash(PASSWORD, { memoryCost: COST.memoryKib, timeCost: COST.passes, parallelism: 1 });

const start = performance.now();
const until = start + seconds * 1_000;
let done = 0;
async function hand(): Promise<void> {
  while (performance.now() < until) {
    await verify(stored, PASSWORD);
    done++;
  }
}
await Promise.all(Array.from({ length: THREADS }, hand));
const rate = (done / (performance.now() - start)) * 1_000;
process.stdout.write(`rate ${rate.toFixed(2)}\n`);
