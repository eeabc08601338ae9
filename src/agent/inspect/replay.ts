/**
 * Sends a kept request once more, straight to the service, as a developer who debugs a webhook wants it: nothing of it passes the
 * edge. It is marked with `Culvert-Replay`, so that a service can tell it from a visitor's. Its answer becomes a record of its own.
 */
import type { Socket } from 'node:net';
import { type Clock, Sweeper } from '../../base/clock.ts';
import { LocalDial, type LocalFault } from '../local/local.ts';
import { proxyHeader } from '../local/proxy-header.ts';
import type { LocalTarget } from '../local/target.ts';
import { headText } from './head-text.ts';
import type { RequestRecord } from './request-record.ts';
import type { StreamTap } from './tap/stream-tap.ts';
import type { Watch } from './watch.ts';

export const REPLAY_FIELD = 'Culvert-Replay';
/** At once: a person presses a button. */
const MAX_REPLAYS = 16;
/** For the whole answer. A stream of events would have no end. */
const REPLAY_MS = 120_000;
/** What frames the message or belongs to its connection is written anew; a body that is at hand needs no 100 Continue. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'expect',
  REPLAY_FIELD.toLowerCase(),
]);

export type ReplayOutcome =
  | { readonly ok: true; readonly id: string }
  | { readonly ok: false; readonly reason: 'busy' | 'unreachable'; readonly text: string };

export class Replays {
  readonly #watch: Watch;
  readonly #clock: Clock;
  readonly #dials = new Sweeper<LocalDial>(1_000);
  readonly #running = new Sweeper<Replay>(1_000);

  constructor(watch: Watch) {
    this.#watch = watch;
    this.#clock = watch.clock;
  }

  /** Resolves when the request is out, with the new record's id; never rejects. */
  send(record: RequestRecord, target: LocalTarget): Promise<ReplayOutcome> {
    if (this.#running.size >= MAX_REPLAYS) {
      const text = `${MAX_REPLAYS} replays are in progress; wait for one to finish`;
      return Promise.resolve({ ok: false, reason: 'busy', text });
    }
    return new Promise((resolve) => {
      const nowMs = this.#clock.monotonic();
      const replay = new Replay(record, {
        target,
        tap: this.#watch.tapReplay(record, () => replay.close()),
        deadline: nowMs + REPLAY_MS,
        settle: resolve,
        onClose: () => this.#running.delete(replay),
      });
      this.#running.add(replay);
      replay.dial = new LocalDial(target, { result: replay, sweeper: this.#dials, nowMs });
    });
  }

  close(): void {
    for (const replay of this.#running.members()) replay.close();
    this.#running.close();
    this.#dials.close();
  }
}

interface ReplayParts {
  readonly target: LocalTarget;
  readonly tap: StreamTap;
  readonly deadline: number;
  readonly settle: (outcome: ReplayOutcome) => void;
  readonly onClose: () => void;
}

class Replay {
  dial: LocalDial | undefined;
  readonly #record: RequestRecord;
  readonly #parts: ReplayParts;
  #socket: Socket | undefined;
  #closed = false;

  constructor(record: RequestRecord, parts: ReplayParts) {
    this.#record = record;
    this.#parts = parts;
  }

  sweep(nowMs: number): void {
    if (nowMs >= this.#parts.deadline) this.close();
  }

  onConnected(socket: Socket): void {
    const { target, tap, settle } = this.#parts;
    this.#socket = socket;
    // A service that expects it takes nothing else first. It names no address: no visitor is connected.
    if (target.proxyProtocol) socket.write(proxyHeader(undefined, socket));
    const bytes = replayBytes(this.#record);
    tap.request(bytes, 0, bytes.length);
    settle({ ok: true, id: tap.record?.id ?? '' });
    socket.on('data', (chunk: Buffer) => tap.answer(chunk, 0, chunk.length));
    socket.on('end', () => tap.answerEnded());
    socket.on('error', () => this.close());
    socket.on('close', () => this.close());
    socket.write(bytes);
  }

  onFault(fault: LocalFault): void {
    this.#parts.settle({ ok: false, reason: 'unreachable', text: fault.text });
    this.close();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.dial?.cancel();
    this.#parts.tap.closed();
    this.#socket?.destroy();
    this.#parts.onClose();
    this.#parts.settle({ ok: false, reason: 'unreachable', text: 'the replay was canceled' });
  }
}

/** The request as it is sent again. */
export function replayBytes(record: RequestRecord): Buffer {
  const [firstLine = '', ...lines] = record.requestHead.toString('latin1').split('\r\n');
  const nameOf = (line: string): string => line.slice(0, line.indexOf(':')).toLowerCase();
  const kept = lines.filter((line) => line !== '' && !LEFT_OUT.has(nameOf(line)));
  const body = record.requestBody.bytes;
  const framed = headText(record.requestHead).fields.some(([name]) =>
    /^(content-length|transfer-encoding)$/i.test(name),
  );
  const framing = framed ? [`Content-Length: ${body.length}`] : [];
  const head = [firstLine, ...kept, `${REPLAY_FIELD}: ${record.id}`, ...framing, 'Connection: close', '', ''];
  return Buffer.concat([Buffer.from(head.join('\r\n'), 'latin1'), body]);
}
