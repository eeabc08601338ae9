/**
 * Is a token good for a policy? The keys are those of its `jwks_url`; else of the issuer, by its OpenID discovery, if that is an https issuer
 * which the policy allows; else this server's own access keys, for people of the tunnel's own organization. What the header of a token says
 * about where its key is counts for nothing.
 */
import type { Clock } from '../../../base/clock.ts';
import { ACCESS_TOKEN, type AccessKey, ORG_CLAIM } from '../../../plane/access-keys.ts';
import type { JwtAction } from '../../../plane/policy.ts';
import { type KeySet, keySetOf } from './key-set.ts';
import type { KeyPlace, KeySources } from './key-sources.ts';
import { isSignedBy, parseToken, type SignedToken } from './signed-token.ts';

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
  #ownSet: KeySet = keySetOf({ keys: [] });

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
      unlike !== undefined && unlike !== null ? null : keptAt(orgId, place);
    const check = new JwtCheck({ keysAt, keptAt }, clock);
    check.useOwnKeys(this.#own);
    return check;
  }

  /** Does the token name one of this server's own keys? */
  isOwn(token: string): boolean {
    return this.#names(parseToken(token));
  }

  /** `orgId`: whose policy it is. Rejects with nothing. */
  async find(text: string, action: JwtAction, orgId: string): Promise<Finding> {
    const token = parseToken(text);
    const place = token === null ? null : this.#placeOf(token, action);
    if (token === null || place === null) return BAD;
    if (place === 'own') return this.#verified(token, this.#ownSet, action, orgId) ?? BAD;
    const keys = await this.#sources.keysAt(orgId, place);
    if (keys === null) return UNKNOWN;
    const finding = this.#verified(token, keys, action, null);
    if (finding !== null) return finding;
    // Its key may be newer than what is kept.
    const newer = await this.#sources.keysAt(orgId, place, keys);
    if (newer === null) return UNKNOWN;
    return newer === keys ? BAD : (this.#verified(token, newer, action, null) ?? BAD);
  }

  #names(token: SignedToken | null): boolean {
    return token?.header.kid !== undefined && this.#own.some(({ kid }) => kid === token.header.kid);
  }

  #placeOf(token: SignedToken, { jwksUrl, allowedIssuers }: JwtAction): KeyPlace | 'own' | null {
    if (jwksUrl !== null) return { jwksUrl };
    // Which server's key it names: this one's address may itself be an https issuer of the list.
    if (this.#names(token)) return 'own';
    const { iss } = token.claims;
    return typeof iss === 'string' && iss.startsWith('https://') && allowedIssuers.includes(iss)
      ? { issuer: iss }
      : null;
  }

  /** null: its key is not among these. `ownOrg`: the keys are this server's, and the token must have been made for this organization. */
  #verified(token: SignedToken, keys: KeySet, action: JwtAction, ownOrg: string | null): Finding | null {
    const key = keys.keyOf(token.header);
    if (key === 'none') return null;
    if (key === null || !isSignedBy(token, key)) return BAD;
    const { claims } = token;
    const expiresAt = this.#endOf(claims);
    if (expiresAt === null) return BAD;
    // A challenge or a ticket that the same keys have signed is no access token; and in which organization its owner acts it says.
    if (ownOrg !== null && !(isAccessToken(token) && claims[ORG_CLAIM] === ownOrg)) return BAD;
    const isGood = isOneOf(action.allowedIssuers, claims['iss']) && isOneOf(action.allowedAudiences, claims['aud']);
    return isGood ? { kind: 'good', expiresAt } : BAD;
  }

  /** When it ends, milliseconds since the epoch; null: it is over, has not begun, or does not say (RFC 7519 §4.1.4, §4.1.5). */
  #endOf({ exp, nbf = 0 }: SignedToken['claims']): number | null {
    const nowSeconds = Math.floor(this.#clock.now() / 1_000);
    if (typeof exp !== 'number' || typeof nbf !== 'number') return null;
    return exp > nowSeconds && nbf <= nowSeconds ? exp * 1_000 : null;
  }
}

function isAccessToken({ header, claims }: SignedToken): boolean {
  return header.typ === ACCESS_TOKEN.typ && isOneOf([ACCESS_TOKEN.audience], claims['aud']);
}

/** An empty list allows all. */
function isOneOf(allowed: readonly string[], claim: unknown): boolean {
  return allowed.length === 0 || [claim].flat().some((one) => typeof one === 'string' && allowed.includes(one));
}
