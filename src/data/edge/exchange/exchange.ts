/** One request and its response, as far as both halves of a visitor's connection must know of it. Reused for each exchange. */
import type { BodyTap } from '../../../http1/body.ts';
import type { RequestLine } from '../../../wire/messages.ts';
import type { AccessDraft } from '../../access-log/access-draft.ts';
import type { Draft } from '../../inspect/draft.ts';
import type { WebSocketRecord } from '../../inspect/websocket/websocket-record.ts';
import type { TunnelLatency } from '../../latency/tunnel-latency.ts';
import { type RouteEntry, type ServedTunnel, TunnelMeter } from '../../routing/entry.ts';
import type { HeaderRule } from '../../policy/header-rule.ts';
import type { PublicOrigin, Rewrite } from '../rewrite/rewrite.ts';
import { EDGE_FAULTS, type FaultCode } from '../../../base/codes/edge-faults.ts';
import type { Head } from '../../../http1/head.ts';

/** For exchanges without a tunnel. */
const noMeter = new TunnelMeter();
const MAX_SHOWN_PATH = 512;
const GET = Buffer.from('GET');
const HEAD = Buffer.from('HEAD');
const OPTIONS = Buffer.from('OPTIONS');

interface WatchedLine {
  readonly at: number;
  readonly startedMs: number;
  readonly method: string;
  readonly path: string;
  readonly served: ServedTunnel;
  /** What an action that is only tried would have refused it with. */
  readonly wouldRefuse: FaultCode | null;
}

export class Exchange {
  entry: RouteEntry | null = null;
  meter: TunnelMeter = noMeter;
  isGet = false;
  isHead = false;
  /** GET, HEAD or OPTIONS: may be sent twice without harm (RFC 9110 §9.2.1). */
  isSafe = false;
  isHttp10 = false;
  acceptsHtml = false;
  wantsUpgrade = false;
  /** All of the request's body has come; the rest after an early response is discarded. */
  isWhole = false;
  /** What the tunnel's policy sets on the forwarded request, and on the response. */
  requestRule: HeaderRule | null = null;
  responseRule: HeaderRule | null = null;
  /** What its tunnel's service gets in place of host and path, and the public name that its response gets back; null: nothing. */
  rewrite: Rewrite | null = null;
  origin: PublicOrigin | null = null;
  /** What the service must say when it becomes a WebSocket (Sec-WebSocket-Accept), where the key is the edge's own; '': the visitor checks it. */
  accept = '';
  status = 0;
  /** Why the edge answered by itself, or cut the answer. */
  code: FaultCode | null = null;
  /** The record of it that is being made; null: there is none. It stays while a policy decides: its head is read again then. */
  draft: Draft | null = null;
  /** What passes through the upgraded connection, for its record; null: it is none, or is not recorded. */
  websocket: WebSocketRecord | null = null;
  /** Where its end is counted; null: it is of no tunnel, or is counted. */
  latency: TunnelLatency | null = null;
  /** Monotonic milliseconds, set by `Dispatch.find`: its head was read. It stays while a policy decides or an agent is awaited. */
  startedMs = 0;
  /** The head of a response has left. */
  #isAnswered = false;
  /** What the access log will say of it; null: nothing. It stays while a policy decides, as `draft` does. */
  access: AccessDraft | null = null;
  /** W3C trace id; '' where it has none. Both stay while a policy decides. */
  traceId = '';
  /** The line that begins its trace here, in place of what the visitor sent; null: its own passes through. */
  traceLine: Buffer | null = null;
  /** Heads and bodies of this exchange, counted as in TunnelMeter. */
  bytesIn = 0;
  bytesOut = 0;
  #line: WatchedLine | null = null;

  begin(bytes: Buffer, start: number, head: Head): void {
    const length = head.methodEnd - start;
    // Compared whole: a HEAT taken for a HEAD would leave its body in the stream for the next visitor.
    this.isGet = length === 3 && isWord(bytes, start, GET);
    this.isHead = length === 4 && isWord(bytes, start, HEAD);
    this.isSafe = this.isGet || this.isHead || (length === 7 && isWord(bytes, start, OPTIONS));
    this.isHttp10 = head.minor === 0;
    this.acceptsHtml = head.acceptsHtml;
    this.wantsUpgrade = false;
    this.isWhole = !head.chunked && head.contentLength <= 0;
    this.requestRule = this.responseRule = null;
    this.rewrite = this.origin = null;
    this.code = null;
    this.entry = null;
    this.meter = noMeter;
    this.status = this.bytesIn = this.bytesOut = 0;
    this.#line = null;
    this.latency = null;
    this.#isAnswered = false;
  }

  /** From the visitor. */
  countIn(bytes: number): void {
    this.meter.bytesIn += bytes;
    this.bytesIn += bytes;
  }

  /** To the visitor. */
  countOut(bytes: number): void {
    this.meter.bytesOut += bytes;
    this.bytesOut += bytes;
  }

  /** A serving of `entry` carries it: counted there as one request and its head. */
  serveFrom(entry: RouteEntry, meter: TunnelMeter, headBytes: number): void {
    this.entry = entry;
    this.meter = meter;
    meter.requests++;
    this.countIn(headBytes);
  }

  /** The agent's screen is on: this exchange gets a line there. */
  watch(bytes: Buffer, start: number, head: Head, of: Pick<WatchedLine, 'served' | 'wouldRefuse'>): void {
    this.#line = {
      at: Date.now(),
      startedMs: performance.now(),
      method: bytes.toString('latin1', start, head.methodEnd),
      path: bytes.toString('latin1', head.targetStart, Math.min(head.targetEnd, head.targetStart + MAX_SHOWN_PATH)),
      ...of,
    };
  }

  /** Receives the request's body, or what the visitor sends once it is upgraded; null: nothing does. */
  get requestTap(): BodyTap | null {
    if (this.draft !== null) return this.draft.requestBody;
    return this.websocket === null ? null : this.websocket.fromVisitor;
  }

  get responseTap(): BodyTap | null {
    return this.draft === null ? null : this.draft.responseBody;
  }

  /** What was noted of it is another tunnel's. */
  dropDraft(): void {
    this.draft?.drop('failed');
    this.draft = null;
  }

  /** The head of its response leaves; `isWhole`: with all of the body. */
  answered(status: number, isWhole: boolean): void {
    const { latency } = this;
    if (latency === null) return;
    latency.answered(status, performance.now() - this.startedMs, isWhole);
    this.#isAnswered = true;
    if (isWhole) this.latency = null;
  }

  /** It has become an upgraded connection: its record goes on with what passes, and it has no last byte. */
  switched(): void {
    this.latency?.connected();
    this.answered(101, false);
    this.latency = null;
    if (this.draft === null) return;
    this.websocket = this.draft.switched(this.entry?.route.websocketFrames);
    this.draft = null;
  }

  #count(latency: TunnelLatency): void {
    this.latency = null;
    const { status, code, entry } = this;
    if (this.#isAnswered) {
      // One that was cut has no last byte.
      if (status !== 0 && code === null) latency.completed(performance.now() - this.startedMs);
    } else if (status === 0) latency.canceled();
    else if (entry === null) latency.blocked(status);
    else latency.answered(status, performance.now() - this.startedMs, true);
  }

  /** Ends the exchange; and reports it to the agent's screen if that is on. */
  finish(): void {
    const { draft, latency } = this;
    if (latency !== null) this.#count(latency);
    if (draft !== null) {
      this.draft = null;
      draft.finish(this);
    }
    const { access, websocket } = this;
    if (websocket !== null) {
      this.websocket = null;
      websocket.end();
    }
    if (access !== null) {
      this.access = null;
      access.finish(this);
    }
    const line = this.#line;
    if (line !== null) {
      this.#line = null;
      const { at, method, path, served, wouldRefuse } = line;
      const note: RequestLine = {
        slot: served.slot,
        at,
        method,
        path,
        status: this.status,
        ms: performance.now() - line.startedMs,
        ...(wouldRefuse === null ? {} : { dryRun: { status: EDGE_FAULTS[wouldRefuse].status, code: wouldRefuse } }),
      };
      served.note(note);
    }
    this.entry = null;
    this.meter = noMeter;
    this.traceId = '';
    this.traceLine = null;
    // What comes next may be no request at all: its refusal is not shaped by this one.
    this.isHead = this.acceptsHtml = false;
  }
}

function isWord(bytes: Buffer, start: number, word: Uint8Array): boolean {
  for (let i = 0; i < word.length; i++) if (bytes[start + i] !== word[i]) return false;
  return true;
}
