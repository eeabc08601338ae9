/**
 * Access JWTs for people: EdDSA, 15 minutes (rest-api.md "Authentication"). A JWT only names a session; who that is, and whether it
 * still lives, is read from the tables at each request (sessions.ts).
 */
import { randomUUID } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import type { Clock } from '../../base/clock.ts';
import type { UserActor } from './actor.ts';
import type { Keys } from './keys.ts';

export const ACCESS_SECONDS = 15 * 60;
const AUDIENCE = 'culvert-api';
/** RFC 9068: keeps other JWTs of this server (challenge tokens) from passing for one. */
const TYPE = 'at+jwt';

export interface AccessTokenDeps {
  readonly keys: Keys;
  readonly clock: Clock;
  /** The API's public URL; known once its listener is. */
  readonly issuer: () => string;
}

export class AccessTokens {
  readonly #deps: AccessTokenDeps;

  constructor(deps: AccessTokenDeps) {
    this.#deps = deps;
  }

  async sign(actor: UserActor): Promise<string> {
    const key = this.#deps.keys.signing('access');
    const issuedAt = Math.floor(this.#deps.clock.now() / 1000);
    return new SignJWT({ sid: actor.sessionId, org: actor.orgId, role: actor.role, sa: actor.superadmin })
      .setProtectedHeader({ alg: 'EdDSA', kid: key.id, typ: TYPE })
      .setIssuer(this.#deps.issuer())
      .setAudience(AUDIENCE)
      .setSubject(actor.userId)
      .setJti(randomUUID())
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + ACCESS_SECONDS)
      .sign(key.privateKey);
  }

  /**
   * The session that a valid JWT of ours names, and the organization that it was made for: a tab goes on in its own organization while
   * another one has switched. Undefined for everything else.
   */
  async sessionOf(jwt: string): Promise<{ sessionId: string; orgId: string } | undefined> {
    try {
      const { payload } = await jwtVerify(
        jwt,
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
          requiredClaims: ['exp', 'sub', 'sid', 'org'],
        },
      );
      const { sid, org } = payload;
      return typeof sid === 'string' && typeof org === 'string' ? { sessionId: sid, orgId: org } : undefined;
    } catch {
      // Whatever is wrong with a stranger's token, the answer is the same 401.
      return undefined;
    }
  }
}
