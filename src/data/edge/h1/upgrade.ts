/**
 * An upgraded connection (101): bytes go both ways, metered; the record of the request counts its frames as they pass. Functions over the request that asked for it, called by request.ts and
 * visitor.ts: they run per read, and a connection that is never upgraded keeps nothing for them.
 */
import type { Slab } from '../../../base/bytes/slab.ts';
import type { SocketWriter } from '../../../base/bytes/socket-writer.ts';
import type { Deadlines } from '../exchange/deadlines.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Ledger } from '../exchange/ledger.ts';
import type { Upstream } from '../exchange/upstream.ts';

/** The visitor's connection, as far as an upgrade must know it. */
export interface UpgradedConnection {
  readonly writer: SocketWriter;
  readonly deadlines: Deadlines;
  /** The visitor has ended its direction. */
  readonly isHalfClosed: boolean;
  /** What the visitor has sent ahead, and the connection keeps no longer. */
  takeWaiting(): Buffer | null;
  /** Reads on. */
  resume(): void;
}

/** A request that was answered with 101. */
export interface Upgraded {
  readonly connection: UpgradedConnection;
  readonly exchange: Exchange;
  readonly ledger: Ledger;
  readonly upstream: Upstream | null;
  /** Gives the stream back. */
  finish(isClean: boolean): void;
}

/** `bytes[start, end)` came behind the 101. */
export function beginUpgrade(of: Upgraded, bytes: Buffer, start: number, end: number, slab: Slab): void {
  const { connection } = of;
  const { stream } = of.upstream as Upstream;
  connection.deadlines.moved();
  if (start < end) push(of, bytes, start, end, slab);
  const early = connection.takeWaiting();
  if (early !== null) {
    sendToService(of, early, 0, early.length);
  }
  if (connection.isHalfClosed) stream.end();
  connection.resume();
}

/** From the visitor. False pauses reading. */
export function sendToService(of: Upgraded, bytes: Buffer, start: number, end: number): boolean {
  const { exchange } = of;
  exchange.countIn(end - start);
  if (exchange.websocket !== null) exchange.websocket.fromVisitor.payload(bytes, start, end);
  return (of.upstream as Upstream).stream.write(bytes, start, end);
}

/** From the service. */
export function sendToVisitor(of: Upgraded, bytes: Buffer, start: number, end: number): void {
  of.connection.deadlines.moved();
  push(of, bytes, start, end, (of.upstream as Upstream).stream.session.readSlab);
}

/** The service has ended its direction; the visitor may go on in its own. */
export function serviceEnded(of: Upgraded): void {
  of.connection.writer.end();
  if (of.connection.isHalfClosed) of.finish(false);
}

function push(of: Upgraded, bytes: Buffer, start: number, end: number, slab: Slab): void {
  const { exchange } = of;
  of.ledger.owe(end - start);
  exchange.countOut(end - start);
  if (exchange.websocket !== null) exchange.websocket.fromService.payload(bytes, start, end);
  of.connection.writer.push(bytes, start, end, end - start, slab);
}
