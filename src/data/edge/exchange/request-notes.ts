/**
 * What is noted of a request when its tunnel is known: its trace, what the access log says of it, its record. One per dispatch.ts. All of it is
 * decided once, also when the head is read again because the tunnel's policy has decided.
 */
import { noteTrace } from '../../access-log/trace.ts';
import type { Draft } from '../../inspect/draft.ts';
import type { AskedHead } from '../../inspect/kept-head.ts';
import type { Recorder } from '../../inspect/recorder.ts';
import type { RouteEntry } from '../../routing/entry.ts';
import type { EdgeContext } from './context.ts';
import type { Exchange } from './exchange.ts';
import type { ForwardedLines, VisitorOrigin } from './forwarded.ts';

export class RequestNotes {
  readonly #context: EdgeContext;
  readonly #exchange: Exchange;
  readonly #forwarded: ForwardedLines;
  readonly #of: VisitorOrigin;

  constructor(context: EdgeContext, exchange: Exchange, forwarded: ForwardedLines, of: VisitorOrigin) {
    this.#context = context;
    this.#exchange = exchange;
    this.#forwarded = forwarded;
    this.#of = of;
  }

  /** The head in the context's `requestHead`, which begins at `bytes[start]`. */
  begin(bytes: Buffer, start: number, entry: RouteEntry | undefined): void {
    const { accessLog, recorder, requestHead: head } = this.#context;
    const exchange = this.#exchange;
    const isWanted = accessLog.wants(entry);
    noteTrace(exchange, bytes, head, isWanted ? accessLog.traces : null);
    const access = isWanted ? accessLog.begin(entry) : null;
    const draft = recorder === null || entry === undefined ? null : this.#draft(recorder, entry);
    if (access === null && draft === null) return;
    const asked = this.#asked(bytes, start);
    access?.read(asked, exchange.traceId);
    exchange.access = access;
    draft?.read(asked, exchange.traceId);
    if (draft?.isOpen !== true) return;
    exchange.draft = draft;
    if (access !== null) access.id = draft.id;
  }

  /** The same head, read again: its name may have become another tunnel's meanwhile. */
  again(entry: RouteEntry | undefined): void {
    const { access, draft } = this.#exchange;
    if (access !== null && access.tunnelId !== (entry?.route.tunnelId ?? null)) this.#exchange.access = null;
    if (draft !== null && draft.of !== entry?.records) this.#exchange.dropDraft();
  }

  #draft(recorder: Recorder, entry: RouteEntry): Draft | null {
    return recorder.begin(entry, this.#context.nowMs, this.#of.sentBy?.record ?? null);
  }

  #asked(bytes: Buffer, start: number): AskedHead {
    const { requestHead: head } = this.#context;
    return {
      bytes,
      start,
      head,
      remoteIp: this.#forwarded.clientIp(bytes, head),
      isHttps: this.#forwarded.isHttps(bytes, head),
      isHttp2: this.#of.isHttp2 === true,
    };
  }
}
