/**
 * The response to a visitor without a pass: browsers go to the login, programs get a refusal. Used by
 * step.ts and paths.ts.
 */
import type { Route, VisitorGate } from '../../../plane/routes.ts';
import { nonceHashOf, returnPath } from '../../../plane/visitor-tokens.ts';
import type { EdgeRefusal } from '../../faults/fault.ts';
import type { PolicyRequest } from '../step.ts';
import { type CookieName, newRandom, NONCE_COOKIE, randomsIn } from './cookies.ts';
import { isOtherPageRequest } from './origin.ts';
import type { VisitorPasses } from './passes.ts';
import { authorityOf, hostOf, isNavigation, isOfBrowser, targetOf } from './request.ts';

/** As long as the provider is given. */
const NONCE_SECONDS = 600;
/** No address of a step of the way goes to another site. */
export const NO_REFERRER = 'Referrer-Policy: no-referrer';

const NOT_SHOWN: EdgeRefusal = {
  code: 'sign_in_failed',
  detail:
    'You logged in, but your browser did not send the login cookie. Delete the cookies of this site and of its parent domains, and allow cookies for this site. Then open it again in 30 seconds.',
  fields: [NO_REFERRER],
};

/** A route that has a visitor gate. */
export type GatedRoute = Route & { readonly visitorGate: VisitorGate };

export class SignIn {
  readonly #gate: VisitorGate;
  readonly #subdomain: string;
  readonly #publicUrl: URL;
  readonly #tunnelId: string;
  readonly #passes: VisitorPasses;

  constructor({ visitorGate, tunnelId, subdomain, publicUrl }: GatedRoute, passes: VisitorPasses) {
    this.#gate = visitorGate;
    this.#tunnelId = tunnelId;
    this.#subdomain = subdomain;
    this.#publicUrl = new URL(publicUrl);
    this.#passes = passes;
  }

  /** For a request without a pass. */
  refusal(request: PolicyRequest): EdgeRefusal {
    if (!isNavigation(request)) return this.#turnAway(request);
    if (this.#hasJustReturned(request)) return NOT_SHOWN;
    return this.begin(request, { path: targetOf(request), again: false });
  }

  /** Where the public address is https nothing of a sign-in goes over plain http: neither its begin nor what it ends with. */
  mustBeHttps(request: PolicyRequest): boolean {
    return this.#publicUrl.protocol === 'https:' && !request.isHttps;
  }

  /** For a request that must be https and is not. */
  plainRefusal(request: PolicyRequest): EdgeRefusal {
    if (!isNavigation(request)) return this.#turnAway(request);
    // From a browser that believes to be on https already, which would only come back.
    if (isOfBrowser(request)) return this.#behindProxy(request);
    return { code: 'sign_in', fields: [`Location: ${this.#here(request)}${targetOf(request)}`] };
  }

  /** Sends the browser to the identity provider by way of the API, with a nonce that ties the answer to it. */
  begin(request: PolicyRequest, to: { readonly path: string; readonly again: boolean }): EdgeRefusal {
    const { isHttps } = request;
    const name = isHttps ? NONCE_COOKIE.https : NONCE_COOKIE.http;
    // One for all tabs of a browser: the last one of several would undo the others.
    const nonce = randomsIn(request, NONCE_COOKIE)[0] ?? newRandom();
    const url = new URL(this.#gate.signInUrl);
    const { searchParams } = url;
    searchParams.set('return_to', `${isHttps ? 'https' : 'http'}://${authorityOf(request)}${returnPath(to.path)}`);
    searchParams.set('nonce', nonceHashOf(nonce));
    if (to.again) searchParams.set('again', '1');
    return {
      code: 'sign_in',
      fields: [`Location: ${url.href}`, setCookie(name, nonce, { seconds: NONCE_SECONDS, isHttps }), NO_REFERRER],
    };
  }

  #hasJustReturned(request: PolicyRequest): boolean {
    const place = { tunnelId: this.#tunnelId, version: this.#gate.version, host: hostOf(request) };
    return this.#passes.haveJustReturned(randomsIn(request, NONCE_COOKIE), place);
  }

  #behindProxy(request: PolicyRequest): EdgeRefusal {
    return {
      code: 'sign_in_failed',
      detail: `This site requires HTTPS for login. Open ${this.#here(request)}/. If you are already there, the operator must add the proxy in front of this server to api.trusted_proxies.`,
    };
  }

  /** For what a page of another site makes the browser do. Said before the pass is looked at: that page learns nothing of it. */
  othersRefusal(request: PolicyRequest): EdgeRefusal | null {
    if (!isOtherPageRequest(request, this.#publicUrl)) return null;
    const own = `This request came from another site, so a login at ${this.#here(request)} does not apply to it.`;
    return this.#unauthorized(`${own} Open the site directly, or ask its owner for access without cookies.`);
  }

  #turnAway(request: PolicyRequest): EdgeRefusal {
    const where = `${this.#here(request)}/`;
    return this.#unauthorized(
      `This site requires a login. Open ${where} in a browser and log in. For a script or an API client, ask the owner of the site for access without a browser.`,
    );
  }

  #unauthorized(detail: string): EdgeRefusal {
    const fields = [`WWW-Authenticate: Culvert-Visitor realm="${this.#subdomain}"`];
    return { code: 'unauthorized', detail, fields };
  }

  /** The origin that the visitor has asked for, as it is to be asked for. */
  #here(request: PolicyRequest): string {
    const { protocol, port } = this.#publicUrl;
    return `${protocol}//${hostOf(request)}${port === '' ? '' : `:${port}`}`;
  }
}

/** A cookie of this host alone. */
export function setCookie(
  name: CookieName,
  value: string,
  of: { readonly seconds: number; readonly isHttps: boolean },
): string {
  const secure = of.isHttps ? '; Secure' : '';
  return `Set-Cookie: ${name.text}=${value}; Path=/; Max-Age=${of.seconds}; HttpOnly; SameSite=Lax${secure}`;
}
