/** A way to a TCP port on which every byte takes `delayMs`, each way, and the first one as long again as a handshake would. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export interface DelayedLinkOptions {
  readonly address: string;
  readonly port: number;
  readonly delayMs: number;
}

export class DelayedLink {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(options: DelayedLinkOptions): Promise<DelayedLink> {
    const server = createServer({ noDelay: true });
    const link = new DelayedLink(server);
    server.on('connection', (visitor) => {
      const upstream = connect({ host: options.address, port: options.port, noDelay: true });
      link.#join(visitor, upstream, options.delayMs, 2 * options.delayMs);
      link.#join(upstream, visitor, options.delayMs, 0);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return link;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(from: Socket, to: Socket, delayMs: number, firstMs: number): void {
    this.#sockets.add(from);
    const opensAtMs = performance.now() + firstMs;
    // In the order in which they came, whatever the order of the timers.
    const waiting: (() => void)[] = [];
    const later = (then: () => void): void => {
      waiting.push(then);
      setTimeout(() => waiting.shift()?.(), Math.max(0, opensAtMs - performance.now()) + delayMs);
    };
    from.on('error', () => undefined);
    from.on('data', (bytes: Buffer) => later(() => to.write(bytes)));
    from.on('end', () => later(() => to.end()));
    from.on('close', () => {
      this.#sockets.delete(from);
      later(() => to.destroy());
    });
  }
}
