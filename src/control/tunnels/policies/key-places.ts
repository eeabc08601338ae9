/**
 * Can the keys that a `jwt_validation` names ever be had? Where they never can, the edge blocks all visitors, and the owner hears why when the policy
 * is put. Whether a place answers is not asked here: that may change.
 */
import type { Actions } from '../../../plane/policy.ts';

export interface KeyPlaceRules {
  /** `edge.allow_private_jwks`. Which hosts may then be asked by http, the policy's schema knows. */
  readonly allowPrivate: boolean;
  /** What this server's own tokens say as `iss`. */
  readonly ownIssuer: () => string;
}

/** Parts that block all visitors, each with what to write instead. */
export function keyPlaceWarnings({ actions }: Actions, { allowPrivate, ownIssuer }: KeyPlaceRules): string[] {
  return actions.flatMap((action, index) => {
    if (action.kind !== 'jwt_validation') return [];
    const { jwksUrl, allowedIssuers } = action;
    if (jwksUrl !== null) {
      if (!isPlain(jwksUrl) || allowPrivate) return [];
      return [
        `actions.${index}.jwks_url: the keys can't be fetched over http. Use an https:// URL, or ask the operator for edge.allow_private_jwks = true, which allows http from the server itself.`,
      ];
    }
    const deaf = allowedIssuers.find((issuer) => isPlain(issuer) && issuer !== ownIssuer());
    if (deaf === undefined) return [];
    return [
      `actions.${index}.allowed_issuers: ${deaf} is not an https:// URL, so its keys can't be found. Use its https:// URL, or set jwks_url.`,
    ];
  });
}

function isPlain(url: string): boolean {
  return /^http:\/\//i.test(url);
}
