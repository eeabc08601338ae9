/**
 * What the inspector's list is filled from: the history, the live feed, and the history once more for what was missed while the feed was away. One per
 * filter; request-list.tsx draws `list`. What comes is put into the list a few times a second, between two frames, however fast it comes.
 */
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { answered } from '../../../api/client.ts';
import { type ApiContext, useApi } from '../../../api/context.tsx';
import { type FeedState, openFeed } from './feed.ts';
import { type Filter, isServersCall, type Item, matches, queryOf } from '../filters/filter.ts';
import { LiveList, MAX_ROWS } from './live-list.ts';
import { SearchPace } from './search-pace.ts';

const PAGE = 200;
const MAX_PAGE = 500;
/** A filter that must look at each record answers in parts: so many are asked for at once until a screen is full. */
const MAX_PARTS = 20;
const SCREEN = 40;
/** Of what was missed, as many pages as the list has room for. */
const MAX_MISSED_PARTS = MAX_ROWS / MAX_PAGE;
/** No reader is faster; each change of the list costs a redraw. */
const BETWEEN_CHANGES_MS = 100;
/** Heads that came so long before the newest known one may be recorded after it. */
const OVERLAP_MS = 60_000;

export interface LiveStatus {
  readonly feed: FeedState;
  /** The first page is not there yet. */
  readonly isLoading: boolean;
  /** A page of the history is on its way. */
  readonly isSearching: boolean;
  readonly hasOlder: boolean;
  /** How far back a search came that took too long; undefined: it came to the end of its page. */
  readonly searchedTo: string | undefined;
  readonly error: unknown;
}

export class LiveRequests {
  readonly list = new LiveList();
  readonly #api: ApiContext;
  readonly #filter: Filter;
  readonly #listeners = new Set<() => void>();
  #status: LiveStatus = {
    feed: 'connecting',
    isLoading: true,
    isSearching: false,
    hasOlder: false,
    searchedTo: undefined,
    error: undefined,
  };
  /** Came live, and wait for the next frame; at most `MAX_ROWS`, for a tab in the background has no frames. */
  #pending: Item[] = [];
  #frame: number | undefined;
  #changedAt = 0;
  #abort = new AbortController();
  /** Where the history goes on behind the row that was the last one then. */
  #next: { readonly last: string | undefined; readonly before: string } | undefined;
  #isAsking = false;
  /** The feed has begun to stand while the first page was on its way: what was recorded between the two is in neither. */
  #isOutrun = false;
  readonly #pace = new SearchPace({ search: (from) => this.#catchUp(from), isHidden: () => document.hidden });
  /** How often the list has begun anew: older rows that were asked for before that do not fit below it. */
  #restarts = 0;

  constructor(api: ApiContext, filter: Filter) {
    this.#api = api;
    this.#filter = filter;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly status = (): LiveStatus => this.#status;

  /** Begins to listen and to load; returns the end of both. */
  readonly start = (): (() => void) => {
    this.#abort = new AbortController();
    const { url, session } = this.#api;
    document.addEventListener('visibilitychange', this.#pace.plan, { signal: this.#abort.signal });
    void this.load();
    const close = openFeed(
      {
        api: url,
        token: () => session.token(),
        refresh: () => session.refresh(),
        onItem: (item) => this.#take(item),
        onState: (feed) => {
          this.#say({ feed });
          if (feed === 'live') void this.#catchUp();
        },
      },
      this.#filter.tunnel,
    );
    return () => {
      close();
      this.#abort.abort();
      this.#pace.end();
      if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
      this.#frame = undefined;
    };
  };

  /** The newest page, from nothing. */
  readonly load = (): Promise<void> =>
    this.#ask(async () => {
      // Shown also to a reader who has paused before it came: there was nothing yet to be left in its place.
      this.list.append(await this.#screen(undefined));
      this.#say({ isLoading: false });
    });

  /** The next page of the history, behind what is shown. */
  readonly older = (): Promise<void> =>
    this.#ask(async () => {
      const last = this.list.view().rows.at(-1)?.id;
      const before = this.#next !== undefined && this.#next.last === last ? this.#next.before : last;
      if (before === undefined || !this.#status.hasOlder) return;
      const hasRoom = this.list.append(await this.#screen(before));
      this.#next = this.#next === undefined ? undefined : { ...this.#next, last: this.list.view().rows.at(-1)?.id };
      if (!hasRoom) this.#say({ hasOlder: false });
    });

  /** See `LiveList.hold`. */
  readonly hold = (isHeld: boolean): void => {
    if (this.list.hold(isHeld)) this.#say({ hasOlder: true });
  };

  /** One question at a time; a failure is shown, and the next question takes it away. */
  async #ask(question: () => Promise<void>): Promise<void> {
    if (this.#isAsking) return;
    const { signal } = this.#abort;
    this.#isAsking = true;
    this.#say({ isSearching: true });
    try {
      await question();
      this.#say({ error: undefined });
    } catch (error) {
      if (!signal.aborted) this.#say({ error, isLoading: false });
    } finally {
      this.#isAsking = false;
      this.#say({ isSearching: false });
    }
    if (!this.#isOutrun || signal.aborted) return;
    this.#isOutrun = false;
    await this.#catchUp();
  }

  /** As many pages as fill a screen. */
  async #screen(from: string | undefined): Promise<Item[]> {
    const found: Item[] = [];
    const restarts = this.#restarts;
    let before = from;
    let searchedTo: string | undefined;
    for (let part = 0; part < MAX_PARTS && found.length < SCREEN; part++) {
      const page = await this.#page(PAGE, before === undefined ? {} : { before });
      found.push(...page.items);
      before = page.next;
      searchedTo = page.searchedTo;
      if (before === undefined) break;
    }
    if (restarts !== this.#restarts) return [];
    this.#next = before === undefined ? undefined : { last: found.at(-1)?.id ?? from, before };
    this.#say({ hasOlder: before !== undefined, searchedTo });
    return found;
  }

  /** Requests recorded while the connection was down. */
  async #catchUp(newest = this.list.newest): Promise<void> {
    if (newest === undefined) {
      this.#isOutrun = this.#isAsking;
      return this.load();
    }
    try {
      const { items, before } = await this.#missed(newest);
      if (before === undefined) return this.list.add(items);
      this.#restarts++;
      this.list.restart(items, newest);
      this.#next = { last: items.at(-1)?.id, before };
      this.#say({ hasOlder: true });
    } catch (error) {
      if (!this.#abort.signal.aborted) this.#say({ error });
    }
  }

  /** `before`: where those go on that came after `newest` too and found no room. */
  async #missed(newest: string): Promise<{ readonly items: Item[]; readonly before: string | undefined }> {
    const since = new Date(Date.parse(newest) - OVERLAP_MS).toISOString();
    const items: Item[] = [];
    let before: string | undefined;
    for (let part = 0; part < MAX_MISSED_PARTS; part++) {
      const page = await this.#page(MAX_PAGE, before === undefined ? { since } : { since, before });
      items.push(...page.items);
      before = page.next;
      const oldest = items.at(-1)?.timestamp;
      if (before === undefined || (oldest !== undefined && oldest <= newest)) return { items, before: undefined };
    }
    return { items, before };
  }

  async #page(limit: number, more: { readonly before?: string; readonly since?: string }) {
    const query = { ...queryOf(this.#filter, Date.now()), limit, ...more };
    const call = this.#api.client.GET('/inspector', { params: { query }, signal: this.#abort.signal });
    const items = await answered(call);
    const { response } = await call;
    const searchedTo = response.headers.get('culvert-searched-to') ?? undefined;
    return { items, next: nextIn(response.headers.get('link')), searchedTo };
  }

  #take(item: Item): void {
    if (!matches(this.#filter, item)) return;
    if (isServersCall(this.#filter)) return this.#pace.want(item.timestamp);
    this.#pending.push(item);
    if (this.#pending.length > 2 * MAX_ROWS) this.#pending = this.#pending.slice(-MAX_ROWS);
    this.#frame ??= requestAnimationFrame(this.#flush);
  }

  readonly #flush = (now: number): void => {
    if (now - this.#changedAt < BETWEEN_CHANGES_MS) {
      this.#frame = requestAnimationFrame(this.#flush);
      return;
    }
    this.#changedAt = now;
    this.#frame = undefined;
    const items = this.#pending;
    this.#pending = [];
    this.list.add(items);
  };

  #say(change: Partial<LiveStatus>): void {
    this.#status = { ...this.#status, ...change };
    for (const listener of this.#listeners) listener();
  }
}

/** `<?…&before=ID>; rel="next"` */
function nextIn(link: string | null): string | undefined {
  const query = /^<\?([^>]*)>; rel="next"$/.exec(link ?? '')?.[1];
  return query === undefined ? undefined : (new URLSearchParams(query).get('before') ?? undefined);
}

/** The requests of a filter, for as long as the page shows them. `filter`: the same object while nothing changes. */
export function useLiveRequests(filter: Filter): { readonly requests: LiveRequests; readonly status: LiveStatus } {
  const api = useApi();
  const requests = useMemo(() => new LiveRequests(api, filter), [api, filter]);
  useEffect(() => requests.start(), [requests]);
  const status = useSyncExternalStore(requests.subscribe, requests.status);
  return { requests, status };
}
