/**
 * What the access log says of one request, or one connection of a `tcp` tunnel, while that is under way. Made by access-log.ts, noted in the
 * exchange, filled by dispatch.ts and response.ts; `finish` gives it to the queue. Its fields are what goes over the link: one object per request.
 */
import { COLON, SPACE, TAB } from '../../http1/chars.ts';
import { equalsFolded, word } from '../../http1/fields.ts';
import type { AccessEntry } from '../../plane/access-log.ts';
import { type AskedHead, targetOf } from '../inspect/kept-head.ts';
import type { RouteEntry, ServedTunnel } from '../routing/entry.ts';

const USER_AGENT = word('user-agent');
const REFERER = word('referer');
/** Of a target, a user agent and a referer: longer ones are not read, so that a batch has a bound. A cut string would keep the whole one. */
const MAX_CHARS = 2_048;

/** Where it goes: access-log.ts. */
export interface AccessOwner {
  add(entry: AccessDraft): void;
}

/** How it ended, as the exchange knows it. */
export interface AccessEnd {
  /** The visitor got a whole answer with it; 0: none, or a part of the service's. */
  readonly status: number;
  readonly code: string | null;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

type Mutable<T> = { -readonly [key in keyof T]: T[key] };

export class AccessDraft implements Mutable<AccessEntry> {
  id = '';
  kind: AccessEntry['kind'] = 'http';
  at = Date.now();
  tunnelId: string | null = null;
  orgId: string | null = null;
  label = '';
  tokenId: string | null = null;
  agentId: string | null = null;
  remoteIp = '';
  method = '';
  target = '';
  host = '';
  scheme: AccessEntry['scheme'] = 'http';
  httpVersion: AccessEntry['httpVersion'] = '';
  userAgent = '';
  referer = '';
  status = 0;
  outcome: AccessEntry['outcome'] = 'failed';
  code: string | null = null;
  bytesIn = 0;
  bytesOut = 0;
  durationMs = 0;
  upstreamMs: number | null = null;
  traceId = '';
  isSampled: boolean;
  readonly #owner: AccessOwner;
  readonly #startedMs = performance.now();
  #carriedMs = 0;

  constructor(owner: AccessOwner, entry: RouteEntry | undefined, isSampled: boolean) {
    this.#owner = owner;
    this.isSampled = isSampled;
    if (entry === undefined) return;
    const { tunnelId, orgId, subdomain } = entry.route;
    this.tunnelId = tunnelId;
    this.orgId = orgId;
    this.label = subdomain;
  }

  /** The request's head, before anything is decided. */
  read({ bytes, start, head, remoteIp, isHttps, isHttp2 }: AskedHead, traceId: string): void {
    this.traceId = traceId;
    this.method = bytes.toString('latin1', start, head.methodEnd);
    this.target = targetOf(bytes, head, MAX_CHARS);
    this.host = bytes.toString('latin1', head.hostStart, head.hostEnd);
    this.remoteIp = remoteIp;
    this.scheme = isHttps ? 'https' : 'http';
    this.httpVersion = isHttp2 ? '2' : head.minor === 0 ? '1.0' : '1.1';
    for (let l = 0; l < head.lineCount; l++) {
      const line = head.lines[l] as number;
      const next = head.lines[l + 1] as number;
      if (isNamed(bytes, line, USER_AGENT)) this.userAgent = valueOf(bytes, line + USER_AGENT.length + 1, next - 2);
      else if (isNamed(bytes, line, REFERER)) this.referer = valueOf(bytes, line + REFERER.length + 1, next - 2);
    }
  }

  /** The serving that carries it; also when it is sent once more. */
  carriedBy({ agentId, tokenId }: ServedTunnel): void {
    this.#carriedMs = performance.now();
    this.agentId = agentId;
    this.tokenId = tokenId;
  }

  /** The service's final head, or that of an upgrade. */
  answered(status: number): void {
    this.status = status;
    this.upstreamMs = rounded(performance.now() - this.#carriedMs);
  }

  /** All is over: of an upgrade, when its connection ends; of a `tcp` tunnel, the connection. */
  finish({ status, code, bytesIn, bytesOut }: AccessEnd): void {
    const isWhole = status !== 0 || this.status === 101 || this.kind === 'tcp';
    if (status !== 0) this.status = status;
    this.code = code;
    this.bytesIn = bytesIn;
    this.bytesOut = bytesOut;
    this.durationMs = rounded(performance.now() - this.#startedMs);
    if (code === null && isWhole) this.outcome = 'forwarded';
    else if (this.agentId === null) this.outcome = 'refused';
    this.#owner.add(this);
  }
}

function isNamed(bytes: Buffer, line: number, name: Uint8Array): boolean {
  const end = line + name.length;
  return bytes[end] === COLON && equalsFolded(bytes, line, end, name);
}

function valueOf(bytes: Buffer, start: number, end: number): string {
  let from = start;
  while (from < end && (bytes[from] === SPACE || bytes[from] === TAB)) from++;
  return bytes.toString('latin1', from, Math.min(end, from + MAX_CHARS));
}

/** To microseconds. */
function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
