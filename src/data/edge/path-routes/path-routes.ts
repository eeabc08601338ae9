/**
 * The services of a tunnel by path: which of them a request goes to, and the streams of each. A kept stream to one service never carries a request
 * of another. Made from the claim (wire/path-routes.ts); asked by exchange/dispatch.ts once per request.
 */
import { COLON } from '../../../http1/chars.ts';
import { equalsFolded, word } from '../../../http1/fields.ts';
import type { Head } from '../../../http1/head.ts';
import type { MuxSession } from '../../../mux/session.ts';
import type { MuxStream } from '../../../mux/stream.ts';
import type { Narrowing } from '../../../plane/narrowing.ts';
import type { RequestLine } from '../../../wire/messages.ts';
import { comparedPath, isAmbiguousPath, type PathRouteForm } from '../../../wire/path-routes.ts';
import { encodeRoutePreamble } from '../../../wire/preamble.ts';
import type { EdgeRefusal } from '../../faults/fault.ts';
import type { Payer, ServedTunnel, ServiceChoice, TunnelMeter } from '../../routing/entry.ts';
import { IDLE_MS } from '../exchange/upstream.ts';
import { Rewrite } from '../rewrite/rewrite.ts';

const PERCENT = 37;
const DOT = 46;
const SLASH = 47;
const SEMICOLON = 59;
const QUESTION = 63;
const BACKSLASH = 92;

const NO_ROUTE: EdgeRefusal = { code: 'tunnel_not_found', detail: 'No route of this tunnel matches the path.' };
const AMBIGUOUS: EdgeRefusal = {
  code: 'bad_request',
  detail:
    'The path can be read in two ways: it has "..", ".", "//", a backslash, or one of them encoded. This tunnel has several services, and needs a plain path.',
};

const ELSEWHERE: EdgeRefusal = {
  code: 'bad_request',
  detail: 'The header Destination names a path that is not on the route of the request.',
};
/** Where WebDAV copies or moves to. */
const DESTINATION = word('destination');
const SCHEME_AND_HOST = /^(?:[a-z][a-z0-9+.-]*:)?\/\/[^/?#\\]*/i;

export class PathRoutes implements ServiceChoice {
  /** The longest path first. */
  readonly services: readonly RouteService[];
  /** Why the last `pick` found none. */
  refusal = NO_ROUTE;

  constructor(forms: readonly PathRouteForm[], tunnel: ServedTunnel) {
    const services = forms.map((form, index) => new RouteService(form, index, tunnel));
    this.services = services.sort((a, b) => b.path.length - a.path.length);
  }

  /** The service for a parsed head; null: see `refusal`. Allocates for paths with `%`, `;` and the like alone, and for WebDAV. */
  pick(bytes: Buffer, head: Head): RouteService | null {
    const service = this.#pickBytes(bytes, head);
    if (service === null) return null;
    for (let l = 0; l < head.lineCount; l++) {
      const line = head.lines[l] as number;
      const end = line + DESTINATION.length;
      if (bytes[end] !== COLON || !equalsFolded(bytes, line, end, DESTINATION)) continue;
      const value = bytes.toString('latin1', end + 1, (head.lines[l + 1] as number) - 2).trim();
      if (this.#pickUrl(value) === service) continue;
      this.refusal = ELSEWHERE;
      return null;
    }
    return service;
  }

  #pickUrl(url: string): RouteService | null {
    const path = url.replace(SCHEME_AND_HOST, '').split(/[?#]/, 1)[0] as string;
    return this.#pickText(path === '' ? '/' : path);
  }

  #pickBytes(bytes: Buffer, head: Head): RouteService | null {
    const { pathStart: start, targetEnd } = head;
    let end = start;
    let isPlain = true;
    for (; end < targetEnd && bytes[end] !== QUESTION; end++) {
      const c = bytes[end] as number;
      if (c === PERCENT || c === SEMICOLON || c === BACKSLASH || c >= 0x80) isPlain = false;
      else if (c === SLASH && (bytes[end + 1] === SLASH || bytes[end + 1] === DOT)) isPlain = false;
    }
    if (!isPlain) return this.#pickText(bytes.toString('latin1', start, end));
    this.refusal = NO_ROUTE;
    for (const service of this.services) if (service.hasBytes(bytes, start, end)) return service;
    return null;
  }

  #pickText(path: string): RouteService | null {
    this.refusal = isAmbiguousPath(path) ? AMBIGUOUS : NO_ROUTE;
    if (this.refusal === AMBIGUOUS) return null;
    const compared = comparedPath(path);
    return this.services.find((service) => service.hasText(compared)) ?? null;
  }
}

/** A route's service: as its tunnel, with a preamble, streams and a way to write requests of its own. */
export class RouteService implements ServedTunnel {
  /** As paths are compared; empty: all. */
  readonly path: string;
  readonly #bytes: Buffer;
  readonly tunnel: ServedTunnel;
  readonly preamble: Buffer;
  readonly idle: MuxStream[] = [];
  readonly resting = new Set<MuxStream>();
  readonly rewrite: Rewrite | null;
  readonly idleMs: number;
  readonly routes = null;
  readonly session: MuxSession;
  readonly agentId: string;
  readonly tokenId: string;
  readonly payer: Payer;
  readonly meter: TunnelMeter;
  readonly slot: number;

  /** `index`: its place in the claim. */
  constructor({ path, upstream }: PathRouteForm, index: number, tunnel: ServedTunnel) {
    this.path = path === '/' ? '' : comparedPath(path);
    this.#bytes = Buffer.from(this.path, 'latin1');
    this.tunnel = tunnel;
    this.preamble = encodeRoutePreamble(tunnel.slot, index);
    this.rewrite = Rewrite.of(upstream);
    this.idleMs = upstream?.keepAliveMs ?? IDLE_MS;
    ({
      session: this.session,
      agentId: this.agentId,
      tokenId: this.tokenId,
      payer: this.payer,
      meter: this.meter,
      slot: this.slot,
    } = tunnel);
  }

  /** Whether `bytes[start, end)` is its path, or below it. */
  hasBytes(bytes: Buffer, start: number, end: number): boolean {
    const { length } = this.#bytes;
    if (length === 0) return true;
    const to = start + length;
    if (to > end || (to < end && bytes[to] !== SLASH)) return false;
    return this.#bytes.compare(bytes, start, to) === 0;
  }

  hasText(path: string): boolean {
    const { length } = this.path;
    return path.startsWith(this.path) && (length === 0 || path.length === length || path[length] === '/');
  }

  get services(): readonly ServedTunnel[] {
    return this.tunnel.services;
  }

  get inFlight(): number {
    return this.tunnel.inFlight;
  }

  set inFlight(count: number) {
    this.tunnel.inFlight = count;
  }

  get draining(): boolean {
    return this.tunnel.draining;
  }

  get cut(): boolean {
    return this.tunnel.cut;
  }

  get narrowing(): Narrowing | null {
    return this.tunnel.narrowing;
  }

  get inspected(): boolean {
    return this.tunnel.inspected;
  }

  get isAlone(): boolean {
    return this.tunnel.isAlone;
  }

  get watched(): boolean {
    return this.tunnel.watched;
  }

  forgive(bytes: number): void {
    this.tunnel.forgive(bytes);
  }

  note(line: RequestLine): void {
    this.tunnel.note(line);
  }
}
