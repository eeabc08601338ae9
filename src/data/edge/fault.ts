/**
 * Every reason for which the edge answers a visitor by itself: one code, one status, one page, one counter. The code is in the
 * `culvert-error` header and in the body; the words say what the visitor or the tunnel's owner can do.
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
    'The request could not be read',
    'The request is not well-formed HTTP/1.1, or could be read in more than one way.',
  ),
  request_timeout: kind(
    408,
    'Request Timeout',
    'The request took too long',
    'The request did not arrive completely in time. Please send it again.',
  ),
  uri_too_long: kind(
    414,
    'URI Too Long',
    'The address is too long',
    'The address of the request is longer than this server takes.',
  ),
  https_redirect: kind(
    308,
    'Permanent Redirect',
    'This site is served over HTTPS',
    'The same address with https:// in front leads to it. Your browser is sent there.',
  ),
  https_required: kind(
    400,
    'Bad Request',
    'This site is served over HTTPS only',
    'Send the request again to the same address with https:// in front; what it held has come unencrypted.',
  ),
  misdirected_request: kind(
    421,
    'Misdirected Request',
    'This connection is for another site',
    'The connection was made for another name, and its certificate does not name this one. Please open a new connection.',
  ),
  head_too_large: kind(
    431,
    'Request Header Fields Too Large',
    'The request head is too large',
    'The request has more header fields, or more bytes of them, than this server takes. Old cookies may be the reason.',
  ),
  tunnel_not_found: kind(
    404,
    'Not Found',
    'There is no tunnel here',
    'Nothing has this name. Check the address, or ask whoever gave it to you. Is it yours? Start an agent for it.',
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
    'The tunnel is offline',
    'Please try again later, or ask whoever gave you this address. Its owner can start an agent for it with "culvert http PORT".',
  ),
  budget_exhausted: kind(
    503,
    'Service Unavailable',
    'The budget is spent',
    'The key behind this tunnel has spent its budget of this month. Its owner can raise the budget; a new month begins on the first, UTC.',
  ),
  unauthorized: kind(
    401,
    'Unauthorized',
    'A log-in is needed',
    'This site asks for a user name and a password. Reload the page to enter them.',
  ),
  sign_in: kind(
    302,
    'Found',
    'Sign in to go on',
    'The owner of this site lets in people who have signed in. Your browser is sent there.',
  ),
  signed_in: kind(303, 'See Other', 'You are signed in', 'Your browser is sent to where you wanted to go.'),
  sign_in_failed: {
    ...kind(
      403,
      'Forbidden',
      'You are not signed in',
      'The sign-in did not come to its end. Open the site again to begin anew.',
    ),
    next: { path: '/', words: 'Open the site again' },
  },
  sign_out: {
    ...kind(
      200,
      'OK',
      'Sign out?',
      'Do you want to sign out of this site? A link of another one may have led here, so you are asked first.',
    ),
    next: { path: '/.culvert/sign-out', words: 'Sign out', posts: true },
  },
  signed_out: {
    ...kind(
      200,
      'OK',
      'You have signed out',
      'This browser is signed out of this site, but not at the service that you signed in with. On a shared computer, sign out there too.',
    ),
    next: { path: '/', words: 'Sign in again' },
  },
  invalid_token: kind(
    401,
    'Unauthorized',
    'No valid token',
    'This site asks for a token: send "Authorization: Bearer …". There was none, or it is not valid here or has run out.',
  ),
  denied: kind(403, 'Forbidden', 'Not allowed', 'The owner of this site does not let this request in.'),
  rate_limited: kind(
    429,
    'Too Many Requests',
    'Too many requests',
    'The owner of this site limits how often it may be asked. Please try again later.',
  ),
  policy_failed: kind(
    503,
    'Service Unavailable',
    'The request could not be checked',
    'The rules of this site could not be applied, so the request was not passed on. Please try again in a moment.',
  ),
  loop_detected: kind(
    508,
    'Loop Detected',
    'The request goes round in circles',
    'The request has come through this server again and again: the tunnel leads back to it. Its owner can point the agent at the service itself.',
  ),
  overloaded: kind(
    503,
    'Service Unavailable',
    'Too busy',
    'Too many requests are under way on this tunnel. Please try again in a moment.',
  ),
  local_unreachable: kind(
    502,
    'Bad Gateway',
    'This site does not answer',
    'The program behind it can not be reached. Please try again later. Its owner sees why in the output of the agent.',
  ),
  local_closed: kind(
    502,
    'Bad Gateway',
    'The local service gave no answer',
    'The service behind the tunnel closed the connection before it answered.',
  ),
  local_bad_response: kind(
    502,
    'Bad Gateway',
    'The local service answered nonsense',
    'What the service behind the tunnel sent is not a well-formed HTTP/1.1 response.',
  ),
  local_timeout: kind(
    504,
    'Gateway Timeout',
    'The local service takes too long',
    'The service behind the tunnel did not answer in time.',
  ),
  agent_lost: kind(
    502,
    'Bad Gateway',
    'The agent went away',
    'The connection to the agent broke while it worked on this request.',
  ),
} as const satisfies Record<string, FaultKind>;

export type FaultCode = keyof typeof FAULTS;

function kind(status: number, reason: string, title: string, message: string): FaultKind {
  return { status, reason, title, message };
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
