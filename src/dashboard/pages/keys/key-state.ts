/** How a key stands, and which keys a filter lets through. Pure: tested without a browser. */
import type { Token } from '../../api/types.ts';

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

/** A grace is counted in whole hours from the second in which the key was rotated and its successor issued. */
const GRACE_STEP = 3600;

/**
 * The key that replaced this one; undefined when it was not replaced, or when that one is not among them. The API names neither for the other: it is
 * the next one of the same name and kind that was issued a whole number of hours before the grace ends, or simply the next one where the old key
 * ends sooner than its grace.
 */
export function successorOf(old: Token, tokens: readonly Token[]): Token | undefined {
  const { graceEndsAt: end } = old;
  if (end === null) return undefined;
  const later = tokens
    .filter((token) => isSameLine(token, old) && token.nonce !== old.nonce && token.issuedAt >= old.issuedAt)
    .toSorted((one, other) => one.issuedAt - other.issuedAt);
  return later.find(({ issuedAt }) => (end - issuedAt) % GRACE_STEP === 0) ?? later[0];
}

function isSameLine(one: Token, other: Token): boolean {
  return (
    one.name === other.name &&
    one.kind === other.kind &&
    one.projectSlug === other.projectSlug &&
    one.parentNonce === other.parentNonce
  );
}

/** The keys that replaced one which works on, of one list. */
export function successorsIn(tokens: readonly Token[]): ReadonlySet<string> {
  return new Set(tokens.flatMap((token) => (token.revoked ? [] : (successorOf(token, tokens)?.nonce ?? []))));
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
