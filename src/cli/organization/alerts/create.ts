/** `culvert alerts create`: what a rule watches, and where it sends to. */
import { z } from 'zod';
import { given } from '../../../base/given.ts';
import { apiCommand, type Asked, printDone } from '../../client/api-command.ts';
import { findTunnel } from '../../manage/tunnels.ts';
import { usageError } from '../../terminal/exit.ts';
import { listFlag, textFlag } from '../../terminal/flags.ts';
import { readInput } from '../../terminal/input.ts';
import { spanMs } from '../../terminal/time-span.ts';
import { alert, type Alert } from './alerts.ts';

const DEFAULT_MINUTES = 5;
const channels = z.array(z.looseObject({ type: z.string() }));

export const alertsCreate = apiCommand(async (asked) => {
  const to = await channelsOf(asked);
  const named = textFlag(asked.flags, 'tunnel');
  const tunnel = named === undefined ? undefined : await findTunnel({ ...asked, args: [named] });
  const answer = await asked.call('POST', '/alerts', {
    kind: asked.args[0] ?? '',
    scope: given({ tunnel_id: tunnel?.id }),
    for_minutes: minutesOf(asked),
    channels: to,
    ...given({ threshold: thresholdOf(asked), quiet_hours: quietHoursOf(asked) }),
  });
  const made = alert.parse(answer);
  await printDone(asked, answer, `${made.kind}: created (${made.id})${secretOf(made)}${waitsFor(made)}`);
});

async function channelsOf(asked: Asked): Promise<readonly object[]> {
  const { flags } = asked;
  const url = textFlag(flags, 'webhook');
  const list = [
    ...(listFlag(flags, 'email') ?? []).map((to) => ({ type: 'email', to })),
    ...(url === undefined ? [] : [{ type: 'webhook', url }]),
    ...(await fromFile(asked)),
  ];
  if (list.length === 0) throw usageError('needs --email, --webhook or --channel-file');
  return list;
}

/** Their secrets are no arguments, which other users of the machine see. */
async function fromFile({ flags, io }: Asked): Promise<readonly object[]> {
  const file = textFlag(flags, 'channelFile');
  if (file === undefined) return [];
  const text = await readInput(io, file);
  const parsed = channels.safeParse(jsonOf(text, file));
  if (parsed.success) return parsed.data;
  throw usageError(`${file} must be a list of channels: [{"type": "slack", "url": "https://…"}]`);
}

function jsonOf(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw usageError(`${file} is not JSON`);
  }
}

function minutesOf({ flags }: Asked): number {
  const text = textFlag(flags, 'for');
  if (text === undefined) return DEFAULT_MINUTES;
  const ms = spanMs(text);
  if (ms === undefined || ms % 60_000 !== 0) throw usageError(`--for: "${text}" is not a time such as 5m or 2h`);
  return ms / 60_000;
}

function thresholdOf({ flags }: Asked): number | undefined {
  const text = textFlag(flags, 'threshold');
  if (text === undefined) return undefined;
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(text)) throw usageError(`--threshold: "${text}" is not a number`);
  return Number(text);
}

function quietHoursOf({ flags }: Asked): object | undefined {
  const text = textFlag(flags, 'quietHours');
  const zone = textFlag(flags, 'timeZone');
  if (text === undefined) {
    if (zone !== undefined) throw usageError('--time-zone: needs --quiet-hours');
    return undefined;
  }
  const [, from, to] = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(text) ?? [];
  if (from === undefined || to === undefined)
    throw usageError(`--quiet-hours: "${text}" is not two times of day such as 22:00-07:00`);
  return { from, to, time_zone: zone ?? 'UTC' };
}

function secretOf({ channels: list }: Alert): string {
  const secrets = list.flatMap(({ secret }) => secret ?? []);
  return secrets.length === 0 ? '' : `. Signing secret, which you won't see again: ${secrets.join(', ')}`;
}

/** Names the addresses that get no alerts before their confirmation. */
function waitsFor({ channels: list }: Alert): string {
  const waiting = list.filter(({ state }) => state === 'pending').map(({ to }) => to ?? '');
  if (waiting.length === 0) return '';
  return `. To get alerts, ${[...new Set(waiting)].join(' and ')} must open the link in the confirmation email`;
}
