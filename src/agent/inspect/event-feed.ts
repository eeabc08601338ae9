/**
 * `/api/events`: the live list as server-sent events. A watcher gets what there is, then each change. One that does not take what
 * it is sent is cut, and comes back by itself with a fresh list, as browsers do: nothing waits for it, and nothing is kept for it.
 */
import type { ServerResponse } from 'node:http';
import type { RequestRecord } from './request-record.ts';
import type { RequestRing, RingWatcher } from './request-ring.ts';
import { summary } from './request-view.ts';
import type { PageTally } from './metrics/tally.ts';

/** Open pages, or scripts. */
const MAX_WATCHERS = 16;
/** What may wait for one watcher. A whole list is some 150 KB, and at most 500. */
const MAX_WAITING_BYTES = 1 << 20;
/** A comment now and then, so that a watcher that went away without a word is found out. */
const BEAT_MS = 15_000;

/** Facts that the page shows above the list. Sent at the start and whenever they change. */
export type Facts = () => object;

export class EventFeed {
  readonly #ring: RequestRing;
  readonly #tally: PageTally;
  readonly #facts: Facts;
  readonly #watchers = new Set<FeedWatcher>();
  readonly #beat: NodeJS.Timeout;

  constructor(ring: RequestRing, tally: PageTally, facts: Facts) {
    this.#ring = ring;
    this.#tally = tally;
    this.#facts = facts;
    this.#beat = setInterval(() => this.#sendAll(':\n\n'), BEAT_MS);
    this.#beat.unref();
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  /** Takes the answer over. False: there are as many watchers as may be. */
  open(response: ServerResponse): boolean {
    if (this.#watchers.size >= MAX_WATCHERS) return false;
    response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
    const watcher = new FeedWatcher(response, () => this.#tally.watchersCut++);
    const unwatch = this.#ring.watch(watcher);
    this.#watchers.add(watcher);
    response.on('close', () => {
      unwatch();
      this.#watchers.delete(watcher);
    });
    watcher.send(eventText('facts', this.#facts()));
    watcher.send(eventText('list', this.#ring.list(Infinity).map(summary)));
    return true;
  }

  /** The facts have changed. */
  tellFacts(): void {
    if (this.#watchers.size > 0) this.#sendAll(eventText('facts', this.#facts()));
  }

  close(): void {
    clearInterval(this.#beat);
    for (const watcher of this.#watchers) watcher.end();
  }

  #sendAll(text: string): void {
    for (const watcher of this.#watchers) watcher.send(text);
  }
}

class FeedWatcher implements RingWatcher {
  readonly #response: ServerResponse;
  readonly #onCut: () => void;

  constructor(response: ServerResponse, onCut: () => void) {
    this.#response = response;
    this.#onCut = onCut;
  }

  onRecord(record: RequestRecord): void {
    this.send(eventText('request', summary(record)));
  }

  onCleared(): void {
    this.send(eventText('cleared', {}));
  }

  send(text: string): void {
    const response = this.#response;
    if (response.destroyed) return;
    response.write(text);
    if (response.writableLength <= MAX_WAITING_BYTES) return;
    this.#onCut();
    response.destroy();
  }

  end(): void {
    this.#response.end();
  }
}

function eventText(event: string, data: object): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
