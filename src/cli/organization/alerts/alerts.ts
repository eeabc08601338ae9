/** `culvert alerts list`, `test` and `delete`. */
import { z } from 'zod';
import { apiCommand, type Asked, printDone, printRows } from '../../client/api-command.ts';
import { tunnelNames } from '../../manage/tunnels.ts';
import { findRow } from '../../organization/find.ts';
import { confirm } from '../../terminal/confirm.ts';
import { EXIT, ExitError } from '../../terminal/exit.ts';
import { harmless, type Span, span } from '../../terminal/paint.ts';

export const alert = z.looseObject({
  id: z.string(),
  kind: z.string(),
  scope: z.looseObject({ tunnel_id: z.string().optional() }),
  threshold: z.number().nullable(),
  for_minutes: z.number(),
  channels: z.array(
    z.looseObject({
      id: z.string().optional(),
      type: z.string(),
      to: z.string().optional(),
      secret: z.string().optional(),
      last_error: z.string().nullable(),
      state: z.string().optional(),
    }),
  ),
  state: z.string(),
});
export type Alert = z.output<typeof alert>;
const tested = z.looseObject({
  results: z.array(z.looseObject({ type: z.string(), ok: z.boolean(), error: z.string().nullable() })),
});

export const alertsList = apiCommand(async (asked) => {
  const rows = await listAlerts(asked);
  const names = asked.flags['json'] === true ? new Map<string, string>() : await tunnelNames(asked);
  await printRows(asked, rows, {
    kind: (row) => row.kind,
    tunnel: ({ scope: { tunnel_id: id } }) => (id === undefined ? 'all' : (names.get(id) ?? id)),
    state: stateOf,
    threshold: ({ threshold }) => (threshold === null ? '-' : String(threshold)),
    for: (row) => `${row.for_minutes}m`,
    channels: channelsOf,
    id: (row) => row.id,
  });
});

export const alertsTest = apiCommand(async (asked) => {
  const { id } = await findAlert(asked);
  const answer = await asked.call('POST', `${pathOf(id)}/test`);
  const { results } = tested.parse(answer);
  const said = results.map(({ type, ok, error }) => `${type}: ${ok ? 'sent' : (error ?? 'failed')}`).join(', ');
  await printDone(asked, answer, said);
  if (results.some(({ ok }) => !ok)) throw new ExitError(EXIT.failure, 'at least one channel failed');
});

export const alertsDelete = apiCommand(async (asked) => {
  const found = await findAlert(asked);
  await confirm(asked.io, asked.flags, `Delete the alert rule ${found.kind} with its history?`);
  const answer = await asked.call('DELETE', pathOf(found.id));
  await printDone(asked, answer, `${found.kind}: deleted`);
});

/** To all addresses of the rule that are not confirmed yet. */
export const alertsResend = apiCommand(async (asked) => {
  const { id, kind, channels } = await findAlert(asked);
  const waiting = channels.filter(({ state }) => state === 'pending');
  if (waiting.length === 0) throw new ExitError(EXIT.failure, `${kind}: no unconfirmed address. No email was sent`);
  // One email confirms all channels to its address.
  const addresses = new Map(waiting.map((one) => [one.to?.toLowerCase() ?? '', one]));
  let answer: unknown;
  for (const channel of addresses.values())
    answer = await asked.call('POST', `${pathOf(id)}/channels/${encodeURIComponent(channel.id ?? '')}/resend`);
  await printDone(asked, answer, `${kind}: confirmation sent to ${[...addresses.keys()].join(', ')}`);
});

async function listAlerts(asked: Asked): Promise<Alert[]> {
  return alert.array().parse(await asked.call('GET', '/alerts'));
}

async function findAlert(asked: Asked): Promise<Alert> {
  const of = (row: Alert): string[] => [row.id, row.kind];
  return findRow(await listAlerts(asked), asked.args[0] ?? '', { of, what: 'alert rule', list: 'alerts list' });
}

function stateOf({ state }: Alert): Span {
  if (state === 'firing') return span(state, 'red');
  return state === 'pending' ? span(state, 'yellow') : span(state, state === 'ok' ? 'green' : 'dim');
}

function channelsOf({ channels }: Alert): string {
  return channels
    .map(({ type, state, last_error: error }) =>
      harmless(state === 'pending' ? `${type} (pending)` : error === null ? type : `${type} (failing)`),
    )
    .join(', ');
}

function pathOf(id: string): string {
  return `/alerts/${encodeURIComponent(id)}`;
}
