/** What is said of keys in more than one place. Pure. */
import type { Token } from '../../api/types.ts';

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
  if (kind === 'master') return 'Mints keys, opens no tunnel';
  const tunnels = tunnelQuota === 1 ? '1 tunnel' : `${tunnelQuota.toLocaleString('en-US')} tunnels`;
  return bandwidthLimitMbps >= UNLIMITED_MBPS ? tunnels : `${tunnels}, ${bandwidthLimitMbps} Mbit/s`;
}

/** How full the bar of a budget is, 0..100; undefined without a budget to fill. */
export function spentPart({ monthlyBudgetUsdCents: cap, spentUsdCents: spent }: Token): number | undefined {
  if (cap === null || cap === 0) return undefined;
  return Math.min(100, (spent / cap) * 100);
}
