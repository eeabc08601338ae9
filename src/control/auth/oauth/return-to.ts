/**
 * Where a browser goes after a login with a provider: a path of this server, whatever was asked for. An address that leaves it
 * would hand the access token to a stranger (open redirect).
 */

/** Longer than any path of the dashboard, short enough for a cookie. */
const MAX_LENGTH = 1024;
const HOME = '/app/';

/** The path with query and fragment, made plain; `/` for everything that is not, or might be taken not to be, a path of this server. */
export function safeReturnTo(asked: string, publicUrl: string): string {
  // A backslash is a slash to browsers; tabs and line ends inside vanish; `//host` is another server.
  if (asked.length > MAX_LENGTH || !asked.startsWith('/') || hasOddCharacters(asked)) return '/';
  const base = new URL(publicUrl);
  const url = URL.canParse(asked, base) ? new URL(asked, base) : undefined;
  if (url === undefined || url.origin !== base.origin || url.username !== '' || url.password !== '') return '/';
  // A proxy or a router that decodes the path once more must not find another host in it either.
  const decoded = decodePath(url.pathname);
  if (decoded === undefined || hasOddCharacters(decoded) || /^\/\/|:\/\//.test(decoded)) return '/';
  return url.pathname + url.search + url.hash;
}

/** Where to send the browser, with what it was promised. `returnTo` comes from `safeReturnTo`; its own query stays. */
export function landingUrl(
  publicUrl: string,
  returnTo: string,
  gift: { readonly oauth_token: string } | { readonly mfa_challenge: string },
): string {
  const url = new URL(publicUrl + (returnTo === '/' ? HOME : returnTo));
  // What the asker wrote under these names is not ours: it would log the user in as another one.
  for (const name of ['oauth_token', 'mfa_challenge']) url.searchParams.delete(name);
  for (const [name, value] of Object.entries(gift)) url.searchParams.set(name, value);
  return url.href;
}

function hasOddCharacters(text: string): boolean {
  return /[\\\p{Cc}\u2028\u2029]/u.test(text);
}

/** Decoded until it no longer changes, three times at most: what is hidden deeper is no honest path. */
function decodePath(path: string): string | undefined {
  let text = path;
  for (let round = 0; round < 3; round++) {
    let next: string;
    try {
      next = decodeURIComponent(text);
    } catch {
      return undefined;
    }
    if (next === text) return text;
    text = next;
  }
  return undefined;
}
