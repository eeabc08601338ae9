/**
 * How this server signs and reads its own JWTs: EdDSA with the access key, a type and an audience per kind, so that none passes for
 * another (RFC 8725 §3.11, §3.12). What a kind says, and for how long, is in its own file (auth/sessions/access-tokens.ts, auth/sessions/challenges.ts).
 */
import { hash, type KeyObject, randomUUID } from 'node:crypto';
import { type JWTPayload, jwtVerify, SignJWT } from 'jose';
import type { Clock } from '../../../base/clock.ts';
import { RecentMap } from '../../../base/limits/recent-map.ts';
import type { Keys } from './keys.ts';

export interface JwtDeps {
  readonly keys: Keys;
  readonly clock: Clock;
  /** The API's public URL; known once its listener is. */
  readonly issuer: () => string;
}

export interface JwtKind {
  readonly typ: string;
  readonly audience: string;
  readonly lifeSeconds: number;
}

/** Adds `iss`, `aud`, `iat`, `exp` and a `jti` of its own to the claims. */
export function signJwt({ keys, clock, issuer }: JwtDeps, kind: JwtKind, claims: JWTPayload): Promise<string> {
  const key = keys.signing('access');
  const issuedAt = Math.floor(clock.now() / 1000);
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'EdDSA', kid: key.id, typ: kind.typ })
    .setIssuer(issuer())
    .setAudience(kind.audience)
    .setJti(randomUUID())
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + kind.lifeSeconds)
    .sign(key.privateKey);
}

/** The claims of a valid JWT of this kind; undefined for everything else. */
export async function readJwt(deps: JwtDeps, kind: JwtKind, jwt: string): Promise<JWTPayload | undefined> {
  return (await verify(deps, kind, jwt))?.claims;
}

/** A JWT that was valid. It stays valid until it expires, its key is deleted, or the API gets another URL. */
interface Verified {
  readonly claims: JWTPayload;
  readonly keyId: string;
  readonly key: KeyObject;
  readonly issuer: string;
}

/** Far more than the people who use a server at a time; some 1 KB each. Beyond it the one used longest ago is verified again. */
const REMEMBERED = 1_000;

/**
 * Reads JWTs of a kind that come again with each request. To verify the signature was a large part of a small request's work, so the last valid
 * ones are remembered, by their hash: the memory holds no token.
 */
export class RepeatedJwts {
  readonly #deps: JwtDeps;
  readonly #kind: JwtKind;
  readonly #verified = new RecentMap<string, Verified>({ max: REMEMBERED });

  constructor(deps: JwtDeps, kind: JwtKind) {
    this.#deps = deps;
    this.#kind = kind;
  }

  /** As `readJwt`. */
  async read(jwt: string): Promise<JWTPayload | undefined> {
    const name = hash('sha256', jwt, 'base64');
    const known = this.#verified.get(name);
    if (known !== undefined && this.#isValid(known)) return known.claims;
    const verified = await verify(this.#deps, this.#kind, jwt);
    if (verified === undefined) this.#verified.delete(name);
    else this.#verified.set(name, verified);
    return verified?.claims;
  }

  #isValid({ claims, keyId, key, issuer }: Verified): boolean {
    const { keys, clock } = this.#deps;
    // Expired from this second on, as jose has it (RFC 7519 §4.1.4).
    const isOver = Math.floor(clock.now() / 1000) >= (claims.exp ?? 0);
    return !isOver && issuer === this.#deps.issuer() && keys.verifying('access', keyId) === key;
  }
}

async function verify(deps: JwtDeps, kind: JwtKind, jwt: string): Promise<Verified | undefined> {
  if (!isCanonical(jwt)) return undefined;
  const issuer = deps.issuer();
  let used: { keyId: string; key: KeyObject } | undefined;
  try {
    const { payload } = await jwtVerify(
      jwt,
      ({ kid = '' }) => {
        const key = deps.keys.verifying('access', kid);
        if (key === undefined) throw new Error('unknown key');
        used = { keyId: kid, key };
        return key;
      },
      {
        algorithms: ['EdDSA'],
        audience: kind.audience,
        issuer,
        typ: kind.typ,
        currentDate: new Date(deps.clock.now()),
        requiredClaims: ['exp', 'jti', 'sub'],
      },
    );
    return used && { claims: payload, ...used, issuer };
  } catch {
    // Whatever is wrong with a stranger's token, the answer is the same 401.
    return undefined;
  }
}

/**
 * Is each part the one way to write its bytes in base64url? The last character of a signature has bits to spare, and decoders ignore them:
 * without this, a token with another last character is as good (RFC 4648 §3.5).
 */
export function isCanonical(jwt: string): boolean {
  return jwt.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}
