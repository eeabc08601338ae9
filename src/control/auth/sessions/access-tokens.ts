/**
 * Access JWTs for people: EdDSA, 15 minutes. A JWT only names a session; who that is, and whether it still lives, is read from the tables
 * at each request (service.ts).
 */
import { ACCESS_TOKEN, ORG_CLAIM } from '../../../plane/access-keys.ts';
import type { UserActor } from '../../core/rules/actor.ts';
import { type JwtDeps, RepeatedJwts, signJwt } from '../../core/secrets/jwts.ts';

export const ACCESS_SECONDS = 15 * 60;
const KIND = { ...ACCESS_TOKEN, lifeSeconds: ACCESS_SECONDS };

export class AccessTokens {
  readonly #deps: JwtDeps;
  readonly #jwts: RepeatedJwts;

  constructor(deps: JwtDeps) {
    this.#deps = deps;
    this.#jwts = new RepeatedJwts(deps, KIND);
  }

  sign({ userId, sessionId, orgId, role, superadmin }: UserActor): Promise<string> {
    return signJwt(this.#deps, KIND, { sub: userId, sid: sessionId, [ORG_CLAIM]: orgId, role, sa: superadmin });
  }

  /**
   * The session that a valid JWT of ours names, and the organization that it was made for: a tab goes on in its own organization while
   * another one has switched. Undefined for everything else.
   */
  async sessionOf(jwt: string): Promise<{ sessionId: string; orgId: string } | undefined> {
    const claims = await this.#jwts.read(jwt);
    const { sid, [ORG_CLAIM]: org } = claims ?? {};
    return typeof sid === 'string' && typeof org === 'string' ? { sessionId: sid, orgId: org } : undefined;
  }
}
