/**
 * Challenges: what a log-in gets instead of a session when the account has a second factor. A signed statement that the first factor was
 * right, good for five minutes and one success. Given out by every way in (sessions.ts, identity providers), redeemed in mfa-login.ts.
 */
import { randomUUID } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import type { AccessTokenDeps } from './access-tokens.ts';

export const CHALLENGE_SECONDS = 5 * 60;
/** Audience and type of its own: a challenge opens no API, and an access token is no challenge (RFC 8725 §3.11, §3.12). */
const AUDIENCE = 'culvert-mfa';
const TYPE = 'mfa-challenge+jwt';

export interface Challenge {
  /** The `jti`: what is spent when it has succeeded. */
  readonly id: string;
  readonly userId: string;
  /** Milliseconds. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

export class Challenges {
  readonly #deps: AccessTokenDeps;

  constructor(deps: AccessTokenDeps) {
    this.#deps = deps;
  }

  /** For whoever has just shown the first factor of this account. */
  async sign(userId: string): Promise<string> {
    const key = this.#deps.keys.signing('access');
    // With milliseconds (a NumericDate may have a fraction): a change of password in the same second is told apart.
    const issuedAt = this.#deps.clock.now() / 1000;
    return new SignJWT()
      .setProtectedHeader({ alg: 'EdDSA', kid: key.id, typ: TYPE })
      .setIssuer(this.#deps.issuer())
      .setAudience(AUDIENCE)
      .setSubject(userId)
      .setJti(randomUUID())
      .setIssuedAt(issuedAt)
      .setExpirationTime(Math.floor(issuedAt) + CHALLENGE_SECONDS)
      .sign(key.privateKey);
  }

  /** What a valid challenge of ours says; undefined for everything else. Whether it was spent is for the caller to find out. */
  async read(token: string): Promise<Challenge | undefined> {
    try {
      const { payload } = await jwtVerify(
        token,
        (header) => {
          const key = this.#deps.keys.verifying('access', header.kid ?? '');
          if (key === undefined) throw new Error('unknown key');
          return key;
        },
        {
          algorithms: ['EdDSA'],
          audience: AUDIENCE,
          issuer: this.#deps.issuer(),
          typ: TYPE,
          currentDate: new Date(this.#deps.clock.now()),
          requiredClaims: ['exp', 'iat', 'jti', 'sub'],
        },
      );
      const { jti, sub, iat, exp } = payload;
      if (jti === undefined || sub === undefined || iat === undefined || exp === undefined) return undefined;
      return { id: jti, userId: sub, issuedAt: Math.round(iat * 1000), expiresAt: exp * 1000 };
    } catch {
      // Whatever is wrong with a stranger's token, the answer is the same 401.
      return undefined;
    }
  }
}
