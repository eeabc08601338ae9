/** `culvert webhooks attempts`, `redeliver` and `test`: what became of deliveries, and how they come once more. */
import { z } from 'zod';
import { type Asked, apiCommand, printDone, printRows } from '../client/api-command.ts';
import { EXIT, ExitError, usageError } from '../terminal/exit.ts';
import { refuseFlags, textFlag } from '../terminal/flags.ts';
import { harmless, span } from '../terminal/paint.ts';
import { delivery, pathOf, type Receiver } from './items.ts';
import { findReceiver } from './webhooks.ts';

/** Of the response, on a line. */
const MAX_SHOWN = 60;

const attempt = z.looseObject({
  attempt: z.int(),
  attempted_at: z.string(),
  duration_ms: z.int(),
  status: z.int().nullable(),
  error: z.string().nullable(),
  response_body: z.string().nullable(),
});
type Attempt = z.output<typeof attempt>;

const redelivered = z.looseObject({ matched: z.int(), queued: z.int(), continue_from: z.string().nullable() });

export const webhooksAttempts = apiCommand(async (asked) => {
  const { id } = await findReceiver(asked);
  const path = `${pathOf(id)}/events/${encodeURIComponent(asked.args[1] ?? '')}/attempts`;
  const rows = attempt.array().parse(await asked.call('GET', path));
  await printRows<Attempt>(asked, rows, {
    'time (utc)': (row) => row.attempted_at.slice(0, 19).replace('T', ' '),
    attempt: (row) => String(row.attempt),
    result: (row) => {
      const isGood = row.error === null && row.status !== null && row.status >= 200 && row.status < 300;
      return span(row.error ?? String(row.status ?? '-'), isGood ? 'green' : 'red');
    },
    ms: (row) => String(row.duration_ms),
    response: (row) => shownBody(row),
  });
});

export const webhooksRedeliver = apiCommand(async (asked) => {
  const { flags, args } = asked;
  const found = await findReceiver(asked);
  if (found.forward === null) {
    const why = `${found.name} has no forwarding. Set it up first: culvert webhooks forward ${found.id} TUNNEL`;
    throw new ExitError(EXIT.refused, harmless(why));
  }
  if (args[1] === undefined) return redeliverRange(asked, found);
  refuseFlags(flags, ['from', 'to', 'state', 'dryRun'], "can't be used with a delivery");
  const [, event] = args;
  const answer = await asked.call('POST', `${pathOf(found.id)}/events/${encodeURIComponent(event)}/redeliver`);
  const line = found.waiting === 0 ? '' : `, at the front of the queue (${found.waiting} waiting)`;
  const seen = `culvert webhooks events ${found.id} shows the result`;
  await printDone(asked, answer, `${event}: queued for the tunnel of ${found.name}${line}. ${seen}`);
});

export const webhooksTest = apiCommand(async (asked) => {
  const { id, name, forward } = await findReceiver(asked);
  const type = textFlag(asked.flags, 'type');
  const answer = await asked.call('POST', `${pathOf(id)}/test`, type === undefined ? {} : { type });
  const sent = delivery.parse(answer);
  const next =
    forward === null ? 'The receiver only stores it' : `culvert webhooks attempts ${id} ${sent.id} shows the result`;
  await printDone(asked, answer, `${name}: test event ${sent.event_type ?? ''} stored. ${next}`);
});

async function redeliverRange(asked: Asked, { id, name }: Receiver): Promise<void> {
  const { flags } = asked;
  const from = textFlag(flags, 'from');
  if (from === undefined) throw usageError('needs a delivery, or --from TIME');
  const [to, state] = [timeOf(textFlag(flags, 'to'), '--to'), textFlag(flags, 'state') ?? 'failed'];
  const isDry = flags['dryRun'] === true;
  const body = { from: timeOf(from, '--from'), ...(to === undefined ? {} : { to }), state, dry_run: isDry };
  const answer = await asked.call('POST', `${pathOf(id)}/redeliver`, body);
  const { matched, queued, continue_from: next } = redelivered.parse(answer);
  const all = `${matched} ${matched === 1 ? 'delivery' : 'deliveries'}`;
  const rest = next === null ? '' : `. Then run it again with --from ${next}`;
  const sentence = isDry ? `${all} would be sent again` : `${queued} of ${all} queued${rest}`;
  await printDone(asked, answer, `${name}: ${sentence}`);
}

/** @throws ExitError (usage) for what is no time. */
function timeOf(text: string | undefined, flag: string): string | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw usageError(`${flag}: "${text}" is not a time like 2026-11-21T02:00:00Z`);
  return new Date(ms).toISOString();
}

/** One line of it. */
function shownBody({ response_body: body }: Attempt): string {
  if (body === null) return '-';
  const text = Buffer.from(body, 'base64').toString('utf8').replace(/\s+/g, ' ').trim();
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 1)}…` : text;
}
