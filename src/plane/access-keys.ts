/**
 * The server's own access tokens, as both planes know them: what marks one, and the public keys that verify it. Plain data.
 */

/** Type (RFC 9068) and audience of an access token: the same keys sign other kinds too, and none of those passes for one (RFC 8725 §3.11). */
export const ACCESS_TOKEN = { typ: 'at+jwt', audience: 'culvert-api' } as const;

/** Claim of an access token: the id of the organization that its owner acts in. */
export const ORG_CLAIM = 'org';

/** A public key that access tokens are signed with, as a JWK (RFC 8037). */
export interface AccessKey {
  readonly kty: string;
  readonly crv: string;
  readonly x: string;
  readonly kid: string;
  readonly alg: string;
  readonly use: string;
}
