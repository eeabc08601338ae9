/**
 * What the cases of the conformance table are made of. The table is that of the public tool h2spec, by its numbers; the cases are written from
 * RFC 9113 and RFC 7541. `rfc` is the section that holds the rule.
 */
import { FLAG, FRAME, type Fields, frame, literals, request, u32 } from '../../harness/h2-frames.ts';
import { isEnd, type RawClient, Unmet } from '../raw-client.ts';

export interface Case {
  /** `suite/section/number`, as h2spec numbers it. */
  readonly id: string;
  readonly rfc: string;
  readonly title: string;
  readonly run: Run;
}

export type Run = (client: RawClient) => Promise<unknown>;
type Row = readonly [title: string, run: Run];

/** The cases of a section, each on a connection whose settings have been exchanged. */
export function section(id: string, rfc: string, ...rows: Row[]): Case[] {
  const greeted = rows.map<Row>(([title, run]) => [
    title,
    async (client) => {
      await client.handshake();
      await run(client);
    },
  ]);
  return fresh(id, rfc, ...greeted);
}

/** The same on connections that have sent nothing yet. */
export function fresh(id: string, rfc: string, ...rows: Row[]): Case[] {
  return rows.map(([title, run], index) => ({ id: `${id}/${index + 1}`, rfc, title, run }));
}

// ------------------------------------------------------------------ frames

/** Flags of a whole head: with the end of its stream, and with a body to come. */
export const WHOLE: number = FLAG.endHeaders | FLAG.endStream;
export const OPEN: number = FLAG.endHeaders;

export const GET: Fields = request();
export const POST: Fields = request('POST');
/** A fragment that a CONTINUATION may carry. */
export const MORE: Buffer = literals([['x-dummy', 'more']]);
export const EIGHT: Buffer = Buffer.from('12345678');

export function headers(stream: number, fields: Fields | Buffer = GET, flags = WHOLE): Buffer {
  return frame(FRAME.headers, flags, stream, Buffer.isBuffer(fields) ? fields : literals(fields));
}

export function continuation(stream: number, fragment: Buffer, flags: number = FLAG.endHeaders): Buffer {
  return frame(FRAME.continuation, flags, stream, fragment);
}

export function data(stream: number, bytes: string | Buffer = 'test', flags: number = FLAG.endStream): Buffer {
  return frame(FRAME.data, flags, stream, bytes);
}

export function reset(stream: number, code = 8): Buffer {
  return frame(FRAME.rst, 0, stream, u32(code));
}

export function ping(bytes = EIGHT, flags: number = FLAG.none, stream = 0): Buffer {
  return frame(FRAME.ping, flags, stream, bytes);
}

export function windowUpdate(stream: number, increment: number): Buffer {
  return frame(FRAME.window, 0, stream, u32(increment));
}

export function goaway(code: number, debug = '', stream = 0): Buffer {
  return frame(FRAME.goaway, 0, stream, Buffer.concat([u32(0), u32(code), Buffer.from(debug)]));
}

/** The five bytes of the old scheme of priorities; weights are one less than they mean. */
export function dependency(on: number, weight = 255, isExclusive = false): Buffer {
  return Buffer.concat([u32(isExclusive ? (on | 0x80000000) >>> 0 : on), Buffer.of(weight)]);
}

export function priority(stream: number, payload = dependency(0)): Buffer {
  return frame(FRAME.priority, 0, stream, payload);
}

/** A frame of a type that has no meaning. */
export const UNKNOWN: Buffer = frame(0x16, 0, 0, Buffer.alloc(8));

// ------------------------------------------------------------------ waits

/** The server still answers a PING: it has read all that was sent before, and found nothing wrong. */
export async function expectAlive(client: RawClient): Promise<void> {
  const bytes = Buffer.from('in order');
  client.send(ping(bytes));
  await client.expectPong(bytes);
}

/** The first bytes of the response's body are so many, and no more. */
export async function expectBytes(client: RawClient, stream: number, count: number): Promise<void> {
  let came = 0;
  while (came < count) came += (await client.expectData(stream)).payload.length;
  if (came !== count) throw new Unmet(`expected ${count} bytes of DATA; ${came} came`);
}

// ------------------------------------------------------------------ whole cases

/** The frames end the connection with one of the codes. */
export function connectionError(codes: number | number[], ...frames: Buffer[]): Run {
  return (client) => {
    client.send(...frames);
    return client.expectConnectionError(...[codes].flat());
  };
}

/** The frames end stream 1 with one of the codes. */
export function streamError(codes: number | number[], ...frames: Buffer[]): Run {
  return (client) => {
    client.send(...frames);
    return client.expectStreamError(1, ...[codes].flat());
  };
}

/** The connection goes on behind these frames. */
export function sent(...frames: Buffer[]): Run {
  return (client) => {
    client.send(...frames);
    return expectAlive(client);
  };
}

/** This PING, with the bytes of `EIGHT`, is answered. */
export function pinged(bytes: Buffer): Run {
  return (client) => {
    client.send(bytes);
    return client.expectPong(EIGHT);
  };
}

/** The frames are answered with a whole response on stream 1. */
export function answered(...frames: Buffer[]): Run {
  return async (client) => {
    client.send(...frames);
    const head = await client.expectHeaders(1);
    if (!isEnd(head)) await client.expectEnd(1);
  };
}
