/**
 * Log-in with an identity provider. The provider proves a user's identity (providers/oauth.ts); which account that is, and whether it may
 * come in, is decided here, with the rows of identity-rows.ts.
 */
import { AppError, messageOf } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import type { IdentityProvider } from '../../providers/oauth.ts';
import type { Store, Tx } from '../../db/tx.ts';
import { findUserByEmail } from '../accounts/service.ts';
import type { Challenges } from '../sessions/challenges.ts';
import { linkIdentity } from './identity-links.ts';
import type { PendingLink } from '../sessions/pending-link.ts';
import {
  addIdentity,
  claimUnconfirmed,
  findByIdentity,
  insertVouchedUser,
  type ProvenPerson,
  type ProviderId,
  proven,
} from './identity-rows.ts';
import { type LoginState, makeState, openState, sealState, spentId } from './login-state.ts';
import { openKept, sealKept, setAside } from './kept-secrets.ts';
import { homeOrgOf, type NewOrgRules } from '../../organizations/rows.ts';
import type { InstanceSettings } from '../../core/instance.ts';
import type { Outbox } from '../../core/mail/outbox.ts';
import { landingUrl, safeReturnTo } from './return-to.ts';
import type { Sealer } from '../../core/secrets/sealing.ts';
import { type OpenedSession, openSession } from '../sessions/rows.ts';
import { isMfaEnabled, recordOutside, refuseLocked, type UserRow } from '../accounts/rows.ts';
import type { Visit } from '../../core/rules/caller.ts';
import type { Sessions } from '../sessions/service.ts';
import { spend } from '../../db/spent-once.ts';
import type { SignUpMemory } from '../accounts/sign-up-memory.ts';

const PROVIDER_IDS: readonly ProviderId[] = ['google', 'github'];

export interface ProviderLoginDeps {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly outbox: Outbox;
  readonly sessions: Pick<Sessions, 'present'>;
  readonly challenges: Challenges;
  readonly signUps: SignUpMemory;
  /** Null: not set up. */
  readonly providers: Readonly<Record<ProviderId, IdentityProvider | null>>;
  readonly newOrg: NewOrgRules;
  readonly settings: () => Pick<InstanceSettings, 'name' | 'signup' | 'mail'>;
  readonly apiUrl: () => string;
  readonly log: Logger;
}

/** What a login page shows of this server. */
export interface LoginOptions {
  readonly name: string | null;
  readonly signup: 'open' | 'closed';
  readonly mail: 'on' | 'off';
  readonly providers: ReadonlyArray<{ readonly id: ProviderId; readonly name: string }>;
}

/** Where the browser goes to log in, and what it must bring back. */
export interface StartedLogin {
  readonly location: string;
  readonly state: string;
  readonly sealed: string;
}

/** Where the browser goes now. With a second factor there is no session yet. */
export interface FinishedLogin {
  readonly location: string;
  readonly refreshToken: string | undefined;
  /** Sealed, for a cookie: what the page there had by its address, which the new one does not tell. */
  readonly kept: string | undefined;
}

/** A user that a provider has vouched for, before the login. */
interface Arrival {
  readonly provider: ProviderId;
  readonly person: ProvenPerson;
  readonly visit: Visit;
}

export class ProviderLogins {
  readonly #deps: ProviderLoginDeps;

  constructor(deps: ProviderLoginDeps) {
    this.#deps = deps;
  }

  /** The login options of this server, for a login page. */
  loginOptions(): LoginOptions {
    const { providers, settings } = this.#deps;
    const { name, signup, mail } = settings();
    return {
      name,
      signup,
      mail: mail.transport === 'log' ? 'off' : 'on',
      providers: PROVIDER_IDS.flatMap((id) => {
        const provider = providers[id];
        return provider === null ? [] : [{ id, name: provider.name }];
      }),
    };
  }

  /** Throws `not_configured`, and `unavailable` when the provider can't be reached. */
  async start(id: ProviderId, returnTo: string): Promise<StartedLogin> {
    const { store, sealer, apiUrl } = this.#deps;
    const provider = this.#provider(id);
    const state = makeState({ provider: id, returnTo: safeReturnTo(returnTo, apiUrl()) }, store.clock.now());
    const location = await this.#ask(id, () => provider.start({ ...state, redirectUri: this.#redirectUri(id) }));
    return { location: location.href, state: state.state, sealed: sealState(sealer, state) };
  }

  /**
   * Ends a log-in: `sealed` is what `start` gave this browser, `answer` the query that the provider sent it back with. Throws
   * `invalid_request` when that was not started here and now, or the provider refused; `email_not_verified`; `forbidden` when the person is
   * new and sign-up is closed, or the account is locked; `not_configured`; `unavailable`.
   */
  async finish(
    id: ProviderId,
    shown: { readonly sealed: string; readonly answer: URLSearchParams },
    visit: Visit,
  ): Promise<FinishedLogin> {
    const { store, sealer, sessions, challenges, apiUrl } = this.#deps;
    const provider = this.#provider(id);
    const state = this.#redeemState(id, shown);
    const login = { ...state, redirectUri: this.#redirectUri(id) };
    const person = proven(await this.#ask(id, () => provider.finish(login, shown.answer)), provider.name);
    const outcome = store.inTx((tx) => this.#admit(tx, { provider: id, person, visit }));
    const { place, kept: secrets } = setAside(state.returnTo);
    const kept = secrets === undefined ? undefined : sealKept(sealer, secrets, store.clock.now());
    if ('challenged' in outcome) {
      const gift = { mfa_challenge: await challenges.sign(outcome.challenged, outcome.link) };
      return { location: landingUrl(apiUrl(), place, gift), refreshToken: undefined, kept };
    }
    const { accessToken, refreshToken } = await sessions.present(outcome.opened);
    return { location: landingUrl(apiUrl(), place, { oauth_token: accessToken }), refreshToken, kept };
  }

  /** What `finish` has kept for this page, by what it sealed: a query; undefined for everything else. `page`: what stands after `/app/`. */
  openKept(shown: { readonly sealed: string; readonly page: string }): string | undefined {
    const { store, sealer } = this.#deps;
    return openKept(sealer, shown, store.clock.now());
  }

  #provider(id: ProviderId): IdentityProvider {
    const provider = this.#deps.providers[id];
    if (provider === null) {
      throw new AppError(
        'not_configured',
        `Login with ${id} is not set up. The operator must set oauth.${id}.client_id.`,
      );
    }
    return provider;
  }

  /** From the settings and never from the request: a forged Host must not choose where codes are sent. */
  #redirectUri(id: ProviderId): string {
    return new URL(`${this.#deps.apiUrl()}/auth/oauth/${id}/callback`).href;
  }

  /** The state, spent by this very call: of two answers with the same state the second is refused, also while the first is under way. */
  #redeemState(id: ProviderId, shown: { sealed: string; answer: URLSearchParams }): LoginState {
    const { store, sealer } = this.#deps;
    const wanted = { sealed: shown.sealed, state: shown.answer.get('state') ?? '', provider: id };
    const state = openState(sealer, wanted, store.clock.now());
    // A power cut may forget this, and costs nothing: the provider takes each code once. The wait for the disk would stop all requests.
    const isFirst = (known: LoginState): boolean =>
      store.inTx((tx) => spend(tx, spentId(known), known.expiresAt), { relaxed: true });
    if (state === undefined || !isFirst(state)) {
      throw new AppError(
        'invalid_request',
        'The login was started in another browser, or took too long. Log in again.',
      );
    }
    return state;
  }

  async #ask<T>(id: ProviderId, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      // Failures of 500 and above are logged where they are answered.
      if (error instanceof AppError && error.status < 500) {
        this.#deps.log.warn({ provider: id, reason: messageOf(error.cause) }, 'a provider login was refused');
      }
      throw error;
    }
  }

  #admit(tx: Tx, arrival: Arrival): { opened: OpenedSession } | { challenged: UserRow; link: PendingLink | undefined } {
    const known = findByIdentity(tx, arrival.person);
    const found = known ?? findUserByEmail(tx.db, arrival.person.email);
    if (found !== undefined) refuseLocked(found);
    if (found !== undefined && isMfaEnabled(tx.db, found.id)) {
      return { challenged: found, link: known === undefined ? this.#linkOf(arrival) : undefined };
    }
    const user = known ?? (found === undefined ? this.#signUp(tx, arrival) : this.#link(tx, found, arrival));
    const org = homeOrgOf(tx, user, this.#deps.newOrg);
    return { opened: openSession(tx, { user, org, visit: arrival.visit }) };
  }

  /** For the account with the same address. */
  #link(tx: Tx, found: UserRow, arrival: Arrival): UserRow {
    const user = found.emailVerifiedAt === null ? claimUnconfirmed(tx, found, arrival.person) : found;
    if (user !== found) tx.onCommit(() => this.#deps.signUps.forget(user.email));
    linkIdentity(tx, this.#deps.outbox, { user, link: this.#linkOf(arrival), visit: arrival.visit });
    return user;
  }

  #linkOf({ provider, person }: Arrival): PendingLink {
    return { provider, providerName: this.#provider(provider).name, person };
  }

  #signUp(tx: Tx, arrival: Arrival): UserRow {
    if (this.#deps.settings().signup === 'closed') {
      throw new AppError('forbidden', 'Sign-up is closed. Ask an operator of this server for an account.');
    }
    const user = insertVouchedUser(tx, arrival.person, this.#deps.newOrg);
    addIdentity(tx, user, arrival);
    recordOutside(tx, user, { action: 'auth.signup', visit: arrival.visit });
    return user;
  }
}
