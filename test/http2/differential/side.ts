/** One engine in a comparison: an edge, a tunnel, a service, and conversations held with it. */
import { setImmediate } from 'node:timers/promises';
import { Rig, type Scope } from '../../../src/data/edge/testing/rig.ts';
import { FLAG, FRAME, type Frame, frame } from '../../harness/h2-frames.ts';
import type { Engine } from '../engines.ts';
import { Decoder, type Field } from '../hpack.ts';
import { isEnd, RawClient, SETTING, settingsFrame } from '../raw-client.ts';
import { windowUpdate } from '../conformance/case.ts';
import type { Conversation, Exchange } from './exchange.ts';
import { type Seen, Service } from './service.ts';

/** What became of an exchange. */
export interface Outcome {
  /** As the service saw it; undefined: it did not come there. */
  readonly seen: Seen | undefined;
  /** Of interim responses, the response, and its trailers. */
  readonly heads: readonly (readonly Field[])[];
  readonly bodyBytes: number;
  /** `reset 8`; `goaway 1` for the end of the connection, `cut` where no code was given; `hangs` at the deadline. */
  readonly end: string;
}

const DEADLINE_MS = 20_000;
/** Room for whatever comes, and for what conversations add to it. */
const WINDOW = 2 ** 30;

export class Side {
  readonly #rig: Rig;
  readonly #service: Service;
  readonly #waiting = new Map<string, () => void>();

  private constructor(rig: Rig, service: Service) {
    this.#rig = rig;
    this.#service = service;
    service.onMoved = (key) => this.#waiting.get(key)?.();
  }

  static async open(t: Scope, engine: Engine): Promise<Side> {
    const rig = await Rig.start(t, { http2: engine, inspector: null });
    const service = new Service(t);
    await rig.serve('shop', await service.listen());
    return new Side(rig, service);
  }

  /** Holds the conversation until it is over or the connection ends. One outcome for each exchange that was begun. */
  async hold(conversation: Conversation): Promise<Outcome[]> {
    const client = await RawClient.connect(this.#rig.httpsPort, DEADLINE_MS);
    const talk = new Talk(client);
    try {
      await client.handshake();
      client.send(settingsFrame([SETTING.window, WINDOW]), windowUpdate(0, WINDOW));
      const outcomes: Outcome[] = [];
      for (const exchange of conversation.exchanges) {
        const outcome = await this.#exchange(talk, exchange);
        outcomes.push(outcome);
        if (talk.over !== '') break;
      }
      return outcomes;
    } finally {
      client.destroy();
    }
  }

  async #exchange(talk: Talk, exchange: Exchange): Promise<Outcome> {
    const { key, stream } = exchange;
    this.#waiting.set(key, () => talk.wake());
    const isSeen = (): boolean => this.#service.seen(key) !== undefined;
    talk.begin(stream);
    for (const bytes of exchange.opening) {
      talk.client.send(bytes);
      await setImmediate();
    }
    let isInTime = await talk.until(() => isSeen() || talk.isDone);
    talk.client.send(...exchange.rest);
    // The service may have answered before it is reset: then there is nothing to compare but the head.
    if (!exchange.isReset) isInTime &&= await talk.until(() => talk.isDone);
    else await talk.fence();
    const seen = this.#service.seen(key);
    if (seen !== undefined) isInTime &&= await talk.until(() => seen.end !== 'open', 2 * DEADLINE_MS);
    this.#waiting.delete(key);
    this.#service.forget(key);
    const { heads, bodyBytes, end } = talk;
    return { seen, heads, bodyBytes, end: isInTime ? end : 'hangs' };
  }
}

/** Reads one connection, with the state of its present stream. */
class Talk {
  readonly client: RawClient;
  readonly #decoder = new Decoder();
  /** How the connection ended; '' while it has not. */
  over = '';
  heads: Field[][] = [];
  bodyBytes = 0;
  end = '';
  #stream = 0;
  #block: Buffer[] = [];
  #pongs = 0;
  #moved: () => void = () => {};

  constructor(client: RawClient) {
    this.client = client;
  }

  begin(stream: number): void {
    this.#stream = stream;
    this.heads = [];
    this.bodyBytes = 0;
    this.end = '';
  }

  get isDone(): boolean {
    return this.end !== '' || this.over !== '';
  }

  wake(): void {
    this.#moved();
  }

  /** Waits until it is so. Answers false at the deadline. */
  async until(isSo: () => boolean, deadlineMs = DEADLINE_MS): Promise<boolean> {
    const until = performance.now() + deadlineMs;
    while (!isSo()) {
      this.#pull();
      if (isSo()) return true;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#moved = resolve;
      this.client.onEvent = resolve;
      const timer = setTimeout(resolve, until - performance.now());
      await promise;
      clearTimeout(timer);
      if (performance.now() >= until) return false;
    }
    return true;
  }

  /** All that was sent has been read, or the connection is over. */
  async fence(): Promise<void> {
    const before = this.#pongs;
    this.client.send(frame(FRAME.ping, 0, 0, 'fence...'));
    await this.until(() => this.#pongs > before || this.over !== '');
  }

  #pull(): void {
    for (let event = this.client.take(); event !== undefined; event = this.client.take()) {
      if (event === 'closed') this.#close('cut');
      else this.#read(event);
    }
  }

  #close(how: string): void {
    if (this.over === '') this.over = how;
    if (this.end === '') this.end = this.over;
  }

  #read(got: Frame): void {
    if (got.type === FRAME.goaway) {
      const code = got.payload.readUInt32BE(4);
      if (code !== 0) this.#close(`goaway ${code}`);
    } else if (got.type === FRAME.headers || got.type === FRAME.continuation) this.#readHead(got);
    else if (got.type === FRAME.ping && got.payload.toString() === 'fence...') this.#pongs++;
    if (got.stream !== this.#stream || this.end !== '') return;
    if (got.type === FRAME.data) this.bodyBytes += got.payload.length;
    if (got.type === FRAME.rst) this.end = `reset ${got.payload.readUInt32BE(0)}`;
    else if (isEnd(got)) this.end = 'whole';
  }

  #readHead(got: Frame): void {
    this.#block.push(got.payload);
    if ((got.flags & FLAG.endHeaders) === 0) return;
    const fields = this.#decoder.decode(Buffer.concat(this.#block));
    this.#block = [];
    if (got.stream === this.#stream) this.heads.push(fields);
  }
}
