/** What visitors see of each name now, and when that changed: the reading side of prober.ts. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Ends } from '../../test/harness/ends.ts';

interface Seen {
  readonly at: number;
  readonly host: string;
  readonly status: number;
}

export class Watch {
  readonly #last = new Map<string, Seen>();
  readonly #waiting = new Set<() => void>();

  /** Starts visitors of `hosts` by way of the edge's port on the loopback of a namespace, or on this one's. */
  constructor(t: Ends, options: { port: number; hosts: readonly string[]; netns?: string }) {
    const { port, hosts, netns } = options;
    const command = [process.execPath, join(import.meta.dirname, 'prober.ts'), String(port), ...hosts];
    const [file = '', ...args] = netns === undefined ? command : ['ip', 'netns', 'exec', netns, ...command];
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    createInterface({ input: child.stdout }).on('line', (line) => {
      const seen = JSON.parse(line) as Seen;
      this.#last.set(seen.host, seen);
      for (const look of this.#waiting) look();
    });
    t.after(async () => {
      const ended = once(child, 'close');
      child.kill('SIGKILL');
      await ended;
    });
  }

  status(host: string): number | undefined {
    return this.#last.get(host)?.status;
  }

  /**
   * Resolves with the moment from which visitors of `host` get 200, or get none when `up` is false: at once when it is so, and has become so
   * at `since` or later. Rejects after `limitMs`.
   */
  until(host: string, up: boolean, limitMs: number, since = 0): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const look = (): void => {
      const seen = this.#last.get(host);
      if (seen !== undefined && (seen.status === 200) === up && seen.at >= since) resolve(seen.at);
    };
    const what = up ? 'did not come up' : 'stayed up';
    const fail = (): void => reject(new Error(`${host} ${what} in ${limitMs} ms; last seen: ${this.status(host)}`));
    const timer = setTimeout(fail, limitMs);
    this.#waiting.add(look);
    look();
    return promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(look);
    });
  }
}
