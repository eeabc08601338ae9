/**
 * Which page made a browser send a request: one of the very host that is asked, or another's. Tunnels are neighbours under one domain, and to
 * browsers one site: SameSite=Lax keeps a visitor's pass from no neighbour. Asked by step.ts and paths.ts.
 */
import { word } from '../../../http1/fields.ts';
import type { PolicyRequest } from '../step.ts';
import { authorityOf, fieldValue, hostOf, methodOf } from './request.ts';

const ORIGIN = word('origin');
const SEC_FETCH_SITE = word('sec-fetch-site');

/**
 * Would this be done with the visitor's pass by a page of another host? A WebSocket, which such a page could read too, and what is neither
 * GET, HEAD nor OPTIONS. Those pass: a link into the site is one, and browsers let no other page read them unless the service says so.
 */
export function isOtherPageRequest(request: PolicyRequest, publicUrl: URL): boolean {
  const isUpgrade = request.head.upgradeCount > 0;
  if (!isUpgrade && isSafe(methodOf(request))) return false;
  const page = isUpgrade ? null : saysWhichPage(request);
  if (page === 'own') return false;
  // Browsers always say it of these; programs, which no page makes send them, need not.
  const origin = fieldValue(request, ORIGIN);
  return origin === null ? page !== null : !isOwnOrigin(request, origin, publicUrl);
}

/** Is it known to be this host's own page, or the person itself, that asks? Older browsers say it of POST alone, by Origin; so do all over plain http. */
export function isOwnPageRequest(request: PolicyRequest, publicUrl: URL): boolean {
  const page = saysWhichPage(request);
  if (page !== null) return page === 'own';
  const origin = methodOf(request) === 'POST' ? fieldValue(request, ORIGIN) : null;
  return origin !== null && isOwnOrigin(request, origin, publicUrl);
}

function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

/** What the browser says, where it says anything. A word that is not known counts as another page. */
function saysWhichPage(request: PolicyRequest): 'own' | 'another' | null {
  const site = fieldValue(request, SEC_FETCH_SITE)?.toLowerCase();
  if (site === undefined) return null;
  return site === 'same-origin' || site === 'none' ? 'own' : 'another';
}

/** Scheme, host and port that were asked; the public port too: a proxy in front may leave it out of the Host that it passes on. */
function isOwnOrigin(request: PolicyRequest, origin: string, { protocol, port }: URL): boolean {
  const shown = URL.parse(origin)?.origin;
  const scheme = request.isHttps ? 'https:' : 'http:';
  const own = URL.parse(`${scheme}//${authorityOf(request)}`)?.origin;
  if (shown === undefined || own === undefined) return false;
  return shown === own || (protocol === scheme && shown === URL.parse(`${scheme}//${hostOf(request)}:${port}`)?.origin);
}
