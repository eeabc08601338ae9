/**
 * What an agent's flags add in front of its tunnel (wire/narrowing.ts), checked by the rules of the API. The owner of a leaked key can type flags, too: so
 * they only narrow, and a claim with one that can't be applied is refused. Called by control/link.ts for each claim.
 */
import { parseNetwork } from '../../../base/net/addr.ts';
import type { ClaimQuestion, Refusal } from '../../../plane/link.ts';
import type { Narrowing } from '../../../plane/narrowing.ts';
import { type AskedNarrowing, flagOf, NARROWINGS, narrowingSchema } from '../../../wire/narrowing.ts';
import { refuse } from '../../access-keys/messages.ts';

export type PreparedNarrowing = { readonly ok: true; readonly narrowing: Narrowing | null } | Refusal;

type Question = Pick<ClaimQuestion, 'narrow' | 'protocol' | 'tokenId'>;

/** Turns what agents ask for into what their sessions apply. */
export class Narrowings {
  /** Never throws for a rule. null: the claim asks for nothing. */
  async prepare({ narrow }: Question): Promise<PreparedNarrowing> {
    if (narrow === undefined) return { ok: true, narrowing: null };
    const asked = read(narrow);
    if ('code' in asked) return asked;
    const names = Object.keys(asked);
    if (names.length === 0) return { ok: true, narrowing: null };
    return { ok: true, narrowing: { names, allow: asked.allow_cidr ?? [], deny: asked.deny_cidr ?? [] } };
  }
}

function read(narrow: Record<string, unknown>): AskedNarrowing | Refusal {
  const unknown = Object.keys(narrow).find((name) => !NARROWINGS.some((known) => known === name));
  if (unknown !== undefined)
    return invalid(unknown, 'this server does not support it. Upgrade the server, or leave it out');
  const parsed = narrowingSchema.safeParse(narrow);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return invalid(String(issue?.path[0] ?? ''), issue?.message ?? 'is invalid');
  }
  for (const name of ['allow_cidr', 'deny_cidr'] as const) {
    const wrong = parsed.data[name]?.find((network) => parseNetwork(network) === undefined);
    if (wrong !== undefined) return invalid(name, `"${wrong}" is no IP address and no network such as 10.0.0.0/8`);
  }
  return parsed.data;
}

function invalid(name: string, reason: string): Refusal {
  return refuse('invalid_request', `${flagOf(name)}: ${reason.slice(0, 800)}.`);
}
