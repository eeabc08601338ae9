/** An access key's state and the words for it. Pure: tested without a browser. */
import type { Token } from '../../api/types.ts';

/** `replaced`: by another one, or its master key was; it works on for a while. */
type KeyState = 'live' | 'ending' | 'replaced' | 'expired' | 'revoked';

/** A key that ends within a week is marked, as in "Needs attention". One that was made for less has a shorter last part. */
const SOON_SECONDS = 7 * 86_400;
const SHORT_SECONDS = 2 * 86_400;
const LAST_PART = { short: 0.2, long: 0.5 };

/** `now`: Unix seconds. */
export function stateOf(token: Token, now: number): KeyState {
  if (token.revoked) return 'revoked';
  if (token.expiresAt <= now) return 'expired';
  // Its grace is over; the server marks it within a second.
  if (token.graceEndsAt !== null) return token.graceEndsAt <= now ? 'revoked' : 'replaced';
  const left = token.expiresAt - now;
  const life = token.expiresAt - token.issuedAt;
  const part = life > SHORT_SECONDS ? LAST_PART.long : LAST_PART.short;
  return left < Math.min(SOON_SECONDS, life * part) ? 'ending' : 'live';
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

const KEY_STATES = ['live', 'expired', 'revoked', 'all'] as const satisfies ReadonlyArray<KeyFilter['state']>;

/** From the page's address, so that a view can be shared: unknown values are ignored. */
export function filterIn(params: URLSearchParams): KeyFilter {
  const kind = params.get('kind');
  return {
    text: params.get('q') ?? '',
    kind: kind !== null && Object.hasOwn(KIND_WORDS, kind) ? (kind as Token['kind']) : EVERYTHING_LIVE.kind,
    state: KEY_STATES.find((one) => one === params.get('state')) ?? EVERYTHING_LIVE.state,
  };
}

/** The opposite of `filterIn`; defaults are left out. */
export function paramsOf({ text, kind, state }: KeyFilter): URLSearchParams {
  const params = new URLSearchParams();
  if (text !== '') params.set('q', text);
  if (kind !== EVERYTHING_LIVE.kind) params.set('kind', kind);
  if (state !== EVERYTHING_LIVE.state) params.set('state', state);
  return params;
}

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

/** What is said of keys in more than one place. */
export const KIND_WORDS: Readonly<Record<Token['kind'], string>> = {
  agent: 'Agent',
  project: 'Project',
  master: 'Master',
  cli: 'Login',
};

/** What people call a key by when a name is not enough: the beginning of its nonce. */
export function idOf({ nonce }: Pick<Token, 'nonce'>): string {
  return nonce.slice(0, 8);
}

/** "ci", or "ci (1f2e3d4c)" while another live key has the same name: after a rotation with a grace there are two. */
export function tellingName(token: Token, all: readonly Token[]): string {
  const isAlone = !all.some((other) => other.nonce !== token.nonce && other.name === token.name && !other.revoked);
  return isAlone ? token.name : `${token.name} (${idOf(token)})`;
}

/** From this on the server limits nothing. */
const UNLIMITED_MBPS = 10_000;

export function limitsText({ kind, tunnelQuota, bandwidthLimitMbps }: Token): string {
  if (kind === 'master') return 'Creates keys only';
  const tunnels = tunnelQuota === 1 ? '1 tunnel' : `${tunnelQuota.toLocaleString('en-US')} tunnels`;
  return bandwidthLimitMbps >= UNLIMITED_MBPS ? tunnels : `${tunnels}, ${bandwidthLimitMbps} Mbit/s`;
}

/** "≈ 50 GB at 10 ¢/GB"; undefined where traffic has no price, or nothing may be spent. */
export function buysText(cents: number, centsPerGb: number | null): string | undefined {
  if (centsPerGb === null || cents === 0) return undefined;
  const gb = cents / centsPerGb;
  const amount = gb >= 1000 ? `${round(gb / 1000)} TB` : gb >= 1 ? `${round(gb)} GB` : `${round(gb * 1000)} MB`;
  return `≈ ${amount} at ${centsPerGb} ¢/GB`;
}

/** Three digits. */
function round(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en-US');
}

/** "2 tunnels"; undefined: no agent uses it. */
export function servingText({ serving: { sessions, tunnels, networks } }: Pick<Token, 'serving'>): string | undefined {
  if (sessions === 0) return undefined;
  const parts = [
    ...(tunnels > 0 ? [tunnels === 1 ? '1 tunnel' : `${tunnels} tunnels`] : []),
    ...(networks > 0 ? [networks === 1 ? '1 network' : `${networks} networks`] : []),
  ];
  return parts.length === 0 ? 'No tunnel' : parts.join(', ');
}

/** How full the bar of a budget is, 0..100; undefined without a budget to fill. */
export function spentPart({ monthlyBudgetUsdCents: cap, spentUsdCents: spent }: Token): number | undefined {
  if (cap === null || cap === 0) return undefined;
  return Math.min(100, (spent / cap) * 100);
}
