/**
 * The short lines for the agent's live screen: gathered for a quarter of a second, at most 100 at a time, the rest counted. A
 * screen is worth no visitor's time: an agent that is behind with reading gets none. One per agent session, owned by agent.ts.
 */
import { encodeLine } from '../../wire/lines.ts';
import { MAX_MESSAGE_BYTES, type FromServer, type RequestLine } from '../../wire/messages.ts';

const PERIOD_MS = 250;
const MAX_LINES = 100;
const MAX_PATH = 512;
const MAX_METHOD = 32;

export class RequestLines {
  readonly #send: (message: FromServer) => void;
  readonly #blocked: () => boolean;
  #items: RequestLine[] = [];
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(control: { send(message: FromServer): void; blocked(): boolean }) {
    this.#send = (message) => control.send(message);
    this.#blocked = () => control.blocked();
  }

  note(line: RequestLine): void {
    if (this.#closed) return;
    this.#timer ??= setTimeout(() => this.#flush(), PERIOD_MS).unref();
    if (this.#items.length >= MAX_LINES) {
      this.#dropped++;
      return;
    }
    const fits = line.path.length <= MAX_PATH && line.method.length <= MAX_METHOD;
    this.#items.push(
      fits ? line : { ...line, path: line.path.slice(0, MAX_PATH), method: line.method.slice(0, MAX_METHOD) },
    );
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#items = [];
  }

  #flush(): void {
    this.#timer = undefined;
    let items = this.#items;
    this.#items = [];
    let dropped = this.#dropped;
    this.#dropped = 0;
    if (this.#blocked()) {
      this.#dropped = dropped + items.length;
      return;
    }
    // Long paths full of characters that JSON escapes can outgrow a message: the older half is what a screen shows anyway no more.
    while (encodeLine({ type: 'requests', items, dropped }).length > MAX_MESSAGE_BYTES) {
      const half = Math.ceil(items.length / 2);
      dropped += half;
      items = items.slice(half);
    }
    this.#send({ type: 'requests', items, dropped });
  }
}
