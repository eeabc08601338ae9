/**
 * `culvert webhooks events --follow`: stored deliveries, then new ones, until the user stops the command. The server holds each request
 * until there is something; one that fails is asked again behind the same delivery, so that none is left out. A delivery that still waits for its
 * way to the tunnel has a second line once that is decided: open.ts. Called by webhooks.ts.
 */
import type { Asked } from '../client/api-command.ts';
import { EXIT, ExitError } from '../terminal/exit.ts';
import { hasColor, isTaken, writeLine } from '../terminal/io.ts';
import { jsonText, paint, span } from '../terminal/paint.ts';
import { type Delivery, delivery, eventsPath, stateShown } from './items.ts';
import { OpenDeliveries } from './open.ts';

/** Below the patience of one call (30 s). */
const WAIT_SECONDS = 25;
const PAGE = 100;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
/** An answer without deliveries that comes sooner was not held: too many wait. Half of the shortest wait. */
const HELD_MS = 500;
const UNHELD_PAUSE_MS = 1_000;
/** Between two looks at those that are open: a second, and twice as long each time while nothing comes of them, as when the agent is away. */
const MAX_LOOK_SECONDS = 16;

export interface Following {
  readonly id: string;
  /** The last delivery that the reader has. */
  readonly after: string | undefined;
  /** Is the receiver there still? */
  readonly isThere: () => Promise<boolean>;
}

export async function follow(asked: Asked, { id, after, isThere }: Following): Promise<void> {
  const open = new OpenDeliveries((query) => read(asked, id, { ...query, wait: 0 }));
  const tell = (one: Delivery): Promise<boolean> => isTaken(asked.io.stdout, lineOf(asked, one));
  let last = after;
  let pause = FIRST_PAUSE_MS;
  let looks = 0;
  // Without a wait: what is wrong with the question, or the login, is said at once.
  let page = await read(asked, id, { after: last, wait: 0 });
  for (;;) {
    for (const one of page) {
      if (!(await tell(one))) return;
      open.add(one, last);
      last = one.id;
    }
    try {
      for await (const one of open.decided()) {
        looks = 0;
        if (!(await tell(one))) return;
      }
      const wait = open.size === 0 ? WAIT_SECONDS : Math.min(2 ** looks, MAX_LOOK_SECONDS);
      const began = performance.now();
      page = await read(asked, id, { after: last, wait });
      pause = FIRST_PAUSE_MS;
      looks = page.length === 0 ? looks + 1 : 0;
      if (page.length === 0 && performance.now() - began < HELD_MS) await asked.io.pause(UNHELD_PAUSE_MS);
    } catch (error) {
      if (!isPassing(error)) throw error;
      writeLine(asked.io.stderr, 'The server does not respond. Retrying.');
      await asked.io.pause(pause);
      pause = Math.min(2 * pause, MAX_PAUSE_MS);
      page = [];
      // A receiver that is gone is the one refusal that looks like a server that starts.
      if (!(await isThere().catch(() => true))) throw error;
    }
  }
}

async function read(
  asked: Asked,
  id: string,
  { after, wait, limit = PAGE }: { after: string | undefined; wait: number; limit?: number },
): Promise<Delivery[]> {
  return delivery.array().parse(await asked.call('GET', eventsPath(id, { after, limit, wait })));
}

/** The network, or a server that starts: not a refusal, which has an exit code of its own. */
function isPassing(error: unknown): boolean {
  return !(error instanceof ExitError) || error.exitCode === EXIT.failure;
}

function lineOf({ io, flags }: Asked, one: Delivery): string {
  if (flags['json'] === true) return jsonText(one);
  const bytes = Buffer.byteLength(one.body, 'base64');
  const { state, last_status: status, last_error: problem } = one.forward;
  const why = state === 'failed' ? ` (${problem ?? status ?? 'no response'})` : '';
  return paint(
    [
      span(`${one.received_at.slice(11, 19)} `, 'dim'),
      span(`${one.event_type ?? '-'} `, 'cyan'),
      span(`${bytes} bytes `),
      stateShown(one),
      span(`${why} ${one.id}`, 'dim'),
    ],
    hasColor(io.stdout, io.env),
  );
}
