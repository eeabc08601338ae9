/**
 * Every reason for which the edge answers a visitor by itself: one code, one status, one page, one counter. The code is in the
 * `culvert-error` header and in the body; the words say what the visitor or the tunnel's owner can do.
 */

interface FaultKind {
  readonly status: number;
  readonly reason: string;
  readonly title: string;
  readonly message: string;
  /** Where a page leads on: a path of the same host. `posts`: by a button, for what a link must not do. */
  readonly next?: { readonly path: string; readonly words: string; readonly posts?: true } | undefined;
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
    'No tunnel has this name. Check the address, or start an agent for it.',
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
    'The tunnel exists, but no agent serves it now. Its owner can start one with "culvert http PORT".',
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
    'The owner of this site lets in those who show that they may. Please log in.',
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
      'This browser is signed out of this site. Where you signed in you still are: on a machine of others sign out there too.',
    ),
    next: { path: '/', words: 'Sign in again' },
  },
  invalid_token: kind(
    401,
    'Unauthorized',
    'No valid token',
    'The owner of this site asks for a valid token: "Authorization: Bearer …".',
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
    'The local service is not reachable',
    'The agent is connected, but the service behind it refused the connection. Is it running?',
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
      ? page({ status, title, words, code: answer.code, next })
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

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Text as HTML text. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (c) => ESCAPES[c] ?? c);
}

function wayTo({ path, words, posts }: NonNullable<FaultKind['next']>): string {
  const text = escapeHtml(words);
  return posts === true
    ? `<form method="post" action="${path}"><p><button>${text}</button></p></form>`
    : `<p><a href="${path}">${text}</a></p>`;
}

function page(of: Pick<FaultKind, 'status' | 'title' | 'next'> & { words: string; code: FaultCode }): string {
  const way = of.next === undefined ? '' : wayTo(of.next);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${of.status} · ${escapeHtml(of.title)}</title>
<style>
:root{color-scheme:light dark;--ink:#1c2430;--soft:#5b6675;--paper:#f6f7f9;--card:#fff;--line:#e2e6ec;--mark:#3b5bdb}
@media(prefers-color-scheme:dark){:root{--ink:#e8ecf2;--soft:#9aa5b5;--paper:#11151c;--card:#1a202a;--line:#2b3442;--mark:#91a7ff}}
body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
main{max-width:30rem;margin:1.5rem;padding:2rem 2.25rem;background:var(--card);border:1px solid var(--line);border-radius:14px}
p{margin:.5rem 0 0;color:var(--soft)}a{color:var(--mark)}button{font:inherit;padding:.35rem 1rem}h1{margin:0;font-size:1.35rem;line-height:1.3}b{color:var(--mark);font-size:.95rem;font-weight:600}
code{display:inline-block;margin-top:1.25rem;padding:.15rem .5rem;border:1px solid var(--line);border-radius:6px;font-size:.82rem;color:var(--soft)}
</style></head><body><main><b>${of.status}</b><h1>${escapeHtml(of.title)}</h1><p>${escapeHtml(of.words)}</p>${way}<code>${of.code}</code></main></body></html>
`;
}
