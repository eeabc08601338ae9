/**
 * A visitor that writes frames of HTTP/2 by hand: fields as literals without a table, so that anything can be said in them. One stream per
 * connection. node:http2 as a client refuses to send most of what this is for.
 */
import { once } from 'node:events';
import { connect } from 'node:tls';
import type { StreamCase } from './dry-http2.ts';

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const TYPE = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goAway: 7 } as const;
const FLAG = { endStream: 1, endHeaders: 4, ack: 1 } as const;

export interface RawAnswer {
  /** A response came on the stream. */
  readonly isAnswered: boolean;
  /** The stream was reset, or the connection ended. */
  readonly isRefused: boolean;
}

/** Sends one stream and waits until it, or the connection, is over. */
export async function askRaw(port: number, of: StreamCase): Promise<RawAnswer> {
  const socket = connect({
    port,
    host: '127.0.0.1',
    ALPNProtocols: ['h2'],
    servername: 'shop.example.test',
    rejectUnauthorized: false,
  });
  socket.on('error', () => {}); // a refusal may come as a reset: that is an answer too
  await once(socket, 'secureConnect');
  socket.write(Buffer.concat([Buffer.from(PREFACE), frame(TYPE.settings, 0, 0), frame(TYPE.settings, FLAG.ack, 0)]));
  const headers = Buffer.concat(pairs(of.fields).map(([name, value]) => literal(name, value)));
  socket.write(frame(TYPE.headers, FLAG.endHeaders | (of.data === null ? FLAG.endStream : 0), 1, headers));
  for (const piece of of.data ?? []) socket.write(frame(TYPE.data, 0, 1, Buffer.from(piece, 'latin1')));
  if (of.data !== null && of.ends === 'end') socket.write(frame(TYPE.data, FLAG.endStream, 1));
  if (of.ends === 'reset') {
    // To a reset there is no answer, to a ping there is.
    socket.write(frame(TYPE.reset, 0, 1, Buffer.alloc(4)));
    socket.write(frame(TYPE.ping, 0, 0, Buffer.alloc(8)));
  }
  let isAnswered = false;
  let held: Buffer = Buffer.alloc(0);
  const over = Promise.withResolvers<boolean>();
  socket.on('close', () => over.resolve(true));
  socket.on('data', (bytes: Buffer) => {
    held = Buffer.concat([held, bytes]);
    for (;;) {
      const length = held.length < 9 ? Infinity : held.readUIntBE(0, 3);
      if (held.length < 9 + length) return;
      const [type, flags, id] = [held[3], held[4] as number, held.readUInt32BE(5)];
      held = held.subarray(9 + length);
      if (type === TYPE.headers && id === 1) isAnswered = true;
      if (type === TYPE.goAway || type === TYPE.ping || (type === TYPE.reset && id === 1)) over.resolve(true);
      else if ((type === TYPE.headers || type === TYPE.data) && id === 1 && (flags & FLAG.endStream) !== 0)
        over.resolve(false);
    }
  });
  const isRefused = await over.promise;
  socket.destroy();
  return { isAnswered, isRefused };
}

function frame(type: number, flags: number, id: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, payload]);
}

/** A field without indexing, its name new (RFC 7541 §6.2.2), neither in Huffman's code. */
function literal(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

function text(of: string): Buffer {
  const bytes = Buffer.from(of, 'latin1');
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const rest = bytes.length - 127;
  if (rest >= 1 << 14) throw new Error('too long for this');
  return Buffer.concat([Buffer.from([127, (rest & 127) | 128, rest >> 7]), bytes]);
}

function pairs(fields: readonly string[]): Array<[string, string]> {
  return Array.from({ length: fields.length / 2 }, (_, i) => [fields[2 * i] as string, fields[2 * i + 1] as string]);
}
