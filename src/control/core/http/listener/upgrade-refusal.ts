/** The answer to an upgrade that is refused, on the bare socket. Called by inspector/live-feed-routes.ts. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { AppError } from '../../../../base/errors.ts';

/** For the answer to be taken, and the connection to be closed by its other end. */
const LINGER_MS = 2_000;

/** Writes the error as all of the API are, and ends the connection. */
export function refuseUpgrade(socket: Duplex, error: AppError): void {
  if (socket.destroyed) return;
  const body = JSON.stringify({ error: error.code, message: error.message });
  const lines = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
    ...(error.code === 'unauthorized' ? ['WWW-Authenticate: Bearer'] : []),
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
  // What it still sends is read and thrown away: a reset could overtake the answer.
  socket.resume();
}
