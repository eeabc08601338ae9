/** How a delivery and its way to the tunnel are said. Pure. */
import type { Schemas } from '../../api/types.ts';
import type { Tone } from '../../parts/tone.ts';

export type Delivery = Schemas['WebhookDelivery'];
export type Progress = Schemas['WebhookProgress'];

const SAID: Readonly<Record<Progress['state'], { readonly tone: Tone; readonly words: string }>> = {
  none: { tone: 'quiet', words: 'Stored' },
  waiting: { tone: 'warn', words: 'Waiting' },
  sending: { tone: 'info', words: 'Sending' },
  delivered: { tone: 'good', words: 'Delivered' },
  failed: { tone: 'bad', words: 'Given up' },
};

export function progressState({ state }: Progress): { readonly tone: Tone; readonly words: string } {
  return SAID[state];
}

/** What came of the last try; undefined: there was none, or it went well. */
export function lastTry({ state, attempts, last_status: status, last_error: error }: Progress): string | undefined {
  if (attempts === 0 || state === 'delivered') return undefined;
  const tries = attempts === 1 ? '1 try' : `${attempts} tries`;
  if (error !== null) return `${tries}, the last: ${error}`;
  return status === null ? `${tries}, no answer` : `${tries}, the last was answered with ${status}`;
}

/** Whether something of it may change by itself. */
export function isUnderWay({ forward: { state } }: Delivery): boolean {
  return state === 'waiting' || state === 'sending';
}

/** A program reads what came: all of it, and then it waits for more. */
export function readCommand(api: URL, receiverId: string): string {
  const url = `${api.href}webhook-receivers/${receiverId}/events?wait=30`;
  return `curl -H "Authorization: Bearer $CULVERT_TOKEN" '${url}'`;
}
