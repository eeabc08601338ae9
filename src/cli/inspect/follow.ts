/**
 * `culvert inspect --follow`: live requests until the user stops the command. It reconnects after a broken connection; what came
 * meanwhile is fetched, so that nothing is left out. Called by inspect.ts.
 */
import { WebSocket } from 'ws';
import { messageOf } from '../../base/errors.ts';
import { urlAt } from '../client/api-call.ts';
import type { Asked } from '../client/api-command.ts';
import { gapOf } from './gap.ts';
import { type Item, item, pathShown, remarkOf, statusShown } from './inspected-item.ts';
import { hasColor, isTaken, writeLine } from '../terminal/io.ts';
import { tunnelNames } from '../manage/tunnels.ts';
import { harmless, jsonText, paint, span } from '../terminal/paint.ts';
import { CATCH_UP, SeenRequests } from './seen-requests.ts';

/** In its answer the server selects this one: the token next to it is not sent back. */
const PROTOCOL = 'culvert.inspector';
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
/** Lines for a reader that takes none. What comes beyond is left out, and said. */
const MAX_WAITING = 10_000;

type Ended = 'reader_left' | 'broke';

export async function follow(asked: Asked, tunnelId: string | undefined): Promise<void> {
  const query = tunnelId === undefined ? '' : `tunnel_id=${tunnelId}`;
  // It also says in words what a refused handshake has none for: the role, the login, a server that is not there.
  const before = await latest(asked, query);
  const gap = await gapOf(asked, tunnelId);
  if (gap !== undefined) writeLine(asked.io.stderr, gap);
  const printer = new Printer(asked, { names: await tunnelNames(asked), before });
  let pause = FIRST_PAUSE_MS;
  while ((await listen(asked, { query, printer, onOpen: () => (pause = FIRST_PAUSE_MS) })) !== 'reader_left') {
    writeLine(asked.io.stderr, 'The live feed disconnected. Reconnecting.');
    await asked.io.pause(pause);
    pause = Math.min(2 * pause, MAX_PAUSE_MS);
  }
}

/** Newest first. */
async function latest(asked: Asked, query: string): Promise<Item[]> {
  const path = `/inspector?limit=${CATCH_UP}${query === '' ? '' : `&${query}`}`;
  return item.array().parse(await asked.call('GET', path));
}

/** The network, or a server that starts: not a refusal, which has an exit code of its own. */
function isPassing(error: unknown): boolean {
  return !(error instanceof Error && 'exitCode' in error && error.exitCode !== 1);
}

interface Listening {
  readonly query: string;
  readonly printer: Printer;
  readonly onOpen: () => void;
}

/** Prints what comes until the connection or the reader is gone. */
async function listen(asked: Asked, { query, printer, onOpen }: Listening): Promise<Ended> {
  const url = urlAt(asked.server, `/inspector/ws${query === '' ? '' : `?${query}`}`);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  const token = await asked.accessToken().catch((error: unknown) => {
    if (!isPassing(error)) throw error;
    return undefined;
  });
  if (token === undefined) return 'broke';
  const { promise, resolve, reject } = Promise.withResolvers<Ended>();
  const onReaderLeft = () => resolve('reader_left');
  // Node's own takes no proxy and no certificates.
  const agent = asked.outbound.newAgent(asked.server.protocol);
  const socket = new WebSocket(url, [PROTOCOL, `bearer.${token}`], { agent });
  socket.addEventListener('open', () => {
    onOpen();
    // Requests from before the connection, or from the time without one.
    latest(asked, query).then(
      (found) => printer.catchUp(found, onReaderLeft),
      (error: unknown) => (isPassing(error) ? resolve('broke') : reject(error as Error)),
    );
  });
  socket.addEventListener('message', ({ data }) => {
    if (typeof data === 'string') printer.take(item.parse(JSON.parse(data)), onReaderLeft);
  });
  socket.addEventListener('error', () => undefined);
  // Always followed by a close, which says all there is.
  socket.addEventListener('close', () => resolve('broke'));
  try {
    return await promise;
  } finally {
    socket.close();
  }
}

/** Lines to standard output, one after another, each request once. */
class Printer {
  readonly #asked: Asked;
  readonly #names: ReadonlyMap<string, string>;
  readonly #color: boolean;
  readonly #seen: SeenRequests;
  #waiting = 0;
  #leftOut = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** `before`: what was recorded before the command began, newest first. */
  constructor(asked: Asked, { names, before }: { names: ReadonlyMap<string, string>; before: readonly Item[] }) {
    this.#asked = asked;
    this.#names = names;
    this.#seen = new SeenRequests(before.map(({ id }) => id));
    this.#color = hasColor(asked.io.stdout, asked.io.env);
  }

  /** `found`: newest first. */
  catchUp(found: readonly Item[], onReaderLeft: () => void): void {
    const missed = found.filter(({ id }) => this.#seen.mayBeNew(id));
    if (missed.length === CATCH_UP)
      writeLine(this.#asked.io.stderr, `Only the newest ${CATCH_UP} requests since then are shown.`);
    for (const one of missed.toReversed()) this.take(one, onReaderLeft);
  }

  take(one: Item, onReaderLeft: () => void): void {
    if (!this.#seen.add(one.id)) return;
    this.#print(one, onReaderLeft);
  }

  #print(one: Item, onReaderLeft: () => void): void {
    if (this.#waiting >= MAX_WAITING) {
      this.#leftOut += 1;
      return;
    }
    this.#waiting += 1;
    const { io } = this.#asked;
    this.#last = this.#last.then(async () => {
      const isThere = await isTaken(io.stdout, this.#lineOf(one)).catch((error: unknown) => {
        writeLine(io.stderr, messageOf(error));
        return false;
      });
      this.#waiting -= 1;
      if (!isThere) onReaderLeft();
      if (this.#leftOut > 0 && this.#waiting === 0) {
        writeLine(io.stderr, `${this.#leftOut} requests were skipped: the output was not read fast enough`);
        this.#leftOut = 0;
      }
    });
  }

  #lineOf(one: Item): string {
    if (this.#asked.flags['json'] === true) return jsonText(one);
    const { timestamp, tunnel_id: tunnelId, method, path, latency_ms: ms, remote_ip: from, id } = one;
    const name = this.#names.get(tunnelId) ?? tunnelId;
    const remark = remarkOf(one);
    return paint(
      [
        span(`${timestamp.slice(11, 19)} `, 'dim'),
        span(`${harmless(name)} `, 'cyan'),
        statusShown(one),
        span(` ${method} ${pathShown(path)} ${remark === '' ? '' : `(${remark}) `}${ms.toFixed(1)} ms from ${from} `),
        span(id, 'dim'),
      ],
      this.#color,
    );
  }
}
