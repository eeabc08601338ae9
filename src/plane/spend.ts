/**
 * What traffic costs, and what may be spent: the words of both planes. The control plane adds up what was stored, the data plane what flows.
 */

/** `pricing` of the settings. Cents may have fractions. */
export interface Prices {
  readonly centsPerGb: number;
  readonly centsPerMillionRequests: number;
}

/**
 * What the keys of one account may spend in a month. An account is a lineage of tokens: a key and those that rotation made of it; a master
 * key's holds what the keys spend that it minted, too.
 */
export interface Budget {
  readonly accountId: string;
  /** UTC, `2026-11`. Another month begins at nothing. */
  readonly month: string;
  /** As far as it is stored: a node that serves the account knows of more. */
  readonly spentCents: number;
  /** null: no cap. 0: nothing may be spent, not even where everything is free. */
  readonly capCents: number | null;
}

/** 10^9, as traffic is sold. */
const GB = 1_000_000_000;
const MILLION = 1_000_000;

/** Cents, with fractions. */
export function costOf(traffic: { readonly bytes: number; readonly requests: number }, prices: Prices): number {
  return (traffic.bytes / GB) * prices.centsPerGb + (traffic.requests / MILLION) * prices.centsPerMillionRequests;
}

/** The UTC month of an instant, `2026-11`. */
export function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 7);
}

export function isExhausted({ spentCents, capCents }: Pick<Budget, 'spentCents' | 'capCents'>): boolean {
  return capCents !== null && spentCents >= capCents;
}
