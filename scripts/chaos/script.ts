/** Starts a script of this folder in a network namespace, for as long as the run lasts. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Ends } from '../../test/harness/ends.ts';

/** Resolves with the first line that it prints. */
export async function startScript(t: Ends, name: string, netns: string): Promise<string> {
  const command = ['netns', 'exec', netns, process.execPath, join(import.meta.dirname, name)];
  const child = spawn('ip', command, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const line = once(createInterface({ input: child.stdout }), 'line').then(([text]: unknown[]) => String(text));
  const early = ended.then(([code]) => Promise.reject(new Error(`${name} ended with code ${String(code)}`)));
  return Promise.race([line, early]);
}
