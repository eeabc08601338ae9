/** The values of the form for the limits of a key, and its request body. Pure: tested without a browser. */
import type { Schemas, Token } from '../../api/types.ts';

export interface LimitValues {
  readonly name: string;
  readonly names: string[];
  /** Inputs of numbers hold text while they are typed in. */
  readonly quota: number | string;
  readonly mbps: number | string;
}

/** What is another value than before. */
export function limitChanges(token: Token, { name, names, quota, mbps }: LimitValues): Schemas['TokenChanges'] {
  const allowed = names.length === 0 ? ['*'] : names;
  const isSame = allowed.join(' ') === token.allowedSubdomains.join(' ');
  if (token.kind === 'master') return { name: name.trim() };
  return {
    ...(name.trim() === token.name ? {} : { name: name.trim() }),
    ...(isSame ? {} : { allowedSubdomains: allowed }),
    ...(Number(quota) === token.tunnelQuota ? {} : { tunnelQuota: Number(quota) }),
    ...(Number(mbps) === token.bandwidthLimitMbps ? {} : { bandwidthLimitMbps: Number(mbps) }),
  };
}

/** May something be refused from now on that is served? Bandwidth ends no session. */
export function lowersLimits(token: Token, values: LimitValues): boolean {
  const { tunnelQuota = token.tunnelQuota, allowedSubdomains } = limitChanges(token, values);
  return tunnelQuota < token.tunnelQuota || allowedSubdomains?.includes('*') === false;
}
