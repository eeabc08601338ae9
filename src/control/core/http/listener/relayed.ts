/**
 * The API for clients that come to the edge: on a socket in the data folder, by which the data plane hands their connections on (plane/relayed.ts).
 * Each is treated as if its client had come to the API's own listener: limits and the audit log see the client's address, and an X-Forwarded-For
 * of its own counts as little as it does there.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { listenLocal } from '../../../../base/net/local-socket.ts';
import { readRelayedHeader } from '../../../../plane/relayed.ts';
import type { Api } from '../context.ts';
import { type ApiListener, endsOf, type ListenerRules, makeServer } from './listener.ts';

/** The data plane sends the header with the connection. */
const HEADER_MS = 5_000;

export type RelayedListener = Pick<ApiListener, 'drain' | 'close'>;

/** Takes the place of a socket that a killed server left: the caller holds the folder's lock. Throws the system's error when it can't. */
export async function listenRelayed(
  app: Api,
  path: string,
  rules: Omit<ListenerRules, 'tls' | 'handshakes'>,
): Promise<RelayedListener> {
  const server = makeServer(app, rules) as Server;
  readHeaders(server);
  // No other user of this machine may claim an address.
  await listenLocal(server, path);
  return endsOf(server);
}

/** Puts itself in front of all that takes connections. */
function readHeaders(server: Server): void {
  const begin = server.listeners('connection') as ReadonlyArray<(socket: Socket) => void>;
  server.removeAllListeners('connection');
  server.on('connection', (socket) => {
    awaitHeader(socket, (ip) => {
      // What reads the address of a connection reads the client's: the socket itself has none.
      Object.defineProperty(socket, 'remoteAddress', { value: ip });
      for (const each of begin) each.call(server, socket);
    });
  });
}

function awaitHeader(socket: Socket, onClient: (ip: string) => void): void {
  let held: Buffer = Buffer.alloc(0);
  const timer = setTimeout(() => socket.destroy(), HEADER_MS);
  const onError = (): void => void socket.destroy();
  const onClose = (): void => clearTimeout(timer);
  const onReadable = (): void => {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return;
    held = Buffer.concat([held, chunk]);
    const header = readRelayedHeader(held);
    if (header === 'more') return;
    if (header === 'bad') return void socket.destroy();
    clearTimeout(timer);
    socket.off('readable', onReadable).off('error', onError).off('close', onClose);
    if (header.size < held.length) socket.unshift(held.subarray(header.size));
    onClient(header.ip);
  };
  socket.on('readable', onReadable).on('error', onError).on('close', onClose);
}
