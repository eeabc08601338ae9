/** What holds a lane open once its files are over, and the file that left it. Used by scripts/test/lane.ts. */

/** Node's own, and not in its types: sockets, servers, child processes, ports of workers. */
interface Handles {
  _getActiveHandles(): object[];
}

export class Leftovers {
  /** By handle: the file after which it was first seen. */
  readonly #since = new WeakMap<object, string>();
  /** By kind, as `process.getActiveResourcesInfo()` names it: how many there are, and since which file. */
  #kinds = new Map<string, { count: number; since: string }>();

  /** Call at the end of each file. */
  look(path: string): void {
    for (const handle of handles()) if (!this.#since.has(handle)) this.#since.set(handle, path);
    const before = this.#kinds;
    this.#kinds = new Map();
    for (const [kind, count] of counts()) {
      const known = before.get(kind);
      this.#kinds.set(kind, { count, since: known !== undefined && known.count >= count ? known.since : path });
    }
  }

  /** What is still there, a line each. */
  describe(): string {
    const kinds = [...counts()].map(([kind, count]) => {
      return `${count} × ${kind}, so many since ${this.#kinds.get(kind)?.since ?? 'the end'}`;
    });
    const objects = handles().map((handle) => {
      return `${nameOf(handle)}, first seen after ${this.#since.get(handle) ?? 'the end'}`;
    });
    return [...kinds, ...objects].join('\n');
  }
}

function handles(): object[] {
  return (process as unknown as Handles)._getActiveHandles();
}

function counts(): Map<string, number> {
  const result = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) result.set(kind, (result.get(kind) ?? 0) + 1);
  return result;
}

/** `Socket 127.0.0.1:4711 → 127.0.0.1:443`, `ChildProcess /usr/sbin/nginx`. */
function nameOf(handle: object): string {
  const it = handle as Record<string, unknown>;
  const ends = [
    [it['localAddress'], it['localPort']],
    [it['remoteAddress'], it['remotePort']],
  ].filter(([address]) => typeof address === 'string');
  const of = ends.map((end) => end.join(':')).join(' → ');
  const program = Array.isArray(it['spawnargs']) ? it['spawnargs'].join(' ') : '';
  const descriptor = (it['_handle'] as { fd?: number } | undefined)?.fd;
  const fd = typeof descriptor === 'number' && descriptor <= 2 ? `of descriptor ${descriptor}` : '';
  return [handle.constructor.name, of, program, fd].filter((part) => part !== '').join(' ');
}
