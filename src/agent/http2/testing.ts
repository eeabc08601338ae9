/** Services that speak HTTP/2 by node:http2, and messages of gRPC made by hand. Used by tests alone. */
import { once } from 'node:events';
import {
  createSecureServer,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type Settings,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { LocalTarget } from '../local/target.ts';
import { parseTarget } from '../local/target.ts';
import type { Http2Mode } from './service.ts';
import { overHttp2 } from './service.ts';

export interface Http2Origin {
  readonly server: Http2Server;
  readonly port: number;
  /** All connections so far. */
  readonly sessions: readonly ServerHttp2Session[];
}

type OnStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

/** A service that speaks HTTP/2 alone; over TLS with `tls`. `path`: a socket in the file system. */
export async function http2Origin(
  t: { after(close: () => void): void },
  onStream: OnStream,
  options: { tls?: { cert: string; key: string }; settings?: Settings; path?: string } = {},
): Promise<Http2Origin> {
  const { tls, settings = {}, path } = options;
  const server: Http2Server = tls === undefined ? createServer({ settings }) : secureServer(tls, settings);
  const sessions: ServerHttp2Session[] = [];
  server.on('session', (session) => {
    sessions.push(session);
    session.on('error', () => undefined); // a client that cuts
  });
  server.on('sessionError', () => undefined); // what is no HTTP/2
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on('error', () => undefined); // of resets, which tests look at by their codes
    onStream(stream, headers);
  });
  if (path === undefined) server.listen(0, '127.0.0.1');
  else server.listen(path);
  await once(server, 'listening');
  t.after(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  const address = server.address();
  return { server, port: path === undefined ? (address as AddressInfo).port : 0, sessions };
}

/** Its events are those of a plain one. */
function secureServer(tls: { cert: string; key: string }, settings: Settings): Http2Server {
  return createSecureServer({ ...tls, settings });
}

/** The service at `port` as the target of a tunnel with `--upstream-protocol`. */
export function http2Target(port: number, mode: Http2Mode = 'http2', protocol: 'http' | 'https' = 'http'): LocalTarget {
  return overHttp2(parseTarget(`127.0.0.1:${port}`, protocol).target, mode);
}

/** One message of gRPC, length-prefixed. */
export function message(text: string, isCompressed = false): Buffer {
  const payload = Buffer.from(text, 'latin1');
  const out = Buffer.alloc(5 + payload.length);
  out[0] = isCompressed ? 1 : 0;
  out.writeUInt32BE(payload.length, 1);
  payload.copy(out, 5);
  return out;
}

/** Cuts what comes into messages of gRPC. */
export class Messages {
  #bytes: Buffer = Buffer.alloc(0);
  readonly #onMessage: (text: string) => void;

  constructor(onMessage: (text: string) => void) {
    this.#onMessage = onMessage;
  }

  feed(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    while (this.#bytes.length >= 5 && this.#bytes.length >= 5 + this.#bytes.readUInt32BE(1)) {
      const end = 5 + this.#bytes.readUInt32BE(1);
      const text = this.#bytes.toString('latin1', 5, end);
      this.#bytes = this.#bytes.subarray(end);
      this.#onMessage(text);
    }
  }
}
