/** The site that tests of HTTP/2 put behind a tunnel: a page of many files, a large one, and a WebSocket. */
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export const BIG = randomBytes(50 << 20);
export const FILES = 60;
export const sum = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** A page with many files, a large one, and what was sent to it. */
export function site(request: IncomingMessage, response: ServerResponse): void {
  const { url = '/' } = request;
  if (url === '/big') response.end(BIG);
  else if (url === '/sum') {
    const hash = createHash('sha256');
    request.on('data', (piece: Buffer) => hash.update(piece)).on('end', () => response.end(hash.digest('hex')));
  } else if (url === '/') {
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html><title>files</title><link rel="icon" href="data:,"><body>
      ${Array.from({ length: FILES }, (_, i) => `<script src="/file-${i}.js"></script>`).join('')}`);
  } else {
    response.setHeader('content-type', 'text/javascript');
    response.end(`window.loaded = (window.loaded ?? 0) + 1; // ${'x'.repeat(2_000)}`);
  }
}

/** A WebSocket that sends back short text messages (RFC 6455). */
export function echo(request: IncomingMessage, socket: Socket): void {
  const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  const accept = createHash('sha1').update(key).digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  socket.on('error', () => undefined);
  socket.on('data', (frame: Buffer) => {
    const length = (frame[1] as number) & 127;
    const mask = frame.subarray(2, 6);
    const text = frame.subarray(6, 6 + length).map((byte, i) => byte ^ (mask[i % 4] as number));
    socket.write(Buffer.concat([Buffer.from([frame[0] as number, length]), text]));
  });
}
