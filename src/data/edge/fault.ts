/**
 * Every error that the edge itself sends: one code, one status, one page, one counter. The code is in the `culvert-error` header and in the
 * body; the message says what the visitor or the tunnel's owner can do.
 */

import { type FaultPage, faultPage } from './fault-page.ts';

interface FaultKind {
  readonly status: number;
  readonly reason: string;
  readonly title: string;
  readonly message: string;
  readonly next?: FaultPage['next'];
}

export const FAULTS = {
  /** What a certificate authority gets that asks about a name: exactly the detail (acme-answers.ts). */
  acme_challenge: kind(200, 'OK', '', ''),
  bad_request: kind(
    400,
    'Bad Request',
    'Bad request',
    'The request is malformed or ambiguous. Check how your client builds it.',
  ),
  request_timeout: kind(
    408,
    'Request Timeout',
    'Request timeout',
    'The request did not arrive in time. Please try again.',
  ),
  uri_too_long: kind(414, 'URI Too Long', 'URL too long', 'The URL is longer than this server accepts.'),
  https_redirect: kind(
    308,
    'Permanent Redirect',
    'This site uses HTTPS',
    'Your browser is redirected to the https:// address.',
  ),
  https_required: kind(
    400,
    'Bad Request',
    'This site uses HTTPS only',
    'Send the request to the https:// address. Its content has already traveled unencrypted.',
  ),
  misdirected_request: kind(
    421,
    'Misdirected Request',
    'Connection for another site',
    'The TLS certificate of this connection does not cover this host name. Please open a new connection.',
  ),
  head_too_large: kind(
    431,
    'Request Header Fields Too Large',
    'Request header too large',
    'The request header is larger than this server accepts. Deleting the cookies of this site may help.',
  ),
  tunnel_not_found: kind(
    404,
    'Not Found',
    'Tunnel not found',
    'No tunnel has this name. Check the address. If it is your tunnel, start an agent for it: "culvert http PORT --subdomain NAME".',
  ),
  maintenance: kind(
    503,
    'Service Unavailable',
    'Down for maintenance',
    'This site is being worked on. Please come back later.',
  ),
  tunnel_offline: kind(
    503,
    'Service Unavailable',
    'Tunnel offline',
    'No agent serves this site right now. Please try again later. If it is your tunnel, start its agent: "culvert http PORT --subdomain NAME".',
  ),
  budget_exhausted: kind(
    503,
    'Service Unavailable',
    'Budget exhausted',
    'The access key of this tunnel has spent its monthly budget. Its owner can raise the budget. It resets on the first of the month, UTC.',
  ),
  unauthorized: kind(
    401,
    'Unauthorized',
    'Login required',
    'This site requires a user name and a password. Reload the page to enter them.',
  ),
  sign_in: kind(
    302,
    'Found',
    'Sign in to continue',
    'This site requires a login. Your browser is redirected to the login page.',
  ),
  signed_in: kind(303, 'See Other', 'You are signed in', 'Your browser is redirected to the page that you requested.'),
  sign_in_failed: {
    ...kind(403, 'Forbidden', 'Sign-in failed', 'The sign-in was not completed. Open the site again to start over.'),
    next: { path: '/', words: 'Open the site again' },
  },
  sign_out: {
    ...kind(
      200,
      'OK',
      'Sign out?',
      'Do you want to sign out of this site? Another site may have linked here, so please confirm.',
    ),
    next: { path: '/.culvert/sign-out', words: 'Sign out', posts: true },
  },
  signed_out: {
    ...kind(
      200,
      'OK',
      'You have signed out',
      'You are signed out of this site, but not of your identity provider. On a shared computer, sign out there too.',
    ),
    next: { path: '/', words: 'Sign in again' },
  },
  invalid_token: kind(
    401,
    'Unauthorized',
    'Invalid token',
    'This site requires a valid token. Send it as "Authorization: Bearer …". The token is missing, invalid or expired.',
  ),
  denied: kind(403, 'Forbidden', 'Access denied', 'The policy of this site blocks this request.'),
  rate_limited: kind(
    429,
    'Too Many Requests',
    'Too many requests',
    'This site limits the number of requests. Please try again later.',
  ),
  policy_failed: kind(
    503,
    'Service Unavailable',
    'Policy check failed',
    'The policy of this site could not be applied, so the request was not forwarded. Please try again in a moment.',
  ),
  loop_detected: kind(
    508,
    'Loop Detected',
    'Loop detected',
    'The tunnel leads back to this server. Its owner can point the agent at the service itself.',
  ),
  overloaded: kind(
    503,
    'Service Unavailable',
    'Overloaded',
    'Too many requests are in flight on this tunnel. Please try again in a moment.',
  ),
  local_unreachable: kind(
    502,
    'Bad Gateway',
    'Service unreachable',
    "The agent can't connect to the service behind this site. Please try again later. The agent shows the reason to its owner.",
  ),
  local_closed: kind(
    502,
    'Bad Gateway',
    'No response from the service',
    'The service behind this site closed the connection before it responded.',
  ),
  local_bad_response: kind(
    502,
    'Bad Gateway',
    'Invalid response from the service',
    'The response of the service behind this site is not valid HTTP/1.1.',
  ),
  local_timeout: kind(
    504,
    'Gateway Timeout',
    'Service timeout',
    'The service behind this site did not respond in time.',
  ),
  agent_lost: kind(
    502,
    'Bad Gateway',
    'Agent disconnected',
    'The agent of this site disconnected during the request. Please try again.',
  ),
} as const satisfies Record<string, FaultKind>;

export type FaultCode = keyof typeof FAULTS;

function kind(status: number, reason: string, title: string, message: string): FaultKind {
  return { status, reason, title, message };
}

/** Why the edge or the policy of a tunnel refuses a request. */
export interface EdgeRefusal {
  readonly code: FaultCode;
  readonly detail?: string;
  /** Header fields that the answer has besides. */
  readonly fields?: readonly string[];
}

export interface FaultAnswer {
  readonly code: FaultCode;
  /** Words instead of the code's own message; escaped in HTML. */
  readonly detail?: string | undefined;
  /** Header fields besides. */
  readonly fields?: readonly string[] | undefined;
  readonly html: boolean;
  /** The request was HEAD: length without body. */
  readonly head: boolean;
  readonly close: boolean;
}

/** What an answer says, in any version of HTTP: `fields` as `Name: value`. */
export interface FaultParts {
  readonly status: number;
  readonly reason: string;
  readonly fields: readonly string[];
  readonly body: Buffer;
}

export function faultParts(answer: Omit<FaultAnswer, 'head' | 'close'>): FaultParts {
  const { status, reason, title, message, next }: FaultKind = FAULTS[answer.code];
  const words = answer.detail ?? message;
  if (answer.code === 'acme_challenge') return plainParts(words);
  const body = Buffer.from(
    answer.html
      ? faultPage({ status, title, words, code: answer.code, next })
      : `${JSON.stringify(status < 400 ? { message: words } : { error: answer.code, message: words })}\n`,
  );
  const fields = [
    `Content-Type: ${answer.html ? 'text/html; charset=utf-8' : 'application/json'}`,
    `Content-Length: ${body.length}`,
    `culvert-error: ${answer.code}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    ...(answer.html ? ["Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'"] : []),
    ...(status === 503 && answer.code !== 'budget_exhausted' ? ['Retry-After: 5'] : []),
    ...(answer.fields ?? []),
  ];
  return { status, reason, fields, body };
}

function plainParts(text: string): FaultParts {
  const body = Buffer.from(text);
  const fields = [
    'Content-Type: application/octet-stream',
    `Content-Length: ${body.length}`,
    'Cache-Control: no-store',
  ];
  return { status: 200, reason: 'OK', fields, body };
}

/** The whole response as bytes of HTTP/1.1. */
export function faultResponse(answer: FaultAnswer): Buffer {
  const { status, reason, fields, body } = faultParts(answer);
  const close = answer.close ? ['Connection: close'] : [];
  const head = Buffer.from([`HTTP/1.1 ${status} ${reason}`, ...fields, ...close, '', ''].join('\r\n'));
  return answer.head ? head : Buffer.concat([head, body]);
}

/** How often each fault was answered, for metrics. */
export class FaultCounters {
  readonly #counts = new Map<FaultCode, number>();

  add(code: FaultCode): void {
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1);
  }

  get(code: FaultCode): number {
    return this.#counts.get(code) ?? 0;
  }

  /** All of them, those that never came with 0. */
  counts(): Readonly<Record<FaultCode, number>> {
    const codes = Object.keys(FAULTS) as FaultCode[];
    return Object.fromEntries(codes.map((code) => [code, this.get(code)])) as Record<FaultCode, number>;
  }
}
