/** How an agent is refused: a code that a program acts on, and a sentence for the reader of its output. */
import type { Refusal } from '../../plane/link.ts';

export function refuse(code: Refusal['code'], message: string): Refusal {
  return { ok: false, code, message };
}
