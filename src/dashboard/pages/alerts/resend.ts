/** Confirmation emails to several addresses of a rule. Pure: tested without a browser. */
import { failureFrom, isOtherByNow } from '../../api/failure.ts';
import type { Alert } from './alert-labels.ts';

type Channel = Alert['channels'][number];

export interface Refused {
  readonly to: string;
  /** The server's sentence. */
  readonly reason: string;
}

/** One channel per address that is not confirmed yet: one email confirms all channels to it. */
export function waitingAddresses({ channels }: Pick<Alert, 'channels'>): readonly Channel[] {
  const waiting = channels.filter(({ state }) => state === 'pending');
  return [...new Map(waiting.map((one) => [one.to?.toLowerCase(), one])).values()];
}

/** Sends to each, one after the other, and returns the refused ones. Throws only where the session is another one by now. */
export async function sendToAll(
  channels: readonly Channel[],
  send: (id: string) => Promise<unknown>,
): Promise<readonly Refused[]> {
  const refused: Refused[] = [];
  for (const { id, to } of channels)
    try {
      await send(id);
    } catch (error) {
      if (isOtherByNow(error)) throw error;
      refused.push({ to: to ?? '', reason: failureFrom(error).message });
    }
  return refused;
}

/** "Confirmation sent to a@example.com. Not sent to b@example.com: …" */
export function sentText(channels: readonly Channel[], refused: readonly Refused[]): string {
  if (refused.length === 0) return 'Confirmation sent.';
  const sent = channels.flatMap(({ to }) => (refused.some((one) => one.to === to) ? [] : [to]));
  const reasons = Map.groupBy(refused, ({ reason }) => reason);
  return [
    ...(sent.length === 0 ? [] : [`Confirmation sent to ${sent.join(', ')}.`]),
    ...[...reasons].map(([reason, of]) => `Not sent to ${of.map(({ to }) => to).join(', ')}: ${reason}`),
  ].join(' ');
}
