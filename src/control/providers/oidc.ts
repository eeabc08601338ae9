/**
 * An OpenID Connect issuer as identity provider: discovery, authorization code flow with PKCE and nonce, and an ID token of which signature,
 * issuer, audience, nonce and times are checked by openid-client.
 */
import type { Configuration, ServerMetadata } from 'openid-client';
import { type Clock, HOUR_MS } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { fetchFor } from './bounded-fetch.ts';
import {
  CALL_SECONDS,
  type ClientCredentials,
  type Finding,
  findingOf,
  type IdentityProvider,
  type LoginSecrets,
  notBelieved,
  refusalOf,
  type VouchedPerson,
} from './oauth.ts';

export interface OidcOptions extends ClientCredentials {
  /** Without a slash at its end. Plain http is for issuers on this machine: the settings refuse any other. */
  readonly issuer: string;
  /** The issuer must have a public address. */
  readonly isPublic?: boolean;
}

/** An issuer moves its endpoints with notice; keys are read anew by openid-client every five minutes, and when an unknown one is used. */
const FRESH_MS = HOUR_MS;
/** Between two tries to read the metadata: log-ins of a minute must not become a hundred calls of an issuer that is down. */
const RETRY_MS = 5_000;

const GOOGLE = 'https://accounts.google.com';

const loadClient = () => import('openid-client');

export class OidcProvider implements IdentityProvider {
  readonly name: string;
  readonly #options: OidcOptions;
  readonly #clock: Clock;
  #known: { readonly config: Configuration; readonly readAt: number } | undefined;
  #reading: Promise<Configuration> | undefined;
  #failure: { readonly error: AppError; readonly at: number } | undefined;

  constructor(options: OidcOptions, clock: Clock) {
    const { host } = new URL(options.issuer);
    this.name = options.issuer === GOOGLE ? 'Google' : host;
    this.#options = options;
    this.#clock = clock;
  }

  async start(login: LoginSecrets, how?: { readonly chooses: boolean }): Promise<URL> {
    const config = await this.#config();
    const client = await loadClient();
    try {
      return client.buildAuthorizationUrl(config, {
        redirect_uri: login.redirectUri,
        scope: 'openid email profile',
        state: login.state,
        nonce: login.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(login.verifier),
        code_challenge_method: 'S256',
        ...(how?.chooses === true ? { prompt: promptOf(config.serverMetadata()) } : {}),
      });
    } catch (error) {
      throw refusalOf(error, this.name);
    }
  }

  async finish(login: LoginSecrets, answer: URLSearchParams): Promise<VouchedPerson> {
    const config = await this.#config();
    const client = await loadClient();
    const url = new URL(login.redirectUri);
    url.search = answer.toString();
    try {
      const tokens = await client.authorizationCodeGrant(config, url, {
        expectedState: login.state,
        expectedNonce: login.nonce,
        pkceCodeVerifier: login.verifier,
        idTokenExpected: true,
      });
      const told = tokens.claims();
      // OpenID Connect Core §2: at most 255 characters. An empty one would be the same person for all users.
      if (told === undefined || told.sub === '' || told.sub.length > 255) {
        throw notBelieved(this.name, new Error('the ID token has no subject'));
      }
      // Many issuers keep the address out of the ID token. The subject of both answers must be the same.
      const asks = told['email'] === undefined && config.serverMetadata().userinfo_endpoint !== undefined;
      const profile = asks ? await client.fetchUserInfo(config, tokens.access_token, told.sub) : told;
      return {
        issuer: told.iss,
        subject: told.sub,
        email: textOf(profile['email']),
        // Some issuers send the word instead of the boolean.
        emailVerified: profile['email_verified'] === true || profile['email_verified'] === 'true',
        name: textOf(profile['name']) ?? '',
      };
    } catch (error) {
      throw refusalOf(error, this.name);
    }
  }

  /** Reads what the issuer says about itself, and asks it about a code that is none. Never rejects. */
  async check({ redirectUri, verifier }: LoginSecrets): Promise<Finding> {
    const client = await loadClient();
    try {
      const config = await this.#readMetadata();
      const asked = { code: 'culvert-test', redirect_uri: redirectUri, code_verifier: verifier };
      await client.genericGrantRequest(config, 'authorization_code', asked);
      return { ok: false, detail: `${this.name} accepted a code that it did not issue. Check the issuer.` };
    } catch (error) {
      return findingOf(error, this.name);
    }
  }

  /** What the issuer says about itself: read at the first log-in, again after an hour, and once for however many ask at a time. */
  async #config(): Promise<Configuration> {
    const now = this.#clock.monotonic();
    const known = this.#known;
    if (known !== undefined && now - known.readAt < FRESH_MS) return known.config;
    if (this.#failure !== undefined && now - this.#failure.at < RETRY_MS) {
      if (known !== undefined) return known.config;
      throw this.#failure.error;
    }
    this.#reading ??= this.#discover().finally(() => {
      this.#reading = undefined;
    });
    try {
      return await this.#reading;
    } catch (error) {
      // What was true an hour ago is better than no log-in at all.
      if (known !== undefined) return known.config;
      throw error;
    }
  }

  async #discover(): Promise<Configuration> {
    try {
      const config = await this.#readMetadata();
      this.#known = { config, readAt: this.#clock.monotonic() };
      this.#failure = undefined;
      return config;
    } catch (cause) {
      const error = new AppError('unavailable', `${this.name} is unreachable. Try again in a minute.`, { cause });
      this.#failure = { error, at: this.#clock.monotonic() };
      throw error;
    }
  }

  async #readMetadata(): Promise<Configuration> {
    const client = await loadClient();
    const { issuer, clientId, clientSecret } = this.#options;
    const secret = clientSecret.reveal();
    const config = await client.discovery(
      new URL(`${issuer}/.well-known/openid-configuration`),
      clientId,
      undefined,
      // The method that a client has unless it was registered with another (OpenID Connect Registration 1.0 §2), where it is taken.
      (as, ...rest) => {
        const methods = as.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
        const basic = methods.includes('client_secret_basic') || !methods.includes('client_secret_post');
        return (basic ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret))(as, ...rest);
      },
      {
        [client.customFetch]: fetchFor(this.#options),
        timeout: CALL_SECONDS,
        execute: [
          // The signature is checked even though the token comes over TLS: a proxy between us and the issuer can't make one.
          client.enableNonRepudiationChecks,
          ...(issuer.startsWith('http:') ? [client.allowInsecureRequests] : []),
        ],
      },
    );
    // Compared here and not by the library, for some issuers end with a slash, which the settings drop.
    const named = config.serverMetadata().issuer;
    if (named.replace(/\/+$/, '') !== issuer)
      throw new Error(`the metadata of ${issuer} names another issuer, ${named}`);
    return config;
  }
}

/** An issuer refuses prompts that it does not know. Every one knows `login`; Google, which does not say what it knows, a page of accounts. */
function promptOf({ issuer, ...metadata }: ServerMetadata): string {
  const said = metadata['prompt_values_supported'];
  const chooses = Array.isArray(said) ? said.includes('select_account') : issuer === GOOGLE;
  return chooses ? 'select_account' : 'login';
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
