/**
 * Sign-in of a tunnel's visitors with an identity provider. They have no accounts here: the provider vouches for an address, the tunnel's lists
 * say whether it may come in, and a ticket tells the tunnel's own host (plane/visitor-tokens.ts).
 */
import { randomUUID } from 'node:crypto';
import { AppError, messageOf } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import type { NodeControl } from '../../../plane/link.ts';
import { sealTicket, TICKET_MS, TICKET_PATH } from '../../../plane/visitor-tokens.ts';
import type { Store } from '../../db/tx.ts';
import type { IdentityProvider } from '../../providers/oauth.ts';
import type { Sealer } from '../../core/secrets/sealing.ts';
import { spend } from '../../db/spent-once.ts';
import type { RouteMaker } from '../plane/route-maker.ts';
import { type GatedTunnel, gatedTunnel, landingOf } from './landing.ts';
import { isAddress, isListed } from './visitor-address.ts';
import {
  landingOfState,
  makeVisitorState,
  openVisitorState,
  sealVisitorState,
  type ShownState,
  spentVisitorId,
  type VisitorState,
} from './state.ts';

/** SHA-256 in base64url; anything else is no nonce. */
const NONCE_HASH = /^[\w-]{43}$/;

export interface VisitorLoginDeps {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly routes: RouteMaker;
  readonly nodes: Pick<NodeControl, 'narrowingOf'>;
  readonly edgeDomain: string;
  /** Of `edge_auth.provider`; null: not set up. */
  readonly provider: IdentityProvider | null;
  /** How the settings call it. */
  readonly providerId: string;
  /** Signs tickets: what the data plane knows as Snapshot.visitorKey. */
  readonly visitorKey: Buffer;
  readonly apiUrl: () => string;
  readonly log: Logger;
}

export interface VisitorStart {
  readonly tunnelId: string;
  readonly returnTo: string;
  readonly nonceHash: string;
  /** This browser came back with another nonce before. */
  readonly again: boolean;
  /** Let the person choose another account at the provider. */
  readonly chooses: boolean;
}

/** Where the browser goes to sign in, and what it must bring back. */
export interface StartedVisit {
  readonly location: string;
  readonly state: string;
  readonly sealed: string;
}

/** The site of a login. */
export interface VisitedSite {
  readonly host: string;
  /** What they wanted to see there. */
  readonly url: string;
}

export type FinishedVisit = { readonly kind: 'in'; readonly location: string } | NotListed;

/** The address is on no list. */
export interface NotListed {
  readonly kind: 'refused';
  readonly email: string;
  /** The tunnel's host. */
  readonly site: string;
  /** Begins again with another account. */
  readonly retry: string;
  /** The provider vouches for an account's primary address alone: what it is called. Null: for the only one. */
  readonly primaryAt: string | null;
}

export class VisitorLogins {
  readonly #deps: VisitorLoginDeps;

  constructor(deps: VisitorLoginDeps) {
    this.#deps = deps;
  }

  /** Throws `not_found` for a tunnel without a gate, `not_configured`, `unavailable`. */
  async start(input: VisitorStart): Promise<StartedVisit> {
    const { store, sealer, routes, edgeDomain } = this.#deps;
    const { row, version } = this.#tunnel(input.tunnelId);
    const provider = this.#provider();
    const landing = landingOf(store.db, input.returnTo, { row, routes, edgeDomain });
    const nonceHash = NONCE_HASH.test(input.nonceHash) ? input.nonceHash : '';
    const state = makeVisitorState(
      { ...landing, tunnelId: row.id, version, nonceHash, again: input.again },
      store.clock.now(),
    );
    const login = { ...state, redirectUri: this.#redirectUri() };
    const location = await this.#ask(() => provider.start(login, { chooses: input.chooses }));
    return { location: location.href, state: state.state, sealed: sealVisitorState(sealer, state) };
  }

  /**
   * Ends a sign-in: `sealed` is what `start` gave this browser, `answer` the query that the provider sent it back with. Throws
   * `invalid_request` when that was not started here and now, or the provider refused; `email_not_verified`; `not_found` when the gate has gone
   * meanwhile; `not_configured`; `unavailable`.
   */
  async finish(shown: { readonly sealed: string; readonly answer: URLSearchParams }): Promise<FinishedVisit> {
    const provider = this.#provider();
    const state = this.#redeemState(shown);
    const login = { ...state, redirectUri: this.#redirectUri() };
    const person = await this.#ask(() => provider.finish(login, shown.answer));
    const { email } = person;
    if (email === null || !person.emailVerified || !isAddress(email)) {
      throw new AppError(
        'email_not_verified',
        `${provider.name} has no verified email address of yours. Verify your primary address there, then open the site again.`,
      );
    }
    // Read now: the lists may have changed while the person was at the provider.
    const { lists, version } = this.#tunnel(state.tunnelId);
    if (!lists.every((one) => isListed(email, one))) {
      const primaryAt = this.#deps.providerId === 'github' ? provider.name : null;
      return { kind: 'refused', email, site: new URL(state.origin).host, retry: this.#retryUrl(state), primaryAt };
    }
    return { kind: 'in', location: this.#landingUrl(state, { email: email.toLowerCase(), version }) };
  }

  /** Where a sign-in can be begun again; undefined where this browser did not start it. */
  siteOf(shown: ShownState): VisitedSite | undefined {
    const landing = landingOfState(this.#deps.sealer, shown);
    if (landing === undefined) return undefined;
    return { host: new URL(landing.origin).host, url: landing.origin + landing.path };
  }

  #landingUrl(state: VisitorState, { email, version }: { email: string; version: string }): string {
    const { visitorKey, store } = this.#deps;
    const { tunnelId, host, path, nonceHash, again } = state;
    const expiresAt = store.clock.now() + TICKET_MS;
    const ticket = { tunnelId, version, host, email, expiresAt, id: randomUUID(), nonceHash, again, path };
    return `${state.origin}${TICKET_PATH}?ticket=${sealTicket(visitorKey, ticket)}`;
  }

  #retryUrl({ tunnelId, origin, path, nonceHash, again }: VisitorState): string {
    const url = new URL(`${this.#deps.apiUrl()}/edge-auth/start`);
    url.searchParams.set('tunnel_id', tunnelId);
    url.searchParams.set('return_to', origin + path);
    if (nonceHash !== '') url.searchParams.set('nonce', nonceHash);
    if (again) url.searchParams.set('again', '1');
    url.searchParams.set('prompt', 'select_account');
    return url.href;
  }

  /** The same response for an unknown tunnel, and for one without a gate. */
  #tunnel(tunnelId: string): GatedTunnel {
    const found = gatedTunnel(this.#deps.store.db, tunnelId, this.#deps.nodes.narrowingOf(tunnelId)?.visitors ?? null);
    if (found === undefined)
      throw new AppError('not_found', 'This site has no visitor login. Check the URL, or open the site again.');
    return found;
  }

  #provider(): IdentityProvider {
    const { provider, providerId } = this.#deps;
    if (provider === null) {
      throw new AppError(
        'not_configured',
        `You cannot log in to this site: its identity provider is not set up. Tell its owner. The operator must set oauth.${providerId}.client_id and client_secret, or another edge_auth.provider.`,
      );
    }
    return provider;
  }

  /** From the settings and never from the request: a forged Host must not choose where codes are sent. */
  #redirectUri(): string {
    return new URL(`${this.#deps.apiUrl()}/edge-auth/callback`).href;
  }

  /** The state, spent by this very call: of two answers with the same state the second is refused, also while the first is under way. */
  #redeemState(shown: { sealed: string; answer: URLSearchParams }): VisitorState {
    const { store, sealer } = this.#deps;
    const wanted = { sealed: shown.sealed, state: shown.answer.get('state') ?? '' };
    const state = openVisitorState(sealer, wanted, store.clock.now());
    // A power cut may forget this, and costs nothing: the provider takes each code once.
    const isFirst = (known: VisitorState): boolean =>
      store.inTx((tx) => spend(tx, spentVisitorId(known), known.expiresAt), { relaxed: true });
    if (state === undefined || !isFirst(state)) {
      throw new AppError(
        'invalid_request',
        'The login was started in another browser, took too long, or is already done. Open the site again.',
      );
    }
    return state;
  }

  async #ask<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      // Failures of 500 and above are logged where they are answered.
      if (error instanceof AppError && error.status < 500) {
        this.#deps.log.warn({ reason: messageOf(error.cause) }, 'the provider refused a visitor login');
      }
      throw error;
    }
  }
}
