/** A visitor that speaks HTTP/2 by node:http2. Used by tests alone. */
import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { Rig, Scope } from './rig.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Latin1. */
  readonly body: string;
  readonly trailers: IncomingHttpHeaders;
  /** Interim responses. */
  readonly interim: readonly IncomingHttpHeaders[];
}

export class Http2Visitor {
  readonly session: ClientHttp2Session;
  readonly name: string;

  constructor(session: ClientHttp2Session, name: string) {
    this.name = name;
    this.session = session;
  }

  /** `name`: the server name, and the authority of requests that say none. */
  static async open(t: Scope, rig: Pick<Rig, 'httpsPort'>, name = 'shop.example.test'): Promise<Http2Visitor> {
    const session = connect(`https://${name}`, {
      host: '127.0.0.1',
      port: rig.httpsPort,
      servername: name,
      rejectUnauthorized: false,
      // As browsers do; Node takes 128 fields and 64 KB by itself.
      maxHeaderListPairs: 1_000,
      settings: { maxHeaderListSize: 262_144 },
      // Tests write more ahead than 10 MB, of which Node would reset streams by itself.
      maxSessionMemory: 1_000,
    });
    session.on('error', () => undefined);
    t.after(() => session.destroy());
    await once(session, 'connect');
    return new Http2Visitor(session, name);
  }

  /** Sends a head; the stream is the caller's. */
  stream(headers: OutgoingHttpHeaders, endStream = true): ClientHttp2Stream {
    const stream = this.session.request({ ':authority': this.name, ...headers }, { endStream });
    stream.on('error', () => undefined);
    return stream;
  }

  /** A request and all of its answer. Rejects with the code of a reset. */
  async ask(headers: OutgoingHttpHeaders, body?: string | Buffer): Promise<Answer> {
    const stream = this.stream(headers, body === undefined);
    const answer = readAnswer(stream);
    if (body !== undefined) stream.end(body);
    return answer;
  }
}

/** The answer on `stream`, when it is over. Rejects with the code of a reset. */
export function readAnswer(stream: ClientHttp2Stream): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let headers: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders = {};
    const interim: IncomingHttpHeaders[] = [];
    const pieces: Buffer[] = [];
    let isWhole = false;
    stream.on('headers', (fields) => interim.push(fields));
    stream.on('response', (fields) => {
      headers = fields;
    });
    stream.on('trailers', (fields) => {
      trailers = fields;
    });
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    stream.on('end', () => {
      isWhole = true;
    });
    stream.on('close', () => {
      if (!isWhole || stream.rstCode !== 0) return reject(new Error(`reset ${stream.rstCode}`));
      const status = Number(headers[':status']);
      resolve({ status, headers, trailers, interim, body: Buffer.concat(pieces).toString('latin1') });
    });
  });
}
