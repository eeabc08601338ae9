/**
 * A visitor that asks for one name over one connection, as fast as it is answered, and tells what the edge itself says. Used by the
 * `big-database` scenario.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export class Visitor {
  readonly #socket: Socket;
  readonly #request: string;
  #unread = '';
  #waiting: { resolve: (code: string) => void; reject: (error: Error) => void } | undefined;

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#request = `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => this.#read(text));
    socket.on('close', () => this.#waiting?.reject(new Error('the edge has closed the connection')));
    socket.on('error', (error) => this.#waiting?.reject(error));
  }

  static async connect(port: number, host: string): Promise<Visitor> {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    await once(socket, 'connect');
    return new Visitor(socket, host);
  }

  /** One request; resolves to the code in the `culvert-error` header, or to the empty string when the answer is not the edge's own. */
  ask(): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#waiting = { resolve, reject };
    this.#socket.write(this.#request);
    return promise;
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #read(text: string): void {
    this.#unread += text;
    const end = this.#unread.indexOf('\r\n\r\n');
    if (end === -1) return;
    const head = this.#unread.slice(0, end);
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
    if (this.#unread.length < end + 4 + length) return;
    this.#unread = this.#unread.slice(end + 4 + length);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(/^culvert-error: (\S+)/im.exec(head)?.[1] ?? '');
  }
}
