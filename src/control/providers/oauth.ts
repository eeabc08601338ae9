/**
 * Identity providers: a user's identity, by a third party. One interface for OpenID Connect (oidc.ts) and for GitHub, which is OAuth 2
 * with an API of its own (github.ts). Nothing here knows accounts or sessions: visitors of a tunnel can be asked for in the same way.
 */
import { AppError, codeOf, messageOf } from '../../base/errors.ts';
import type { Secret } from '../../base/secret.ts';

/** One call of a provider gets this long; a log-in makes up to four. A person who waits longer starts again anyway. */
export const CALL_SECONDS = 5;

export interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: Secret;
}

/** What is made for one log-in, kept by the caller, and shown again in `finish`. */
export interface LoginSecrets {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  /** PKCE (RFC 7636): without it a code that leaks is of no use to others. */
  readonly verifier: string;
}

/** The user that the provider vouches for. `issuer` and `subject` together are never reused; an address may change hands. */
export interface VouchedPerson {
  readonly issuer: string;
  readonly subject: string;
  /** Null when the provider tells none. */
  readonly email: string | null;
  readonly emailVerified: boolean;
  /** `""` when the provider tells none. */
  readonly name: string;
}

export interface IdentityProvider {
  /** How people call it: for buttons and emails. */
  readonly name: string;
  /**
   * Where to send the browser. `chooses`: the person is asked which account, also where one is signed in. Throws `unavailable` when the
   * provider can't be reached.
   */
  start(login: LoginSecrets, how?: { readonly chooses: boolean }): Promise<URL>;
  /**
   * Redeems what the browser brought back. `answer` is the whole query of the redirect.
   * Throws `invalid_request` when the provider refused or its answer can't be believed, `unavailable` when it can't be reached or fails,
   * `email_not_verified` when that is why it refused. The cause names no code, token or secret.
   */
  finish(login: LoginSecrets, answer: URLSearchParams): Promise<VouchedPerson>;
}

/** What a test of a provider found. */
export interface Finding {
  readonly ok: boolean;
  readonly detail: string;
}

/** Failures of openid-client that mean "this answer is not for us, or not from them", as against "they can't be reached". */
const NOT_BELIEVED: ReadonlySet<string> = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_KEY_SELECTION_FAILED',
  'OAUTH_UNSUPPORTED_OPERATION',
]);
/** Error codes of RFC 6749 §4.1.2.1 that are the provider's own trouble. */
const THEIR_TROUBLE: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable']);
/** The code has run out or was used: RFC 6749 §5.2, and GitHub's word for it. */
const STALE_CODE: ReadonlySet<string> = new Set(['invalid_grant', 'bad_verification_code']);

/** Anything that went wrong with a provider, as a message for the browser; the cause is for the log. */
export function refusalOf(error: unknown, provider: string): AppError {
  if (error instanceof AppError) return error;
  const cause = new Error(tellCauses(error));
  const code = codeOf(error);
  const said = oauthErrorOf(error);
  if (code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR' && !THEIR_TROUBLE.has(said)) {
    const text =
      said === 'access_denied'
        ? `You did not allow ${provider} to share your identity.`
        : `${provider} refused the login.`;
    return new AppError('invalid_request', `${text} Log in again.`, { cause });
  }
  if (code === 'OAUTH_RESPONSE_BODY_ERROR' && STALE_CODE.has(said)) {
    return new AppError('invalid_request', `${provider} rejected the code: it is used or expired. Log in again.`, {
      cause,
    });
  }
  if (said === 'unverified_user_email') {
    return new AppError(
      'email_not_verified',
      `Your email address is not confirmed at ${provider}. Confirm it there, then log in again.`,
      {
        cause,
      },
    );
  }
  if (code !== undefined && NOT_BELIEVED.has(code)) return notBelieved(provider, cause);
  return new AppError('unavailable', `${provider} is unreachable. Try again in a minute.`, { cause });
}

/** How providers say that they do not know the client, or its secret. */
const UNKNOWN_CLIENT: ReadonlySet<string> = new Set([
  'invalid_client',
  'unauthorized_client',
  'incorrect_client_credentials',
]);

/** What a made-up code was refused with: it tells whether the provider accepts id and secret of the client. */
export function findingOf(error: unknown, provider: string): Finding {
  const said = oauthErrorOf(error);
  if (STALE_CODE.has(said)) return { ok: true, detail: `${provider} responds, and accepts the client id and secret.` };
  // RFC 6749 §5.2: a client that sent Basic credentials gets a 401 with a challenge.
  if (UNKNOWN_CLIENT.has(said) || codeOf(error) === 'OAUTH_WWW_AUTHENTICATE_CHALLENGE') {
    return { ok: false, detail: `${provider} responds, but rejects the client id or the secret.` };
  }
  if (said === 'redirect_uri_mismatch') {
    return { ok: false, detail: `${provider} does not know the redirect URL. Register it there.` };
  }
  return { ok: false, detail: `${provider} can't be used: ${tellCauses(error)}` };
}

/** For an answer that is complete and wrong. */
export function notBelieved(provider: string, cause: Error): AppError {
  return new AppError('invalid_request', `The response of ${provider} is invalid. Log in again.`, { cause });
}

/** The `error` that a provider sent, or "". */
function oauthErrorOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('error' in error)) return '';
  return typeof error.error === 'string' ? error.error : '';
}

/** The messages of an error and its causes in one line. Fields of theirs are left out: they hold codes and tokens. */
function tellCauses(error: unknown): string {
  const parts: string[] = [];
  for (let at = error; at instanceof Error && parts.length < 4; at = at.cause) {
    const said = oauthErrorOf(at);
    parts.push([codeOf(at) ?? at.name, messageOf(at), said].filter((part) => part !== '').join(' '));
  }
  return parts.join(': ').slice(0, 500);
}
