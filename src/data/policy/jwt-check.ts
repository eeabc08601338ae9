/**
 * Is a token good for a policy? The keys are those of its `jwks_url`; else of the issuer, by its OpenID discovery, if that is an https issuer
 * which the policy allows; else this server's own access keys, for people of the tunnel's own organization. What the header of a token says
 * about where its key is counts for nothing.
 */
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { Clock } from '../../base/clock.ts';
import { ACCESS_TOKEN, type AccessKey, ORG_CLAIM } from '../../plane/access-keys.ts';
import type { JwtAction } from '../../plane/policy.ts';
import { keySetOf } from './key-set.ts';
import type { KeyPlace, KeySources } from './key-sources.ts';

/** Signatures that only the holder of a private key can make: with a shared secret whoever checks could sign as well. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

export type Finding =
  /** `expiresAt` in milliseconds. */
  | { readonly kind: 'good'; readonly expiresAt: number }
  | { readonly kind: 'bad' }
  /** The keys can't be had. */
  | { readonly kind: 'unknown' };

const BAD: Finding = { kind: 'bad' };
const UNKNOWN: Finding = { kind: 'unknown' };

export class JwtCheck {
  readonly #sources: Pick<KeySources, 'keysAt' | 'keptAt'>;
  readonly #clock: Clock;
  #own: readonly AccessKey[] = [];
  #ownSet: JWTVerifyGetKey = keySetOf({ keys: [] });

  constructor(sources: Pick<KeySources, 'keysAt' | 'keptAt'>, clock: Clock) {
    this.#sources = sources;
    this.#clock = clock;
  }

  /** This server's access keys from now on. */
  useOwnKeys(keys: readonly AccessKey[]): void {
    this.#own = keys;
    this.#ownSet = keySetOf({ keys });
  }

  /**
   * One that goes by another clock, and by the keys that are kept now: it asks no issuer, and what it would have to ask for it does not know. With
   * this server's keys of this moment.
   */
  asItStands(clock: Clock): JwtCheck {
    const keptAt: KeySources['keptAt'] = (orgId, place) => this.#sources.keptAt(orgId, place);
    // `unlike`: the key of the token is not among those that are kept, and may be a newer one.
    const keysAt: KeySources['keysAt'] = async (orgId, place, unlike) =>
      typeof unlike === 'function' ? null : keptAt(orgId, place);
    const check = new JwtCheck({ keysAt, keptAt }, clock);
    check.useOwnKeys(this.#own);
    return check;
  }

  /** Does the token name one of this server's own keys? */
  isOwn(token: string): boolean {
    try {
      const { kid } = decodeProtectedHeader(token);
      return this.#own.some((key) => key.kid === kid);
    } catch {
      return false;
    }
  }

  /** `orgId`: whose policy it is. Rejects with nothing. */
  async find(token: string, action: JwtAction, orgId: string): Promise<Finding> {
    const place = this.#placeOf(token, action);
    if (place === null) return BAD;
    if (place === 'own') return (await this.#verified(token, this.#ownSet, action, orgId)) ?? BAD;
    const keys = await this.#sources.keysAt(orgId, place);
    if (keys === null) return UNKNOWN;
    const finding = await this.#verified(token, keys, action, null);
    if (finding !== null) return finding;
    // Its key may be newer than what is kept.
    const newer = await this.#sources.keysAt(orgId, place, keys);
    if (newer === null) return UNKNOWN;
    return newer === keys ? BAD : ((await this.#verified(token, newer, action, null)) ?? BAD);
  }

  #placeOf(token: string, { jwksUrl, allowedIssuers }: JwtAction): KeyPlace | 'own' | null {
    try {
      if (jwksUrl !== null) return { jwksUrl };
      // Which server's key it names: this one's address may itself be an https issuer of the list.
      if (this.isOwn(token)) return 'own';
      const { iss } = decodeJwt(token);
      return iss?.startsWith('https://') === true && allowedIssuers.includes(iss) ? { issuer: iss } : null;
    } catch {
      return null;
    }
  }

  /** null: its key is not among these. `ownOrg`: the keys are this server's, and the token must have been made for this organization. */
  async #verified(
    token: string,
    keys: JWTVerifyGetKey,
    action: JwtAction,
    ownOrg: string | null,
  ): Promise<Finding | null> {
    try {
      const { payload } = await jwtVerify(token, keys, {
        algorithms: ALGORITHMS,
        requiredClaims: ['exp'],
        currentDate: new Date(this.#clock.now()),
        // A challenge or a ticket that the same keys have signed is no access token.
        ...(ownOrg === null ? {} : ACCESS_TOKEN),
      });
      // Anybody may have an account on this server; its tokens say in which organization their owner acts.
      if (ownOrg !== null && payload[ORG_CLAIM] !== ownOrg) return BAD;
      const isGood = isOneOf(action.allowedIssuers, payload.iss) && isOneOf(action.allowedAudiences, payload.aud);
      return isGood ? { kind: 'good', expiresAt: (payload.exp as number) * 1_000 } : BAD;
    } catch (error) {
      return error instanceof errors.JWKSNoMatchingKey ? null : BAD;
    }
  }
}

/** An empty list allows all. */
function isOneOf(allowed: readonly string[], claim: JWTPayload['aud']): boolean {
  return allowed.length === 0 || [claim ?? []].flat().some((one) => allowed.includes(one));
}
