/**
 * Refuses requests that a page of another site makes with the visitor's cookie. Called by every handler that goes by the refresh cookie
 * alone. SameSite=Lax is not enough: every tunnel under the same parent domain is the same site as this API.
 */
import { AppError } from '../../../../base/errors.ts';

export interface CrossSiteRules {
  /** `api.public_url`. */
  readonly publicUrl: () => string;
  readonly corsOrigins: readonly string[];
}

/** Throws `forbidden` for a browser's request from elsewhere. Programs send neither `Origin` nor `Sec-Fetch-Site`, and pass. */
export function refuseCrossSite(headerOf: (name: string) => string | undefined, rules: CrossSiteRules): void {
  const origin = headerOf('origin');
  if (origin !== undefined && rules.corsOrigins.includes(origin)) return;
  const site = headerOf('sec-fetch-site');
  const isElsewhere =
    origin === undefined
      ? site === 'cross-site' || site === 'same-site'
      : site === 'cross-site' || !isOwnOrigin(origin, headerOf('host') ?? '', rules.publicUrl());
  if (isElsewhere)
    throw new AppError(
      'forbidden',
      'The request comes from a page of another site. Send it from the dashboard, or with an access token.',
    );
}

/**
 * The public URL's origin, or the very host that the request went to: a user who opens `localhost` instead of `127.0.0.1` is no stranger.
 * A page can choose neither its Origin nor the Host of its requests.
 */
export function isOwnOrigin(origin: string, host: string, publicUrl: string): boolean {
  const own = new URL(publicUrl);
  return origin === own.origin || origin === `${own.protocol}//${host}`;
}
