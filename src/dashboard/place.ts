/** The base paths of the dashboard and its API, read from the address of the dashboard's own code: it may be served under a proxy's path. */

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

/** What others gave this page alone, by its address: kept here, in memory, as long as the tab shows this page. */
export class Arrival {
  /** Of a mail: what sets a new password, or what an invitation is accepted with. */
  readonly token: string | undefined;
  /** Of a command line that waits for approval. */
  readonly deviceCode: string | undefined;
  #mfaChallenge: string | undefined;

  constructor(take: (name: string) => string | undefined) {
    this.token = take('token');
    this.deviceCode = take('device_code');
    this.#mfaChallenge = take('mfa_challenge');
  }

  /** A log-in by an identity provider waits for its second factor. */
  get mfaChallenge(): string | undefined {
    return this.#mfaChallenge;
  }

  /** It is good once: to be called when it was used, or given up. */
  forgetChallenge(): void {
    this.#mfaChallenge = undefined;
  }
}

/**
 * Takes secrets out of the address at once, so that they stay in no history. `oauth_token` is dropped: the author of the link may have put in
 * one of their own account; the cookie says who came back from a provider. What the page had before its reader went there is in the document.
 */
export function takeArrival(): Arrival {
  const here = new URL(location.href);
  const kept = takeKept();
  const take = (name: string): string | undefined => {
    const value = here.searchParams.get(name) ?? kept.get(name) ?? '';
    here.searchParams.delete(name);
    return value === '' ? undefined : value;
  };
  const arrival = new Arrival(take);
  take('oauth_token');
  if (here.href !== location.href) history.replaceState(null, '', here);
  return arrival;
}

function takeKept(): URLSearchParams {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="culvert-kept"]');
  meta?.remove();
  return new URLSearchParams(meta?.content);
}
