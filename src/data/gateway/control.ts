/**
 * The control stream as the server sees it: lines in, checked; messages out, bounded. One per agent session, owned by agent.ts.
 * It decides nothing: it hands messages over and says when the agent broke a rule or is gone.
 */
import { Allowance } from '../../base/limits/allowance.ts';
import { JoinedBytes } from '../../base/bytes/joined-bytes.ts';
import type { MuxStream, StreamSink } from '../../mux/stream.ts';
import { encodeLine, LineReader } from '../../wire/lines.ts';
import { type FromAgent, type FromServer, fromAgent, MAX_TEXT, MAX_TUNNELS_PER_AGENT } from '../../wire/messages.ts';

/**
 * Messages that an agent may send: so many per second, and at once a few for each tunnel that its key allows (claim, unbind, and again). An
 * agent that sends more is read more slowly, so that its own window holds it back: an honest one sees nothing but a pause.
 */
const MESSAGES_PER_SECOND = 20;
const MESSAGES_AT_ONCE = 100;
const MESSAGES_PER_TUNNEL = 4;
/** Beyond the window that the agent left unread (256 KB) this much may wait; an agent that reads neither is cut off. */
const MAX_UNREAD_BYTES = 256 * 1024;

export interface ControlEvents {
  onMessage(message: FromAgent): void;
  /** The agent broke a rule of the protocol, or does not read: cut it off. `reason` is for the agent and the log. */
  onBroken(reason: string): void;
  /** The agent sends too many messages: it is read more slowly. Called once per pause. */
  onSlowed(): void;
  /** The agent ended or reset its control stream: it is leaving. */
  onGone(): void;
}

export class ControlChannel implements StreamSink {
  readonly #stream: MuxStream;
  readonly #events: ControlEvents;
  readonly #lines: LineReader;
  #deaf = false;
  #blocked = false;
  #allowance = allowanceOf(0);
  /** What has come and is not read yet; the window of the stream bounds it. */
  readonly #held = new JoinedBytes();
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: MuxStream, events: ControlEvents) {
    this.#stream = stream;
    this.#events = events;
    this.#lines = new LineReader((line) => this.#line(line));
    stream.sink = this;
    // What is held is bounded by it.
    stream.mayGrow = false;
  }

  /** The agent is known: its key allows so many tunnels. */
  allow(tunnelQuota: number): void {
    this.#allowance = allowanceOf(Math.min(tunnelQuota, MAX_TUNNELS_PER_AGENT));
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
    this.close();
    this.#write(last);
    this.#stream.end();
  }

  /** Stops listening: the session is over. */
  close(): void {
    this.#deaf = true;
    this.#held.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  onData(stream: MuxStream, bytes: Buffer, start: number, end: number): void {
    if (this.#deaf) return stream.consumed(end - start);
    const next = this.#timer === undefined ? this.#read(bytes, start, end) : start;
    if (!this.#deaf) this.#held.add(bytes, next, end);
  }

  /** Reads messages while the rate allows; answers up to where. What it has read gives its window back. */
  #read(bytes: Buffer, start: number, end: number): number {
    const next = this.#lines.feed(bytes, start, end);
    if (next < 0) {
      this.#fault('a message is too long or too deeply nested');
      return end;
    }
    this.#stream.consumed(next - start);
    return next;
  }

  #goOn(): void {
    this.#timer = undefined;
    for (let first = this.#held.first; first !== undefined; first = this.#held.first) {
      const next = this.#read(first, 0, first.length);
      // What it has read may have ended the session.
      if (this.#deaf) return;
      this.#held.drop(next);
      if (this.#timer !== undefined) return;
    }
  }

  /** One message more; when that was the last for now, the next ones wait. */
  #spend(): void {
    this.#allowance.spend();
    if (this.#deaf || this.#allowance.hasOne(performance.now())) return;
    this.#lines.stop();
    this.#events.onSlowed();
    this.#timer = setTimeout(() => this.#goOn(), Math.ceil(this.#allowance.waitMs)).unref();
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
    this.#spend();
  }

  #fault(reason: string): void {
    if (!this.#deaf) this.#events.onBroken(reason);
  }
}

function allowanceOf(tunnels: number): Allowance {
  const burst = MESSAGES_AT_ONCE + MESSAGES_PER_TUNNEL * tunnels;
  return new Allowance({ perSecond: MESSAGES_PER_SECOND, burst }, performance.now());
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
