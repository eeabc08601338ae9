/**
 * What `culvert admin` shows to a running server: a JWT that only a reader of the data folder's key file can make. It stands for no account,
 * lives for a minute, and is good for the operators' routes alone, over the data folder's socket alone (api/auth.ts).
 */
import { jwtVerify, SignJWT } from 'jose';
import type { Clock } from '../../base/clock.ts';
import type { OperatorActor } from './actor.ts';
import { isCanonical } from './jwts.ts';
import type { Sealer } from './sealing.ts';

const LIFE_SECONDS = 60;
const AUDIENCE = 'culvert-operator';
/** Keeps it from passing for any other JWT of this server, and the other way round (RFC 8725 §3.11). */
const TYPE = 'operator+jwt';

export class OperatorTokens {
  readonly #key: Uint8Array;
  readonly #clock: Clock;

  constructor(deps: { sealer: Sealer; clock: Clock }) {
    this.#key = deps.sealer.derive('operator-token');
    this.#clock = deps.clock;
  }

  /** Good for a minute from now. */
  async sign(): Promise<string> {
    const issuedAt = Math.floor(this.#clock.now() / 1000);
    return new SignJWT()
      .setProtectedHeader({ alg: 'HS256', typ: TYPE })
      .setAudience(AUDIENCE)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + LIFE_SECONDS)
      .sign(this.#key);
  }

  /** The operator behind a valid token; undefined for everything else. */
  async authenticate(jwt: string, ipAddress: string): Promise<OperatorActor | undefined> {
    if (!isCanonical(jwt)) return undefined;
    try {
      await jwtVerify(jwt, this.#key, {
        algorithms: ['HS256'],
        audience: AUDIENCE,
        typ: TYPE,
        maxTokenAge: LIFE_SECONDS,
        currentDate: new Date(this.#clock.now()),
        requiredClaims: ['exp', 'iat'],
      });
      return { kind: 'operator', orgId: null, userId: null, label: 'operator', ipAddress };
    } catch {
      // Whatever is wrong with a stranger's token, the answer is the same 401.
      return undefined;
    }
  }
}
