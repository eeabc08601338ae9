/**
 * What `culvert admin` shows to a running server: a JWT that only a reader of the data folder's key file can make. It stands for no account,
 * lives for a minute, and is good for the operators' routes alone, over the data folder's socket alone (core/http/auth.ts).
 */
import { jwtVerify, SignJWT } from 'jose';
import type { Clock } from '../../base/clock.ts';
import type { OperatorActor } from '../core/rules/actor.ts';
import { isCanonical } from '../core/secrets/jwts.ts';
import type { Sealer } from '../core/secrets/sealing.ts';

const LIFE_SECONDS = 60;
const AUDIENCE = 'culvert-operator';
/** Keeps it from passing for any other JWT of this server, and the other way round (RFC 8725 §3.11). */
const TYPE = 'operator+jwt';
/** The longest that Linux knows. */
const MAX_USER_NAME = 32;
const NOT_IN_A_NAME = /[^\p{L}\p{N}._@\\-]/gu;

export class OperatorTokens {
  readonly #key: Uint8Array;
  readonly #clock: Clock;

  constructor(deps: { sealer: Sealer; clock: Clock }) {
    this.#key = deps.sealer.derive('operator-token');
    this.#clock = deps.clock;
  }

  /**
   * Good for a minute from now. `user`: who types the command, as the operating system says. It is there for the audit log, and proves nothing:
   * a reader of the key file can write any name.
   */
  async sign(user: string): Promise<string> {
    const issuedAt = Math.floor(this.#clock.now() / 1000);
    return new SignJWT({ user })
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
      const { payload } = await jwtVerify(jwt, this.#key, {
        algorithms: ['HS256'],
        audience: AUDIENCE,
        typ: TYPE,
        maxTokenAge: LIFE_SECONDS,
        currentDate: new Date(this.#clock.now()),
        requiredClaims: ['exp', 'iat'],
      });
      return { kind: 'operator', orgId: null, userId: null, label: labelOf(payload['user']), ipAddress };
    } catch {
      // Whatever is wrong with a stranger's token, the answer is the same 401.
      return undefined;
    }
  }
}

/** For the audit log, e.g. `operator (root)`. */
function labelOf(user: unknown): string {
  const name = typeof user === 'string' ? user.replaceAll(NOT_IN_A_NAME, '').slice(0, MAX_USER_NAME) : '';
  return name === '' ? 'operator' : `operator (${name})`;
}
