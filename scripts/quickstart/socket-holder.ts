/**
 * Holds listening sockets as systemd's socket units do: processes that are started one after another get them as file descriptors 3, 4, …, and while
 * none is there connections wait in them. Used by tests and by the benchmark of restarts.
 */
import net from 'node:net';

interface BoundHandle {
  readonly fd: number;
  close(): void;
}

/** Of node:net, undocumented: a socket that is bound and, other than that of `listen`, accepts nothing in this process. */
const bind = (
  net as unknown as {
    _createServerHandle(this: void, address: string, port: number, family: 4): BoundHandle | number;
  }
)._createServerHandle;

export class SocketHolder {
  readonly #held: ReadonlyArray<readonly [name: string, handle: BoundHandle]>;

  /** Binds `ports` of loopback, by name. The first process listens on them; they go on listening when it ends. Throws when one is taken. */
  constructor(ports: Readonly<Record<string, number>>) {
    const held: Array<readonly [string, BoundHandle]> = [];
    for (const [name, port] of Object.entries(ports)) {
      const handle = bind('127.0.0.1', port, 4);
      if (typeof handle === 'number') {
        for (const [, other] of held) other.close();
        throw new Error(`port ${port} can't be bound (${handle})`);
      }
      held.push([name, handle]);
    }
    this.#held = held;
  }

  /** What a child is spawned with: its words behind a shell that says its own process id, its environment, its descriptors from 3 on. */
  launch(command: readonly string[]): { command: string[]; env: Record<string, string>; fds: number[] } {
    return {
      command: ['sh', '-c', 'LISTEN_PID=$$ exec "$0" "$@"', ...command],
      env: { LISTEN_FDS: String(this.#held.length), LISTEN_FDNAMES: this.#held.map(([name]) => name).join(':') },
      fds: this.#held.map(([, handle]) => handle.fd),
    };
  }

  close(): void {
    for (const [, handle] of this.#held) handle.close();
  }
}
