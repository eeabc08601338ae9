/** How a key stands, and which keys a filter lets through. Pure: tested without a browser. */
import type { Token } from '../../api/types.ts';

/** `replaced`: by another one, or its master key was; it works on for a while. */
export type KeyState = 'live' | 'ending' | 'replaced' | 'expired' | 'revoked';

/** A key that ends within this time is marked, once four fifths of its life are over: one of an hour is not marked from the start. */
const SOON_SECONDS = 3 * 86_400;
const LAST_PART = 0.2;

/** `now`: Unix seconds. */
export function stateOf(token: Token, now: number): KeyState {
  if (token.revoked) return 'revoked';
  if (token.expiresAt <= now) return 'expired';
  // Its grace is over; the server marks it within a second.
  if (token.graceEndsAt !== null) return token.graceEndsAt <= now ? 'revoked' : 'replaced';
  const left = token.expiresAt - now;
  const life = token.expiresAt - token.issuedAt;
  return left < Math.min(SOON_SECONDS, life * LAST_PART) ? 'ending' : 'live';
}

export function isLive(token: Token, now: number): boolean {
  const state = stateOf(token, now);
  return state !== 'revoked' && state !== 'expired';
}

/** Live keys that a master key minted: they end with it. */
export function childrenOf(master: Token, tokens: readonly Token[], now: number): readonly Token[] {
  return tokens.filter((token) => token.parentNonce === master.nonce && isLive(token, now));
}

/** The keys that replaced one which works on, of one list. */
export function successorsIn(tokens: readonly Token[]): ReadonlySet<string> {
  return new Set(tokens.flatMap(({ revoked, replacedBy }) => (revoked ? [] : (replacedBy ?? []))));
}

export interface KeyFilter {
  readonly text: string;
  readonly kind: Token['kind'] | 'all';
  readonly state: 'live' | 'expired' | 'revoked' | 'all';
}

export const EVERYTHING_LIVE: KeyFilter = { text: '', kind: 'all', state: 'live' };

/** `text` is looked for in name, project and names, and as the beginning of the ID, which the API calls nonce. */
export function filtered(tokens: readonly Token[], filter: KeyFilter, now: number): readonly Token[] {
  const text = filter.text.trim().toLowerCase();
  return tokens.filter((token) => {
    if (filter.kind !== 'all' && token.kind !== filter.kind) return false;
    if (filter.state !== 'all' && !isOf(filter.state, stateOf(token, now))) return false;
    return text === '' || says(token, text);
  });
}

function isOf(wanted: KeyFilter['state'], state: KeyState): boolean {
  if (wanted === 'live') return state !== 'expired' && state !== 'revoked';
  return state === wanted;
}

function says(token: Token, text: string): boolean {
  const words = [token.name, token.projectSlug ?? '', ...token.allowedSubdomains];
  return token.nonce.startsWith(text) || words.some((word) => word.toLowerCase().includes(text));
}
