/**
 * The two paths that a tunnel with a visitor gate keeps for itself: the one to which a sign-in comes back, and the one that ends it. A step of
 * its chain, before all that goes by paths: a rule against `/.` must not lock all visitors out.
 */
import {
  PASS_MS,
  SIGN_OUT_PATH,
  TICKET_PATH,
  nonceHashOf,
  isSameText,
  returnPath,
} from '../../../plane/visitor-tokens.ts';
import { word } from '../../../http1/fields.ts';
import type { EdgeRefusal } from '../../faults/fault.ts';
import type { PolicyRequest, Step, Verdict } from '../step.ts';
import { BROWSER_COOKIE, NONCE_COOKIE, PASS_COOKIE, randomsIn } from './cookies.ts';
import type { VisitorPasses } from './passes.ts';
import { isOwnPageRequest } from './origin.ts';
import { hostOf, isAt, methodOf, targetOf } from './request.ts';
import { type GatedRoute, NO_REFERRER, setCookie, SignIn } from './sign-in.ts';
import { visitorOf } from './step.ts';

const W_TICKET_PATH = word(TICKET_PATH);
const W_SIGN_OUT_PATH = word(SIGN_OUT_PATH);

const STALE: EdgeRefusal = {
  code: 'sign_in_failed',
  detail: 'This login has expired, was used before, or is for another site. Open the site again.',
  fields: [NO_REFERRER],
};
const NO_COOKIES: EdgeRefusal = {
  code: 'sign_in_failed',
  detail: 'Your browser did not send back the login cookie. Allow cookies for this site, then open it again.',
  fields: [NO_REFERRER],
};
/** For a visitor who may come by a link of another site. The Origin of its button's request is checked, and no other page may frame it. */
const ASK_FIRST: EdgeRefusal = {
  code: 'sign_out',
  fields: ['Referrer-Policy: same-origin', 'X-Frame-Options: DENY'],
};
const BUSY: EdgeRefusal = {
  code: 'overloaded',
  detail: 'Too many visitors are logging in. Please open the site again in a minute.',
};

/** The step that answers the two paths. */
export function visitorPaths(route: GatedRoute, passes: VisitorPasses): Step {
  const signIn = new SignIn(route, passes);
  const { tunnelId, visitorGate } = route;
  const publicUrl = new URL(route.publicUrl);

  /** Who is in goes on, whatever this link was: it may have been opened twice. */
  const unlessIn = (request: PolicyRequest, path: string, refusal: EdgeRefusal): EdgeRefusal => {
    const visitor = visitorOf(request, { route, passes });
    return visitor === null || visitor === 'several' ? refusal : goOn(path);
  };

  const takeTicket = (request: PolicyRequest): EdgeRefusal => {
    const place = { tunnelId, version: visitorGate.version, host: hostOf(request) };
    const shown = new URLSearchParams(targetOf(request).slice(TICKET_PATH.length)).get('ticket') ?? '';
    const ticket = passes.ticket(shown, place);
    if (ticket === null) return unlessIn(request, '/', STALE);
    const path = returnPath(ticket.path);
    const nonce = nonceOf(request, ticket.nonceHash);
    if (nonce === undefined)
      return unlessIn(request, path, ticket.again ? NO_COOKIES : signIn.begin(request, { path, again: true }));
    const done = passes.exchange(ticket, nonce);
    if (done === 'used') return unlessIn(request, path, STALE);
    if (done === 'full') return BUSY;
    const { isHttps } = request;
    const lifetime = { seconds: PASS_MS / 1000, isHttps };
    const browser = isHttps ? BROWSER_COOKIE.https : BROWSER_COOKIE.http;
    return goOn(path, setCookie(PASS_COOKIE, done.pass, lifetime), setCookie(browser, done.browser, lifetime));
  };

  return {
    decide: (request: PolicyRequest): Verdict => {
      if (signIn.mustBeHttps(request)) return null;
      const method = methodOf(request);
      if (isAt(request, W_TICKET_PATH)) {
        // What looks at an address before a person does must not use it up.
        return method === 'GET' ? takeTicket(request) : unlessIn(request, '/', signIn.refusal(request));
      }
      if (isAt(request, W_SIGN_OUT_PATH)) {
        const isAsked = (method === 'GET' || method === 'POST') && isOwnPageRequest(request, publicUrl);
        return isAsked ? signedOut(request) : ASK_FIRST;
      }
      return null;
    },
  };
}

/** The nonce goes too: who signs in again at once begins anew. */
function signedOut({ isHttps }: PolicyRequest): EdgeRefusal {
  const scheme = isHttps ? 'https' : 'http';
  const names = [PASS_COOKIE, NONCE_COOKIE[scheme], BROWSER_COOKIE[scheme]];
  return { code: 'signed_out', fields: names.map((name) => setCookie(name, '', { seconds: 0, isHttps })) };
}

function goOn(path: string, ...fields: readonly string[]): EdgeRefusal {
  return { code: 'signed_in', fields: [`Location: ${path}`, ...fields, NO_REFERRER] };
}

/** That of the browser that began, if this is the one. Another browser's ticket would log it in as another person. */
function nonceOf(request: PolicyRequest, nonceHash: string): string | undefined {
  return randomsIn(request, NONCE_COOKIE).find((nonce) => isSameText(nonceHashOf(nonce), nonceHash));
}
