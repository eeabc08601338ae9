/** Labels of a delivery and of its forwarding. Pure. */
import type { Schemas } from '../../api/types.ts';
import type { Tone } from '../../parts/tone.ts';

export type Delivery = Schemas['WebhookDelivery'];
export type Progress = Schemas['WebhookProgress'];

const SAID: Readonly<Record<Progress['state'], { readonly tone: Tone; readonly words: string }>> = {
  none: { tone: 'quiet', words: 'Stored' },
  waiting: { tone: 'warn', words: 'Waiting' },
  sending: { tone: 'info', words: 'Sending' },
  delivered: { tone: 'good', words: 'Delivered' },
  failed: { tone: 'bad', words: 'Failed' },
};

export function progressState({ state }: Progress): { readonly tone: Tone; readonly words: string } {
  return SAID[state];
}

/** The result of the last attempt; undefined: there was none, or it succeeded. */
export function lastTry({ state, attempts, last_status: status, last_error: error }: Progress): string | undefined {
  if (attempts === 0 || state === 'delivered') return undefined;
  const tries = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
  if (error !== null) return `${tries}, last error: ${error}`;
  return status === null ? `${tries}, no response` : `${tries}, last status ${status}`;
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
