/** Why requests that were served may be in no record. Called by inspect.ts where it finds none, and by follow.ts before it waits. */
import { z } from 'zod';
import type { Asked } from '../client/api-command.ts';
import { tunnelNames } from '../manage/tunnels.ts';
import { harmless } from '../terminal/paint.ts';

const recording = z.looseObject({ enabled: z.boolean(), not_recorded: z.array(z.string()) });
const MAX_NAMED = 5;

/** In words; `tunnelId`: only what concerns this one. Undefined: all is recorded. */
export async function gapOf(asked: Asked, tunnelId: string | undefined): Promise<string | undefined> {
  const { enabled, not_recorded: all } = recording.parse(await asked.call('GET', '/inspector/recording'));
  if (!enabled) return 'This server does not record requests: its operator has turned inspector.enabled off.';
  const concerned = tunnelId === undefined ? all : all.filter((id) => id === tunnelId);
  if (concerned.length === 0) return undefined;
  const names = await tunnelNames(asked);
  const shown = concerned.slice(0, MAX_NAMED).map((id) => names.get(id) ?? id);
  const more = concerned.length > MAX_NAMED ? ` and ${concerned.length - MAX_NAMED} others` : '';
  return harmless(`Requests to ${shown.join(', ')}${more} are not recorded: the agent runs with --no-inspect.`);
}
