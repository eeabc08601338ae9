/** How many tunnels of a herd are live: the reading side of herd.ts. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Ends } from '../../test/harness/ends.ts';

export interface HerdOptions {
  readonly server: string;
  readonly count: number;
  readonly token: string;
  /** Port of the service behind all tunnels; none by default. */
  readonly target?: number;
}

export class HerdWatch {
  #last = { at: 0, online: 0 };
  #wake: () => void = () => undefined;

  constructor(t: Ends, { server, count, token, target }: HerdOptions) {
    const words = [
      join(import.meta.dirname, 'herd.ts'),
      server,
      String(count),
      ...(target === undefined ? [] : [String(target)]),
    ];
    const env = { ...process.env, CULVERT_TOKEN: token };
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'], env });
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.#last = JSON.parse(line) as { at: number; online: number };
      this.#wake();
    });
    t.after(async () => {
      const ended = once(child, 'close');
      child.kill('SIGKILL');
      await ended;
    });
  }

  /** Resolves with the moment from which so many are live. One waits at a time. */
  async until(online: number): Promise<number> {
    while (this.#last.online !== online || this.#last.at === 0) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    return this.#last.at;
  }
}
