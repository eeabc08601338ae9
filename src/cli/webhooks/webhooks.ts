/**
 * `culvert webhooks`: the mailboxes of the organization, what was delivered to one and what became of it, where it is sent on to, and once more.
 * As deliveries come: follow.ts.
 */
import { type Asked, apiCommand, printDone, printRows } from '../client/api-command.ts';
import { EXIT, ExitError, usageError } from '../terminal/exit.ts';
import { countFlag, refuseFlags, textFlag } from '../terminal/flags.ts';
import { writeLine } from '../terminal/io.ts';
import { findTunnel, tunnelNames } from '../manage/tunnels.ts';
import { harmless } from '../terminal/paint.ts';
import {
  type Delivery,
  delivery,
  eventsPath,
  isInState,
  lastIdOf,
  pathOf,
  type Receiver,
  receiver,
  refusedShown,
  stateShown,
} from './items.ts';
import { follow } from './follow.ts';

/** As many as one answer holds. */
const PAGE = 500;

export const webhooksList = apiCommand(async (asked) => {
  const rows = await listReceivers(asked);
  const names = asked.flags['json'] === true ? new Map<string, string>() : await tunnelNames(asked);
  await printRows<Receiver>(asked, rows, {
    name: (row) => row.name,
    validator: (row) => row.validator,
    url: (row) => row.url,
    'forwarded to': ({ forward }) =>
      forward === null ? '-' : `${names.get(forward.tunnel_id) ?? '(deleted)'} ${forward.path}`,
    stored: (row) => String(row.stored),
    displaced: (row) => String(row.displaced),
    refused: (row) => String(row.refused?.total ?? 0),
    'last (utc)': (row) => row.last_received_at?.slice(0, 19).replace('T', ' ') ?? '-',
    id: (row) => row.id,
  });
});

export const webhooksEvents = apiCommand(async (asked) => {
  const { flags, io } = asked;
  if (flags['follow'] === true)
    refuseFlags(flags, ['limit', 'state'], "can't be used with --follow, which runs until you stop it");
  const found = await findReceiver(asked);
  const { id, name } = found;
  const after = textFlag(flags, 'after');
  const state = textFlag(flags, 'state');
  if (flags['follow'] === true) return follow(asked, { id, after, isThere: () => isThere(asked, id) });
  const rows = await readAll(asked, { id, after, state });
  if (flags['json'] !== true && rows.length === 0 && state === undefined) {
    // The commonest reason for which nothing comes: the sender has another secret.
    const refused = refusedShown(found);
    const why = refused === undefined ? '' : `. ${refused}`;
    return writeLine(io.stderr, harmless(`${name}: no deliveries are stored${why}. --follow shows new ones`));
  }
  await printRows<Delivery>(asked, rows, {
    'received (utc)': (row) => row.received_at.slice(0, 19).replace('T', ' '),
    type: (row) => row.event_type ?? '-',
    bytes: (row) => String(Buffer.byteLength(row.body, 'base64')),
    forwarding: stateShown,
    tries: (row) => String(row.forward.attempts),
    last: ({ forward }) => forward.last_error ?? forward.last_status?.toString() ?? '-',
    'next attempt (utc)': ({ forward }) => forward.next_attempt_at?.slice(11, 19) ?? '-',
    id: (row) => row.id,
  });
});

export const webhooksForward = apiCommand(async (asked) => {
  const { args, flags } = asked;
  const isOff = flags['off'] === true;
  if (isOff === (args[1] !== undefined)) throw usageError('needs a tunnel, or --off');
  if (isOff) refuseFlags(flags, ['path'], "can't be used with --off");
  const before = await findReceiver(asked);
  const tunnel = isOff ? undefined : await findTunnel({ ...asked, args: args.slice(1) });
  const path = textFlag(flags, 'path');
  const to = tunnel === undefined ? null : { tunnel_id: tunnel.id, ...(path === undefined ? {} : { path }) };
  const answer = await asked.call('PATCH', pathOf(before.id), { forward: to });
  const after = receiver.parse(answer);
  const sentence =
    tunnel === undefined
      ? `new deliveries are only stored${droppedOf(before)}`
      : `new deliveries are forwarded to ${tunnel.subdomain} ${path ?? '/'}${takenAlong(after)}`;
  await printDone(asked, answer, `${before.name}: ${sentence}`);
});

function takenAlong({ waiting }: Receiver): string {
  return waiting === 0 ? '' : `, after the ${waiting} waiting`;
}

/** Deliveries that waited before forwarding was turned off; their forwarding has ended. */
function droppedOf({ waiting }: Receiver): string {
  if (waiting === 0) return '';
  return `; the ${waiting} waiting are not forwarded. Set a tunnel and run culvert webhooks redeliver for each`;
}

async function listReceivers(asked: Asked): Promise<Receiver[]> {
  return receiver.array().parse(await asked.call('GET', '/webhook-receivers'));
}

async function isThere(asked: Asked, id: string): Promise<boolean> {
  return (await listReceivers(asked)).some((row) => row.id === id);
}

/** By name or id. @throws ExitError (failure) when there is none, or several have the name. */
export async function findReceiver(asked: Asked): Promise<Receiver> {
  const [handle = ''] = asked.args;
  const found = (await listReceivers(asked)).filter(({ id, name }) => id === handle || name === handle);
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  const why =
    first === undefined
      ? `there is no webhook receiver "${handle}". \`culvert webhooks list\` shows them`
      : `${found.length} webhook receivers have the name "${handle}". Use the ID from \`culvert webhooks list\``;
  throw new ExitError(EXIT.failure, harmless(why));
}

interface Reading {
  readonly id: string;
  readonly after: string | undefined;
  readonly state: string | undefined;
}

/** From the oldest on, or behind `--after`, as many as `--limit` says: all of them when it is not given. */
async function readAll(asked: Asked, { id, state, ...from }: Reading): Promise<Delivery[]> {
  const most = countFlag(asked.flags, 'limit') ?? Infinity;
  const rows: Delivery[] = [];
  let { after } = from;
  while (rows.length < most) {
    const limit = Math.min(PAGE, most - rows.length);
    const page = delivery.array().parse(await asked.call('GET', eventsPath(id, { after, limit, state })));
    if (page.length === 0) break;
    // An older server does not know the state, and lists all.
    rows.push(...page.filter((row) => state === undefined || isInState(row, state)));
    after = lastIdOf(page);
  }
  return rows;
}
