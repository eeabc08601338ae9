/** What the access log says of connections to the public ports of `tcp` tunnels: one entry for each, when it is over or refused. */
import type { PipeMeter } from '../../base/bytes/pipe.ts';
import { EXHAUSTED, refusalOf } from '../faults/refusal.ts';
import type { RouteEntry } from '../routing/entry.ts';
import type { AccessDraft } from './access-draft.ts';
import type { AccessLog } from './access-log.ts';

export interface TcpOrigin {
  readonly ip: string;
  /** The public port. */
  readonly port: number;
}

/** The entry of a connection; null: it is not logged. */
export function beginTcp(log: AccessLog, entry: RouteEntry, { ip, port }: TcpOrigin): AccessDraft | null {
  const draft = log.wants(entry) ? log.begin(entry) : null;
  if (draft === null) return null;
  draft.kind = draft.scheme = 'tcp';
  draft.remoteIp = ip;
  draft.host = String(port);
  return draft;
}

/** One that was refused. */
export function refusedTcp(log: AccessLog, entry: RouteEntry, from: TcpOrigin): void {
  beginTcp(log, entry, from)?.finish({ status: 0, code: reasonOf(entry, from.ip), bytesIn: 0, bytesOut: 0 });
}

function reasonOf(entry: RouteEntry, ip: string): string {
  const { policy, served } = entry;
  const refusal = refusalOf(entry);
  if (refusal !== null) return refusal.code;
  if (policy !== null && policy.keepsOut(ip)) return 'denied';
  return served?.payer.exhausted === true ? EXHAUSTED.code : 'overloaded';
}

/** Counts what one connection carries, and hands all of it on. */
export class CountedMeter implements PipeMeter {
  bytesIn = 0;
  bytesOut = 0;
  readonly #meter: PipeMeter;

  constructor(meter: PipeMeter) {
    this.#meter = meter;
  }

  get fromSocket(): number {
    return this.#meter.fromSocket;
  }

  set fromSocket(bytes: number) {
    this.bytesIn += bytes - this.#meter.fromSocket;
    this.#meter.fromSocket = bytes;
  }

  get toSocket(): number {
    return this.#meter.toSocket;
  }

  set toSocket(bytes: number) {
    this.bytesOut += bytes - this.#meter.toSocket;
    this.#meter.toSocket = bytes;
  }
}
