/**
 * The binding of a refresh cookie to the browser that logged in. A page of a sibling host can plant a refresh cookie for the whole parent
 * domain; it cannot plant a `__Host-` cookie. So a browser shows both, and the second is a MAC over the part that all refresh cookies of one
 * session share: it survives rotation, costs no row, and only this server can compute it. Called by refresh.ts.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Sealer } from '../../core/secrets/sealing.ts';
import { familyOf, isWellFormed } from './refresh-rows.ts';

export class RefreshBinding {
  readonly #key: Buffer;

  constructor(sealer: Pick<Sealer, 'derive'>) {
    this.#key = sealer.derive('refresh_binding');
  }

  /** The value of the companion cookie: the same for all refresh cookies of a session. */
  companionOf(refreshToken: string): string {
    return this.#mac(refreshToken).toString('base64url');
  }

  /** True when `companion` was set together with a refresh cookie of this session. In constant time. */
  fits(refreshToken: string, companion: string): boolean {
    // A head has room for a thousand short values, and each would cost a MAC.
    if (!isWellFormed(refreshToken)) return false;
    const shown = Buffer.from(companion, 'base64url');
    const wanted = this.#mac(refreshToken);
    return shown.length === wanted.length && timingSafeEqual(shown, wanted);
  }

  #mac(refreshToken: string): Buffer {
    return createHmac('sha256', this.#key).update(familyOf(refreshToken)).digest();
  }
}
