/**
 * For tests of base and mux: pairs of joined real sockets, plain or TLS 1.3, over loopback.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { connect as tlsConnect, createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { type TestCertificate, testCertificate } from '../data/fixtures/certificate.ts';

export type Kind = 'plain' | 'tls';

export interface SocketPair {
  readonly dialled: Socket;
  readonly accepted: Socket;
  close(): void;
}

/** A listener on port 0 of which pairs are made. All sockets may be half-open and send without delay. */
export class PairSource {
  readonly #server: Server;
  readonly #kind: Kind;
  readonly #waiting: Array<(socket: Socket) => void> = [];

  private constructor(certificate: TestCertificate | undefined) {
    this.#kind = certificate === undefined ? 'plain' : 'tls';
    const onSocket = (socket: Socket): void => {
      socket.setNoDelay(true);
      this.#waiting.shift()?.(socket);
    };
    if (certificate === undefined) {
      this.#server = createServer({ allowHalfOpen: true }, onSocket);
    } else {
      const options = { ...certificate, minVersion: 'TLSv1.3', allowHalfOpen: true } as const;
      this.#server = createTlsServer(options, onSocket);
    }
  }

  static async listen(kind: Kind): Promise<PairSource> {
    const source = new PairSource(kind === 'tls' ? await testCertificate() : undefined);
    source.#server.listen(0, '127.0.0.1');
    await once(source.#server, 'listening');
    return source;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The next accepted socket. */
  accepted(): Promise<Socket> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async pair(): Promise<SocketPair> {
    const arriving = this.accepted();
    const options = { host: '127.0.0.1', port: this.port, noDelay: true, allowHalfOpen: true };
    const dialled: Socket | TLSSocket =
      this.#kind === 'plain' ? connect(options) : tlsConnect({ ...options, rejectUnauthorized: false });
    const [accepted] = await Promise.all([
      arriving,
      once(dialled, this.#kind === 'plain' ? 'connect' : 'secureConnect'),
    ]);
    return {
      dialled,
      accepted,
      close: () => {
        dialled.destroy();
        accepted.destroy();
      },
    };
  }

  close(): void {
    this.#server.close();
  }
}

/**
 * How often a test repeats what it does: `few` times where the test runs on every change (`npm test`), `many` times before a change lands
 * (`npm run test:all`, or CULVERT_TEST_ROUNDS=many with any other). `few` is enough to fail on a defect that is there each time; `many` finds
 * what happens by chance.
 */
export function rounds(few: number, many: number): number {
  return process.env['CULVERT_TEST_ROUNDS'] === 'many' ? many : few;
}
