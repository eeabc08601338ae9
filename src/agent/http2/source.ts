/** Where requests get streams of a service from: service.ts, as the files of one request need it. */
import type { Socket } from 'node:net';
import type { Head } from '../../http1/head.ts';
import type { LocalFault } from '../local/local.ts';
import type { WayOwner } from '../local/target.ts';
import type { ServiceConnection } from './connection.ts';

/** Gets a connection with room for a stream, or hears why there is none. */
export interface Taker {
  onConnection(connection: ServiceConnection): void;
  /** The service speaks HTTP/1.1 on this connection. */
  onHttp1(socket: Socket): void;
  onFault(fault: LocalFault): void;
}

export interface StreamSource {
  readonly scheme: 'http' | 'https';
  /** For the heads of its requests, one at a time. */
  readonly head: Head;
  /** WebSockets may go by HTTP/1.1. */
  readonly mayTryHttp1: boolean;
  /** A connection with room for a stream: at once, or when there is one. The function that it returns gives up. */
  take(taker: Taker): () => void;
  /** A connection of its own, in HTTP/1.1. The function that it returns gives up. */
  dialHttp1(owner: WayOwner): () => void;
}
