/**
 * How this server signs and reads its own JWTs: EdDSA with the access key, a type and an audience per kind, so that none passes for
 * another (RFC 8725 §3.11, §3.12). What a kind says, and for how long, is in its own file (auth/sessions/access-tokens.ts, auth/sessions/challenges.ts).
 */
import { randomUUID } from 'node:crypto';
import { type JWTPayload, jwtVerify, SignJWT } from 'jose';
import type { Clock } from '../../../base/clock.ts';
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
  if (!isCanonical(jwt)) return undefined;
  try {
    const { payload } = await jwtVerify(
      jwt,
      (header) => {
        const key = deps.keys.verifying('access', header.kid ?? '');
        if (key === undefined) throw new Error('unknown key');
        return key;
      },
      {
        algorithms: ['EdDSA'],
        audience: kind.audience,
        issuer: deps.issuer(),
        typ: kind.typ,
        currentDate: new Date(deps.clock.now()),
        requiredClaims: ['exp', 'jti', 'sub'],
      },
    );
    return payload;
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
