/**
 * The control stream as the server sees it: lines in, checked; messages out, bounded. One per agent session, owned by agent.ts.
 * It decides nothing: it hands messages over and says when the agent broke a rule or is gone.
 */
import type { MuxStream } from '../../mux/stream.ts';
import type { StreamSink } from '../../mux/types.ts';
import { encodeLine, LineReader } from '../../wire/lines.ts';
import { type FromAgent, type FromServer, fromAgent, MAX_TEXT } from '../../wire/messages.ts';

/** Beyond the window that the agent left unread (256 KB) this much may wait; an agent that reads neither is cut off. */
const MAX_UNREAD_BYTES = 256 * 1024;

export interface ControlEvents {
  onMessage(message: FromAgent): void;
  /** The agent broke a rule of the protocol, or does not read: cut it off. `reason` is for the agent and the log. */
  onBroken(reason: string): void;
  /** The agent ended or reset its control stream: it is leaving. */
  onGone(): void;
}

export class ControlChannel implements StreamSink {
  readonly #stream: MuxStream;
  readonly #events: ControlEvents;
  readonly #lines: LineReader;
  #deaf = false;
  #blocked = false;

  constructor(stream: MuxStream, events: ControlEvents) {
    this.#stream = stream;
    this.#events = events;
    this.#lines = new LineReader((line) => this.#line(line));
    stream.sink = this;
  }

  /** True while the agent is behind with reading: leave out what it can do without. */
  get blocked(): boolean {
    return this.#blocked;
  }

  send(message: FromServer): void {
    if (this.#deaf || this.#stream.gone) return;
    if (!this.#write(message)) this.#fault('the agent does not read its control stream');
  }

  /** The last message, lost on an agent that does not read. Nothing that arrives afterwards counts. */
  end(last: FromServer): void {
    if (this.#deaf || this.#stream.gone) return;
    this.#deaf = true;
    this.#write(last);
    this.#stream.end();
  }

  /** Stops listening: the session is over. */
  close(): void {
    this.#deaf = true;
  }

  onData(stream: MuxStream, bytes: Buffer, start: number, end: number): void {
    if (!this.#deaf && !this.#lines.feed(bytes, start, end)) this.#fault('a message is too long');
    stream.consumed(end - start);
  }

  onEnd(): void {
    if (!this.#deaf) this.#events.onGone();
  }

  onReset(): void {
    if (!this.#deaf) this.#events.onGone();
  }

  onDrain(): void {
    this.#blocked = false;
  }

  #write(message: FromServer): boolean {
    const line = encodeLine(withinLimit(message));
    if (this.#stream.pendingBytes + line.length > MAX_UNREAD_BYTES) return false;
    this.#blocked = !this.#stream.write(line);
    return true;
  }

  #line(line: string): void {
    if (this.#deaf) return;
    const message = parseFromAgent(line);
    if (message === undefined) this.#fault('a message is malformed');
    else this.#events.onMessage(message);
  }

  #fault(reason: string): void {
    if (!this.#deaf) this.#events.onBroken(reason);
  }
}

/** Reasons are made of names that users chose: however long they are, the agent must not take the message for a broken rule. */
function withinLimit(message: FromServer): FromServer {
  if (!('message' in message) || message.message.length <= MAX_TEXT) return message;
  return { ...message, message: `${message.message.slice(0, MAX_TEXT - 1)}…` };
}

/** One line as a message, or undefined when it is none. */
function parseFromAgent(line: string): FromAgent | undefined {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return undefined;
  }
  const parsed = fromAgent.safeParse(json);
  return parsed.success ? parsed.data : undefined;
}
