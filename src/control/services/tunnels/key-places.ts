/**
 * Can the keys that a `jwt_validation` names ever be had? What never can is refused when the policy is put: at the edge it would let nobody in,
 * and its owner would not learn why. Whether a place answers is not asked here: that may change.
 */
import { AppError } from '../../../base/errors.ts';
import type { Actions } from '../../../plane/policy.ts';

export interface KeyPlaceRules {
  /** `edge.allow_private_jwks`. Which hosts may then be asked by http, the policy's schema knows. */
  readonly allowPrivate: boolean;
  /** What this server's own tokens say as `iss`. */
  readonly ownIssuer: () => string;
}

/** Throws `bad_policy` that says what to write instead. */
export function requireKeyPlaces({ actions }: Actions, { allowPrivate, ownIssuer }: KeyPlaceRules): void {
  actions.forEach((action, index) => {
    if (action.kind !== 'jwt_validation') return;
    const { jwksUrl, allowedIssuers } = action;
    if (jwksUrl !== null) {
      if (isPlain(jwksUrl) && !allowPrivate) {
        refuse(
          `actions.${index}.jwks_url: keys are fetched by https. Write an https:// address, or ask the operator for edge.allow_private_jwks = true: then http from the server itself works too`,
        );
      }
      return;
    }
    const deaf = allowedIssuers.find((issuer) => isPlain(issuer) && issuer !== ownIssuer());
    if (deaf !== undefined) {
      refuse(
        `actions.${index}.allowed_issuers: ${deaf} can't be asked where its keys are, for that takes https. Write its https:// address, or say by jwks_url where the keys are`,
      );
    }
  });
}

function isPlain(url: string): boolean {
  return /^http:\/\//i.test(url);
}

function refuse(reason: string): never {
  throw new AppError('bad_policy', `The policy was not taken: ${reason}.`);
}
