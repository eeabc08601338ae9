/** Server-sent events taken apart, as the HTML standard reads them. Pure: tested without a browser. */

export interface StreamEvent {
  /** "message" where the sender gave none. */
  readonly type: string;
  readonly id: string | undefined;
  readonly data: string;
  readonly retry: string | undefined;
  /** The stream ends before it does: a browser would not dispatch it. */
  readonly isCut: boolean;
}

export interface StreamEvents {
  readonly events: readonly StreamEvent[];
  /** Events that are not listed. */
  readonly more: number;
  /** Lines that only keep the connection open. */
  readonly comments: number;
}

/** What a page lists. */
const MAX_EVENTS = 1_000;

export function eventsOf(text: string): StreamEvents {
  const reader = new EventReader();
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/);
  // What follows the last line end is a line without its end.
  const rest = lines.pop() ?? '';
  for (const line of lines) reader.line(line);
  return reader.end(rest);
}

class EventReader {
  readonly #events: StreamEvent[] = [];
  #count = 0;
  #comments = 0;
  #data: string[] = [];
  #fields: Record<'event' | 'id' | 'retry', string | undefined> = { event: undefined, id: undefined, retry: undefined };

  line(line: string): void {
    if (line === '') return this.#dispatch(false);
    if (line.startsWith(':')) {
      this.#comments++;
      return;
    }
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') this.#data.push(value);
    else if (name === 'event' || name === 'id' || name === 'retry') this.#fields[name] = value;
  }

  end(rest: string): StreamEvents {
    if (rest !== '') this.line(rest);
    this.#dispatch(true);
    return { events: this.#events, more: this.#count - this.#events.length, comments: this.#comments };
  }

  #dispatch(isCut: boolean): void {
    const { event, id, retry } = this.#fields;
    const isEmpty = this.#data.length === 0 && event === undefined && id === undefined && retry === undefined;
    if (!isEmpty) this.#count++;
    if (!isEmpty && this.#events.length < MAX_EVENTS)
      this.#events.push({ type: event || 'message', id, data: this.#data.join('\n'), retry, isCut });
    this.#data = [];
    this.#fields = { event: undefined, id: undefined, retry: undefined };
  }
}
