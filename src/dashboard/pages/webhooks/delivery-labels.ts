/** Labels of a delivery and of its forwarding. Pure. */
import type { Schemas } from '../../api/types.ts';
import type { Tone } from '../../parts/tone.ts';

export type Delivery = Schemas['WebhookDelivery'];
export type Progress = Schemas['WebhookProgress'];
export type Attempt = Schemas['WebhookAttempt'];

interface Said {
  readonly tone: Tone;
  readonly words: string;
}

const SAID: Readonly<Record<Progress['state'], Said>> = {
  none: { tone: 'quiet', words: 'Stored' },
  waiting: { tone: 'warn', words: 'Waiting' },
  sending: { tone: 'info', words: 'Sending' },
  delivered: { tone: 'good', words: 'Delivered' },
  failed: { tone: 'bad', words: 'Failed' },
};

/** One that waits after a failed attempt is no good news. */
export function progressState({ state, attempts }: Pick<Progress, 'state' | 'attempts'>): Said {
  return state === 'waiting' && attempts > 0 ? { tone: 'bad', words: 'Retrying' } : SAID[state];
}

export function attemptResult({ status, error }: Pick<Attempt, 'status' | 'error'>): Said {
  if (error !== null) return { tone: 'bad', words: error };
  if (status === null) return { tone: 'bad', words: 'No response' };
  return { tone: status >= 200 && status < 300 ? 'good' : 'bad', words: String(status) };
}

/** What the last attempt brought: "status 500", or why there was no response. */
export function answerText({
  last_status: status,
  last_error: error,
}: Pick<Progress, 'last_status' | 'last_error'>): string {
  if (error !== null) return `error ${error}`;
  return status === null ? 'no response' : `status ${status}`;
}

/** Filters of the list. */
export const STATES = [
  { value: 'all', label: 'All states' },
  { value: 'failed', label: 'Failed' },
  { value: 'waiting', label: 'Waiting' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'none', label: 'Stored' },
] as const;
export type StateFilter = (typeof STATES)[number]['value'];

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
