/**
 * A tunnel's traffic policy as the control plane pushes it: checked there, compiled by the data plane (data/policy/compile.ts). Plain data.
 */

/** What every action can say. */
interface Rule {
  /** False: what it would do is not done; what it would refuse is counted. */
  readonly enforce: boolean;
}

/** Refuses requests whose path begins with this, as sent or normalized (data/policy/path-rule.ts). */
export interface DenyAction extends Rule {
  readonly kind: 'deny';
  readonly pathPrefix: string;
}

/** Refuses all who are not (`ip_allow`), or all who are (`ip_deny`), in one of the networks. */
export interface IpAction extends Rule {
  readonly kind: 'ip_allow' | 'ip_deny';
  /** CIDRs or single addresses. */
  readonly networks: readonly string[];
}

/** Refuses requests without a bearer JWT that is signed by a known key, unexpired, and of the allowed issuers and audiences. */
export interface JwtAction extends Rule {
  readonly kind: 'jwt_validation';
  /** Empty: any. */
  readonly allowedIssuers: readonly string[];
  readonly allowedAudiences: readonly string[];
  readonly jwksUrl: string | null;
}

/** Refuses what is more than this in the current window of 60 s. */
export interface RateAction extends Rule {
  readonly kind: 'rate_limit';
  readonly requestsPerMinute: number;
  readonly perClientIp: boolean;
}

/** Sets a header of the request that is forwarded, or of the response. */
export interface HeaderAction extends Rule {
  readonly kind: 'header_set' | 'response_header_set';
  readonly name: string;
  readonly value: string;
}

export type PolicyAction = DenyAction | IpAction | JwtAction | RateAction | HeaderAction;

export interface Actions {
  readonly actions: readonly PolicyAction[];
}

export interface PolicySpec extends Actions {
  /** Milliseconds since the epoch: tells it from the one before. */
  readonly setAt: number;
}

/** Characters of a rule in words. */
const MAX_RULE = 120;

/** What an action says beside its kind, for people: `/admin`, `10.0.0.0/8, 192.0.2.7`, `600 a minute`; cut where it is long. */
export function ruleOf(action: PolicyAction): string {
  const rule = wholeRule(action);
  return rule.length > MAX_RULE ? `${rule.slice(0, MAX_RULE - 1)}…` : rule;
}

function wholeRule(action: PolicyAction): string {
  switch (action.kind) {
    case 'deny':
      return action.pathPrefix;
    case 'ip_allow':
    case 'ip_deny':
      return action.networks.join(', ');
    case 'jwt_validation':
      return action.allowedIssuers.length === 0 ? 'any issuer' : action.allowedIssuers.join(', ');
    case 'rate_limit':
      return `${action.requestsPerMinute} a minute${action.perClientIp ? ' for each address' : ''}`;
    case 'header_set':
    case 'response_header_set':
      return action.name;
    default:
      action satisfies never;
      // Of a control plane that knows more than this node.
      return '';
  }
}
