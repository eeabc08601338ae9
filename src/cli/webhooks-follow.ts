/**
 * `culvert webhooks events --follow`: what is stored, and then deliveries as they come, until somebody ends it. The server holds each question
 * until there is something; one that fails is asked again behind the same delivery, so that none is left out. Called by webhooks.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Asked } from './api-command.ts';
import { EXIT, ExitError } from './exit.ts';
import { hasColor, isTaken, writeLine } from './io.ts';
import { jsonText, paint, span } from './paint.ts';
import { type Delivery, delivery, eventsPath, lastIdOf, stateShown } from './webhook-items.ts';

/** Below the patience of one call (30 s). */
const WAIT_SECONDS = 25;
const PAGE = 100;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
/** An answer without deliveries that comes sooner was not held: too many wait. */
const HELD_MS = 1_000;

export interface Following {
  readonly id: string;
  /** The last delivery that the reader has. */
  readonly after: string | undefined;
  /** Is the receiver there still? */
  readonly isThere: () => Promise<boolean>;
}

export async function follow(asked: Asked, { id, after, isThere }: Following): Promise<void> {
  let last = after;
  let pause = FIRST_PAUSE_MS;
  // Without a wait: what is wrong with the question, or the log-in, is said at once.
  let page = await read(asked, id, { after: last, wait: 0 });
  for (;;) {
    for (const one of page) if (!(await isTaken(asked.io.stdout, lineOf(asked, one)))) return;
    last = lastIdOf(page) ?? last;
    try {
      const began = performance.now();
      page = await read(asked, id, { after: last, wait: WAIT_SECONDS });
      pause = FIRST_PAUSE_MS;
      if (page.length === 0 && performance.now() - began < HELD_MS) await sleep(HELD_MS);
    } catch (error) {
      if (!isPassing(error)) throw error;
      writeLine(asked.io.stderr, 'The server does not answer: asking again.');
      await sleep(pause);
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
  { after, wait }: { after: string | undefined; wait: number },
): Promise<Delivery[]> {
  return delivery.array().parse(await asked.call('GET', eventsPath(id, { after, limit: PAGE, wait })));
}

/** The network, or a server that starts: not a refusal, which has an exit code of its own. */
function isPassing(error: unknown): boolean {
  return !(error instanceof ExitError) || error.exitCode === EXIT.failure;
}

function lineOf({ io, flags }: Asked, one: Delivery): string {
  if (flags['json'] === true) return jsonText(one);
  const bytes = Buffer.byteLength(one.body, 'base64');
  return paint(
    [
      span(`${one.received_at.slice(11, 19)} `, 'dim'),
      span(`${one.event_type ?? '-'} `, 'cyan'),
      span(`${bytes} bytes `),
      stateShown(one),
      span(` ${one.id}`, 'dim'),
    ],
    hasColor(io.stdout, io.env),
  );
}
