/**
 * Faults in one thread of a server that runs as a child process. A preload script runs in each of its threads, and does what a file in the server's
 * working folder says: the product has no switch for it.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Ends } from './ends.ts';

export type Thread = 'control' | 'data';

/**
 * `throw`: an exception that nothing catches. `reject`: a promise that nothing awaits. `heap`: objects until the heap is full. `stuck`: objects by which
 * V8 collects for ever and never says that its heap is full (Node 26). `block`: the thread does nothing at all until `release`.
 */
export type Fault = 'throw' | 'reject' | 'heap' | 'stuck' | 'block';

const POLL_MS = 10;
/** A test that fails before its `release` must not leave a thread that stands still. */
const BLOCK_MS = 120_000;

const PRELOAD = `
const { existsSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { isMainThread, workerData } = require('node:worker_threads');
const thread = isMainThread ? 'control' : 'data';
const cell = new Int32Array(new SharedArrayBuffer(4));
const faults = {
  throw: () => { throw new Error('thrown by a test'); },
  reject: () => void Promise.reject(new Error('rejected by a test')),
  heap: () => { for (const kept = []; ; ) kept.push('x'.repeat(5_000).split('')); },
  stuck: () => { for (const kept = []; ; ) kept.push(new Array(64).fill(1)); },
  block: () => {
    writeFileSync('blocked-' + thread, '');
    for (let ms = 0; ms < ${BLOCK_MS} && existsSync('blocked-' + thread); ms += ${POLL_MS}) Atomics.wait(cell, 0, 0, ${POLL_MS});
  },
};
function look() {
  const file = 'fault-' + thread;
  if (!existsSync(file)) return;
  const fault = faults[readFileSync(file, 'utf8')];
  if (fault === undefined) return; // not written whole yet
  rmSync(file);
  fault();
}
// Threads that compute passwords or store records have other data, or none.
if (isMainThread || workerData?.nodeId !== undefined) setInterval(look, ${POLL_MS}).unref();
`;

/** The environment of a server that can be given faults. `nodeOptions` besides. */
export function faultyEnv(t: Ends, nodeOptions = ''): NodeJS.ProcessEnv {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-faults-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const preload = join(folder, 'preload.cjs');
  writeFileSync(preload, PRELOAD);
  return { NODE_OPTIONS: `--require ${preload} ${nodeOptions}` };
}

/** Gives a thread of the server that works in `folder` a fault. Resolves when a thread that is to be blocked is. */
export async function injectFault(folder: string, thread: Thread, fault: Fault): Promise<void> {
  writeFileSync(join(folder, `fault-${thread}`), fault);
  if (fault !== 'block') return;
  while (!isBlocked(folder, thread)) await pause(POLL_MS);
}

export function isBlocked(folder: string, thread: Thread): boolean {
  return existsSync(join(folder, `blocked-${thread}`));
}

/** Lets a blocked thread go on. */
export function release(folder: string, thread: Thread): void {
  rmSync(join(folder, `blocked-${thread}`));
}
