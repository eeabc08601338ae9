/**
 * `jwt_validation` as a step: decides at once about a token that it has lately found good, later about all others. One cache of good tokens
 * per node, bounded: what falls out is verified again.
 */
import { hash } from 'node:crypto';
import type { Clock } from '../../../base/clock.ts';
import { RecentMap } from '../../../base/limits/recent-map.ts';
import type { AccessKey } from '../../../plane/access-keys.ts';
import type { JwtAction } from '../../../plane/policy.ts';
import type { EdgeRefusal } from '../../faults/fault.ts';
import { authorizationLine } from '../password/authorization.ts';
import { bearerIn } from './bearer.ts';
import type { JwtCheck } from './check.ts';
import type { PolicyRequest, Step, Verdict } from '../step.ts';

const MAX_GOOD = 10_000;
/** Tokens of a withdrawn key are still accepted for this time. */
const GOOD_MS = 60_000;

const INVALID: EdgeRefusal = { code: 'invalid_token', fields: ['WWW-Authenticate: Bearer error="invalid_token"'] };
const FAILED: EdgeRefusal = { code: 'policy_failed' };

interface Good {
  /** By the wall clock. */
  readonly expiresAt: number;
  /** By the monotonic one. */
  readonly untilMs: number;
  /** One to this server itself. */
  readonly isOwn: boolean;
}

export class JwtSteps {
  readonly #check: JwtCheck;
  readonly #clock: Clock;
  /** By step and SHA-256 of the token. */
  readonly #good = new RecentMap<string, Good>({ max: MAX_GOOD });
  #steps = 0;

  constructor(check: JwtCheck, clock: Clock) {
    this.#check = check;
    this.#clock = clock;
  }

  /** This server's access keys from now on. */
  useOwnKeys(keys: readonly AccessKey[]): void {
    this.#check.useOwnKeys(keys);
  }

  /** Is the request's token an access token to this server? The owner of the service could act with it as the visitor. */
  isOwn({ bytes, head, ownToken }: PolicyRequest): boolean {
    if (ownToken !== null) return ownToken;
    const line = authorizationLine(bytes, head);
    const token = line < 0 ? null : bearerIn(bytes, head, line);
    return token !== null && this.#check.isOwn(token);
  }

  /** A step of its own: what another one has found good is not good for this one. */
  step(action: JwtAction, orgId: string): Step {
    const id = ++this.#steps;
    const step: Step = {
      decidesLater: true,
      decide: (request: PolicyRequest): Verdict | Promise<Verdict> => {
        const { bytes, head, shown } = request;
        const line = authorizationLine(bytes, head);
        if (line < 0) return INVALID;
        const nowMs = this.#clock.monotonic();
        if (shown.isKnown(step, bytes, head, line, nowMs)) {
          request.ownToken = shown.isOwn;
          return null;
        }
        const token = bearerIn(bytes, head, line);
        if (token === null) return INVALID;
        const key = `${id} ${hash('sha256', token, 'base64')}`;
        const known = this.#good.get(key);
        if (known === undefined) return this.#find(token, { action, orgId }, key);
        const leftMs = Math.min(known.expiresAt - this.#clock.now(), known.untilMs - nowMs);
        if (leftMs <= 0) return this.#find(token, { action, orgId }, key);
        request.ownToken = known.isOwn;
        shown.keep(step, bytes, head, line, { untilMs: nowMs + leftMs, isOwn: known.isOwn });
        return null;
      },
    };
    return step;
  }

  async #find(token: string, of: { action: JwtAction; orgId: string }, key: string): Promise<Verdict> {
    const finding = await this.#check.find(token, of.action, of.orgId);
    if (finding.kind === 'unknown') return FAILED;
    if (finding.kind === 'bad') return INVALID;
    const untilMs = this.#clock.monotonic() + GOOD_MS;
    this.#good.set(key, { expiresAt: finding.expiresAt, untilMs, isOwn: this.#check.isOwn(token) });
    return null;
  }
}
