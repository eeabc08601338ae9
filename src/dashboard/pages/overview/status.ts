/** The label and tone of a response's status. Pure. */
import type { Schemas } from '../../api/types.ts';
import type { Tone } from '../../parts/tone.ts';

/** `outcome`: what the edge says of the request; what it refused or lost is marked whatever the status. */
export function statusTone(status: number, outcome: Schemas['InspectedRequest']['outcome']): Tone {
  if (outcome === 'failed' || status >= 500) return 'bad';
  if (outcome === 'refused' || status >= 400) return 'warn';
  return status >= 300 ? 'info' : 'good';
}

/** 0: the visitor got nothing. */
export function statusWord(status: number): string {
  return status === 0 ? 'none' : String(status);
}
