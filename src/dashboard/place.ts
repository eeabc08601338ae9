/** Where the dashboard and its API are. It may be served under `/app`, `/api/app` or a path of a proxy: the address of its own code tells. */

export interface Place {
  /** Path of the dashboard without a slash at the end: what wouter's routes stand below. */
  readonly base: string;
  /** The API, with a slash at its end. */
  readonly api: URL;
}

/** `code`: the address of a file in the folder `assets` of the dashboard. */
export function placeOf(code: string): Place {
  const app = new URL('../', code);
  return { base: app.pathname.replace(/\/$/, ''), api: new URL('../', app) };
}

/** What others put into the address for this page alone. */
export interface Arrival {
  /** A log-in by an identity provider waits for its second factor. */
  readonly mfaChallenge: string | undefined;
}

/**
 * Takes secrets out of the address at once, so that they stay in no history. `oauth_token` is thrown away: whoever wrote the link may have put in
 * one of their own account; the cookie says who came back from a provider.
 */
export function takeArrival(): Arrival {
  const here = new URL(location.href);
  const mfaChallenge = here.searchParams.get('mfa_challenge') ?? undefined;
  here.searchParams.delete('mfa_challenge');
  here.searchParams.delete('oauth_token');
  if (here.href !== location.href) history.replaceState(null, '', here);
  return { mfaChallenge };
}
