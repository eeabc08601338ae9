/**
 * Calls over a MessagePort, both ways: questions with an answer and a deadline, and news without one. Messages of one turn go as
 * one, and are handled in slices, in order. Bounded: questions under way (`maxAsks`), items of a message, milliseconds of a
 * slice. News are not: their sender looks at `unread` first. link-port.ts and node-port.ts know what is said.
 * Reasons: docs/decisions/0004-two-threads.md.
 */
import { codeOf, messageOf } from '../../base/errors.ts';

/** What both ends of a worker, and of a MessageChannel, have. */
export interface Port {
  postMessage(message: unknown, transfer: ArrayBuffer[]): void;
  on(event: 'message', listener: (message: unknown) => void): unknown;
}

export interface CallsOptions {
  /** Questions under way; beyond it they are refused at once. */
  readonly maxAsks?: number;
  /** A listener threw, or something could not be sent. */
  readonly onFault: (what: string, error: unknown) => void;
}

export interface AskOptions {
  /** Without an answer by then the question is given up. */
  readonly timeoutMs: number;
  /** Buffers that go over whole; they are of no use here afterwards. */
  readonly transfer?: readonly ArrayBuffer[];
}

/** No answer came: too many questions are under way, the other side is too slow, or it has gone. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

interface Fault {
  readonly message: string;
  readonly code: string | undefined;
}

type Item =
  | { readonly ask: string; readonly ref: number; readonly arg: unknown }
  | { readonly answerTo: number; readonly value: unknown }
  | { readonly faultOf: number; readonly fault: Fault }
  | { readonly tell: string; readonly arg: unknown };

type Message = { readonly items: readonly Item[] } | { readonly read: number };

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

const MAX_ASKS = 4_096;
/** Of one message: some milliseconds of copying. */
const MAX_ITEMS = 256;
/** Work for one turn of the loop; the rest waits for the next, behind visitors. */
const SLICE_MS = 4;

export class PortCalls {
  readonly #port: Port;
  readonly #options: Required<CallsOptions>;
  readonly #asked = new Map<number, Waiting>();
  readonly #answers = new Map<string, (arg: never) => unknown>();
  readonly #listeners = new Map<string, (arg: never) => void>();
  #out: Array<{ readonly item: Item; readonly transfer: readonly ArrayBuffer[] }> = [];
  #isFlushing = false;
  #in: Array<readonly Item[]> = [];
  /** Of the first message in `#in`, the item that is next. */
  #next = 0;
  #isReading = false;
  #ref = 0;
  #unread = 0;
  #closed: Error | undefined;

  constructor(port: Port, options: CallsOptions) {
    this.#port = port;
    this.#options = { maxAsks: MAX_ASKS, ...options };
    port.on('message', (message) => this.#take(message as Message));
  }

  /** Items said and not yet worked off by the other side. */
  get unread(): number {
    return this.#unread;
  }

  /** Answers questions of this name from now on. What it throws, or rejects with, the asker gets. */
  answer(name: string, answer: (arg: never) => unknown): void {
    this.#answers.set(name, answer);
  }

  /** Hears news of this name from now on. */
  hear(name: string, listener: (arg: never) => void): void {
    this.#listeners.set(name, listener);
  }

  /** @throws NoAnswer; or an Error with message and `code` of what the other side threw. */
  ask<T>(name: string, arg: unknown, { timeoutMs, transfer = [] }: AskOptions): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    if (this.#asked.size >= this.#options.maxAsks)
      return Promise.reject(new NoAnswer(`too many calls are in progress: ${name} was not sent`));
    const ref = ++this.#ref;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#asked.delete(ref);
        reject(new NoAnswer(`no response to ${name} within ${timeoutMs} ms`));
      }, timeoutMs);
      this.#asked.set(ref, { resolve: resolve as (value: unknown) => void, reject, timer });
      this.#say({ ask: name, ref, arg }, transfer);
    });
  }

  tell(name: string, arg: unknown): void {
    if (this.#closed === undefined) this.#say({ tell: name, arg }, []);
  }

  /** Asks and tells nothing more; questions under way are given up. May be called twice. */
  close(reason: string): void {
    if (this.#closed !== undefined) return;
    this.#flush();
    this.#closed = new NoAnswer(reason);
    for (const { reject, timer } of this.#asked.values()) {
      clearTimeout(timer);
      reject(this.#closed);
    }
    this.#asked.clear();
  }

  // ------------------------------------------------------------------ out

  /** Goes at the end of this callback, with all that is said in it. */
  #say(item: Item, transfer: readonly ArrayBuffer[]): void {
    this.#out.push({ item, transfer });
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    this.#isFlushing = false;
    const all = this.#out;
    this.#out = [];
    for (let at = 0; at < all.length; at += MAX_ITEMS) this.#post(all.slice(at, at + MAX_ITEMS));
  }

  #post(some: ReadonlyArray<{ readonly item: Item; readonly transfer: readonly ArrayBuffer[] }>): void {
    try {
      const transfer = some.flatMap((one) => one.transfer);
      this.#port.postMessage({ items: some.map(({ item }) => item) } satisfies Message, transfer);
      this.#unread += some.length;
    } catch (error) {
      // One item can't be copied: the others must not be lost with it.
      if (some.length > 1) for (const one of some) this.#post([one]);
      else if (some[0] !== undefined) this.#unsent(some[0].item, error);
    }
  }

  #unsent(item: Item, error: unknown): void {
    if ('ask' in item) this.#settle(item.ref)?.reject(error instanceof Error ? error : new Error(messageOf(error)));
    else if ('answerTo' in item) this.#say({ faultOf: item.answerTo, fault: faultOf(error) }, []);
    else this.#options.onFault('tell' in item ? item.tell : 'a response', error);
  }

  // ------------------------------------------------------------------ in

  #take(message: Message): void {
    if ('read' in message) {
      this.#unread -= message.read;
      return;
    }
    this.#in.push(message.items);
    if (!this.#isReading) this.#read();
  }

  #read(): void {
    const start = performance.now();
    this.#isReading = true;
    let read = 0;
    for (let items = this.#in[0]; items !== undefined; items = this.#in[0]) {
      while (this.#next < items.length && performance.now() - start < SLICE_MS) {
        this.#work(items[this.#next++] as Item);
        read++;
      }
      if (this.#next < items.length) break;
      this.#next = 0;
      this.#in.shift();
    }
    this.#port.postMessage({ read } satisfies Message, []);
    this.#isReading = this.#in.length > 0;
    if (this.#isReading) setImmediate(() => this.#read());
  }

  #work(item: Item): void {
    if ('ask' in item) return void this.#answerTo(item.ref, item.ask, item.arg);
    if ('answerTo' in item) return this.#settle(item.answerTo)?.resolve(item.value);
    if ('faultOf' in item) return this.#settle(item.faultOf)?.reject(errorOf(item.fault));
    try {
      this.#listeners.get(item.tell)?.(item.arg as never);
    } catch (error) {
      this.#options.onFault(item.tell, error);
    }
  }

  async #answerTo(ref: number, name: string, arg: unknown): Promise<void> {
    try {
      const answer = this.#answers.get(name);
      if (answer === undefined) throw new Error(`${name} is not handled here`);
      const value = await answer(arg as never);
      if (this.#closed === undefined) this.#say({ answerTo: ref, value }, []);
    } catch (error) {
      if (this.#closed === undefined) this.#say({ faultOf: ref, fault: faultOf(error) }, []);
    }
  }

  #settle(ref: number): Waiting | undefined {
    const waiting = this.#asked.get(ref);
    this.#asked.delete(ref);
    clearTimeout(waiting?.timer);
    return waiting;
  }
}

function faultOf(error: unknown): Fault {
  return { message: messageOf(error), code: codeOf(error) };
}

function errorOf({ message, code }: Fault): Error {
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}
