/**
 * Challenges: what a log-in gets instead of a session when the account has a second factor. A signed statement that the first factor was
 * right, good for five minutes and one success. Given out by every way in (service.ts, identity providers), redeemed in auth/mfa/login.ts.
 */
import { openLink, type PendingLink, sealLink } from './pending-link.ts';
import { type JwtDeps, readJwt, signJwt } from '../../core/secrets/jwts.ts';
import type { Sealer } from '../../core/secrets/sealing.ts';
import type { UserRow } from '../accounts/rows.ts';

/** Audience and type of its own: a challenge opens no API, and an access token is no challenge. */
const KIND = { typ: 'mfa-challenge+jwt', audience: 'culvert-mfa', lifeSeconds: 5 * 60 };

/** The user of a challenge, with the password that the account has now. */
type Challenged = Pick<UserRow, 'id' | 'passwordHash'>;

export interface Challenge {
  /** The `jti`: what is spent when it has succeeded. */
  readonly id: string;
  readonly userId: string;
  /** Milliseconds. */
  readonly expiresAt: number;
  /** What `isCurrent` compares. */
  readonly passwordMac: string;
  /** To be added to the account when the challenge has succeeded. */
  readonly link: PendingLink | undefined;
}

export class Challenges {
  readonly #deps: JwtDeps & { readonly sealer: Sealer };

  constructor(deps: JwtDeps & { readonly sealer: Sealer }) {
    this.#deps = deps;
  }

  /** For a login that has just shown the first factor of this account. `link` is sealed: addresses of landing pages end up in logs. */
  sign(user: Challenged, link?: PendingLink): Promise<string> {
    return signJwt(this.#deps, KIND, {
      sub: user.id,
      pwd: this.#passwordMac(user),
      ...(link === undefined ? {} : { link: sealLink(this.#deps.sealer, user.id, link) }),
    });
  }

  /** What a valid challenge of ours says; undefined for everything else. Whether it was spent is for the caller to find out. */
  async read(token: string): Promise<Challenge | undefined> {
    const claims = await readJwt(this.#deps, KIND, token);
    const { jti, sub, exp, pwd, link } = claims ?? {};
    if (jti === undefined || sub === undefined || exp === undefined || typeof pwd !== 'string') return undefined;
    return {
      id: jti,
      userId: sub,
      expiresAt: exp * 1000,
      passwordMac: pwd,
      link: typeof link === 'string' ? openLink(this.#deps.sealer, sub, link) : undefined,
    };
  }

  /** Has the account the password that it had then? By the hash and not by the time of the change: clocks are set back. */
  isCurrent(challenge: Challenge, user: Challenged): boolean {
    return challenge.passwordMac === this.#passwordMac(user);
  }

  #passwordMac(user: Challenged): string {
    return this.#deps.sealer.mac(`challenges/${user.id}`, user.passwordHash ?? '');
  }
}
