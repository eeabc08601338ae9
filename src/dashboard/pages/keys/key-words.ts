/** What is said of keys in more than one place. Pure. */
import type { Token } from '../../api/types.ts';

export const KIND_WORDS: Readonly<Record<Token['kind'], string>> = {
  agent: 'Agent',
  project: 'Project',
  master: 'Master',
  cli: 'Log-in',
};

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
