/**
 * `/inspector/ws`: requests as they are recorded. Keeps a connection while a page shows it: after an end it reconnects, with a token that
 * is good then, and says that it has, so that what was missed can be asked for. Called by live-requests.ts.
 */
import type { Item } from '../filters/filter.ts';

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 30_000;
/** A connection that stood for this long was a good one: the next one is not waited for. */
const GOOD_MS = 10_000;
const PROTOCOL = 'culvert.inspector';
/** The session is over: the token is no good, however long it says that it lives. */
const SESSION_ENDED = 4401;

export type FeedState = 'connecting' | 'live' | 'cut';

export interface FeedDeps {
  /** The API, with a slash at its end. */
  readonly api: URL;
  /** A token valid for a while yet; undefined: logged out. */
  readonly token: () => Promise<string | undefined>;
  /** Asks for another token: this one was refused. */
  readonly refresh: () => Promise<boolean>;
  readonly onItem: (item: Item) => void;
  readonly onState: (state: FeedState) => void;
}

/** Starts to listen, to one tunnel or to all; returns what ends it. */
export function openFeed(deps: FeedDeps, tunnel: string | undefined): () => void {
  let socket: WebSocket | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let waitMs = FIRST_WAIT_MS;
  let isOver = false;

  const again = (): void => {
    if (isOver) return;
    deps.onState('cut');
    // All tabs of a server that was away come back at other times.
    timer = setTimeout(() => void connect(), waitMs * (0.5 + Math.random() / 2));
    waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
  };

  const connect = async (): Promise<void> => {
    const token = await deps.token().catch(() => undefined);
    if (isOver) return;
    if (token === undefined) return again();
    const opened = new WebSocket(addressOf(deps.api, tunnel), [PROTOCOL, `bearer.${token}`]);
    socket = opened;
    let since = Number.POSITIVE_INFINITY;
    opened.addEventListener('open', () => {
      since = performance.now();
      deps.onState('live');
    });
    opened.addEventListener('message', ({ data }) => {
      if (typeof data === 'string') deps.onItem(JSON.parse(data) as Item);
    });
    opened.addEventListener('close', ({ code }) => {
      if (performance.now() - since > GOOD_MS) waitMs = FIRST_WAIT_MS;
      if (isOver) return;
      // A refusal before the switch has no code that a page could read; the next token tells.
      if (code !== SESSION_ENDED) return again();
      deps.refresh().then(again, again);
    });
  };

  deps.onState('connecting');
  void connect();
  return () => {
    isOver = true;
    clearTimeout(timer);
    socket?.close();
  };
}

function addressOf(api: URL, tunnel: string | undefined): URL {
  const url = new URL('inspector/ws', api);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  if (tunnel !== undefined) url.searchParams.set('tunnel_id', tunnel);
  return url;
}
