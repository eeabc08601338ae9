/**
 * Every error that the edge itself sends, with its status and its texts: the visitor's page, the lists of the dashboard, `culvert inspect`,
 * the agent's page and docs/troubleshooting.md read them here. Plain data, which a browser can load.
 */

export interface EdgeFault {
  readonly status: number;
  /** Heading of the visitor's page. */
  readonly title: string;
  /** For the visitor: what it means, and what to do. */
  readonly visitor: string;
  /** For rows of a list: at most three words. */
  readonly label: string;
  /** For the owner of the tunnel: what happened. */
  readonly cause: string;
  /** For the owner of the tunnel: what to do. */
  readonly fix?: string;
}

export const EDGE_FAULTS = {
  tunnel_not_found: {
    status: 404,
    title: 'Tunnel not found',
    visitor:
      'No tunnel has this name. Check the URL. If it is your tunnel, start an agent for it: "culvert http PORT --subdomain NAME".',
    label: 'Tunnel not found',
    cause: 'No tunnel has this name, or no route of the tunnel has this path.',
    fix: 'Check the spelling, or start an agent for it.',
  },
  tunnel_offline: {
    status: 503,
    title: 'Tunnel offline',
    visitor:
      'No agent serves this site right now. Please try again later. If it is your tunnel, start its agent: "culvert http PORT --subdomain NAME".',
    label: 'Tunnel offline',
    cause: 'No agent is online, or the tunnel is stopped or expired.',
    fix: 'Start the agent, or run culvert tunnels start NAME.',
  },
  maintenance: {
    status: 503,
    title: 'Down for maintenance',
    visitor: 'This site is undergoing maintenance. Please come back later.',
    label: 'Maintenance',
    cause: 'The tunnel is in maintenance mode.',
    fix: 'Turn maintenance mode off when you are done.',
  },
  budget_exhausted: {
    status: 503,
    title: 'Budget exhausted',
    visitor:
      'The access key of this tunnel has spent its monthly budget. Its owner can raise the budget. It resets on the first of the month, UTC.',
    label: 'Budget exhausted',
    cause: 'The access key of this tunnel has spent its monthly budget.',
    fix: 'Raise it with culvert tokens budget. It resets on the first of the month, UTC.',
  },
  unauthorized: {
    status: 401,
    title: 'Login required',
    visitor: 'This site requires a user name and a password. Reload the page to enter them.',
    label: 'Login required',
    cause: 'The tunnel requires a password or visitor login, and the request has no valid one.',
    fix: 'Send the password, or log in with a browser.',
  },
  sign_in: {
    status: 302,
    title: 'Log in to continue',
    visitor: 'This site requires a login. Your browser is redirected to the login page.',
    label: 'Redirected to login',
    cause: 'The tunnel requires visitor login. The browser was redirected to the identity provider, or to HTTPS first.',
  },
  signed_in: {
    status: 303,
    title: 'You are logged in',
    visitor: 'Your browser is redirected to the page that you requested.',
    label: 'Logged in',
    cause: 'The visitor logged in and was redirected to the requested page.',
  },
  sign_in_failed: {
    status: 403,
    title: 'Login failed',
    visitor: 'The login was not completed. Open the site again to start over.',
    label: 'Login failed',
    cause:
      'The visitor login expired or was used twice, the visitor is not on the list, or the browser blocks cookies.',
    fix: 'Open the site again; the page names the cause.',
  },
  sign_out: {
    status: 200,
    title: 'Log out?',
    visitor: 'Do you want to log out of this site? Another site may have linked here, so please confirm.',
    label: 'Confirm logout',
    cause: 'Another site linked to the logout page, so the visitor must confirm.',
  },
  signed_out: {
    status: 200,
    title: 'You have logged out',
    visitor:
      'You are logged out of this site, but not of your identity provider. On a shared computer, log out there too.',
    label: 'Logged out',
    cause: 'The visitor logged out.',
  },
  denied: {
    status: 403,
    title: 'Access denied',
    visitor: 'The policy of this site blocks this request.',
    label: 'Blocked',
    cause: 'The policy of the tunnel blocked the request.',
    fix: 'To allow the request, change the policy.',
  },
  invalid_signature: {
    status: 401,
    title: 'Invalid signature',
    visitor: 'This site takes signed webhooks only. The signature is missing, wrong or too old.',
    label: 'Invalid signature',
    cause: 'The agent requires signed webhooks, and the signature is missing, wrong or too old.',
    fix: 'Use the same secret at the sender and in --webhook-secret-file.',
  },
  /** What a webhook sender gets that checks the URL: the detail, as its scheme says (policy/webhook/step.ts). */
  webhook_challenge: {
    status: 200,
    title: '',
    visitor: '',
    label: 'Webhook check',
    cause: 'A webhook sender checked the URL, and its signature was right.',
  },
  body_too_large: {
    status: 413,
    title: 'Request body too large',
    visitor: 'This site takes webhooks of up to 1 MiB.',
    label: 'Body too large',
    cause: 'The agent requires signed webhooks, and the body is larger than 1 MiB.',
    fix: 'Send smaller webhooks, or check the signature in your service.',
  },
  invalid_token: {
    status: 401,
    title: 'Invalid token',
    visitor:
      'This site requires a valid token. Send it as "Authorization: Bearer …". The token is missing, invalid or expired.',
    label: 'Invalid token',
    cause: 'The policy requires a valid JWT. It is missing, invalid or expired.',
    fix: 'Send a valid one in the header Authorization.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    visitor: 'This site limits the number of requests. Please try again later.',
    label: 'Rate limited',
    cause: 'The visitor reached the rate limit of the policy, or sent too many wrong passwords.',
    fix: 'Wait for the seconds in Retry-After.',
  },
  policy_failed: {
    status: 503,
    title: 'Policy check failed',
    visitor:
      'The policy of this site could not be applied, so the request was not forwarded. Please try again in a moment.',
    label: 'Policy failed',
    cause: 'The policy could not run, for example because the JWT keys are unreachable.',
    fix: 'The reason is in the server log.',
  },
  loop_detected: {
    status: 508,
    title: 'Loop detected',
    visitor: 'The tunnel leads back to this server. Its owner can point the agent at the service itself.',
    label: 'Loop detected',
    cause: 'The target of the tunnel leads back to the edge.',
    fix: 'Point the agent at the service itself.',
  },
  overloaded: {
    status: 503,
    title: 'Overloaded',
    visitor: 'Too many requests are in flight on this tunnel. Please try again in a moment.',
    label: 'Overloaded',
    cause: 'Too many requests are in flight for this tunnel, agent or address.',
    fix: 'Try again in a moment.',
  },
  local_unreachable: {
    status: 502,
    title: 'Service unreachable',
    visitor:
      "The agent can't connect to the service behind this site. Please try again later. The agent shows the reason to its owner.",
    label: 'Service unreachable',
    cause: "The agent can't connect to your service.",
    fix: 'Check that it runs on this port. The output of the agent has the reason.',
  },
  local_speaks_tls: {
    status: 502,
    title: 'Service speaks TLS',
    visitor:
      'The service behind this site speaks TLS, and its tunnel is set up for plain HTTP. The owner must use culvert https.',
    label: 'Service speaks TLS',
    cause: 'Your service speaks TLS, and the tunnel is for plain HTTP.',
    fix: 'Use culvert https 3000, or the target https://localhost:3000.',
  },
  local_speaks_http2: {
    status: 502,
    title: 'Service speaks HTTP/2',
    visitor:
      'The service behind this site speaks HTTP/2 only, and its tunnel is set up for HTTP/1.1. The owner must use --upstream-protocol http2.',
    label: 'Service speaks HTTP/2',
    cause: 'Your service speaks HTTP/2 only, and the tunnel is for HTTP/1.1.',
    fix: 'Add --upstream-protocol http2 (upstream_protocol in a settings file).',
  },
  local_closed: {
    status: 502,
    title: 'No response from the service',
    visitor: 'The service behind this site closed the connection before it responded.',
    label: 'No response',
    cause: 'Your service closed the connection before it responded.',
    fix: 'Check the log of your service.',
  },
  local_bad_response: {
    status: 502,
    title: 'Invalid response from the service',
    visitor: 'The response of the service behind this site is not valid HTTP/1.1.',
    label: 'Invalid response',
    cause: 'Your service sent an invalid HTTP response.',
    fix: 'If the port speaks TLS, use culvert https.',
  },
  local_timeout: {
    status: 504,
    title: 'Service timeout',
    visitor: 'The service behind this site did not respond in time.',
    label: 'Service timeout',
    cause: "Your service didn't respond in time.",
    fix: 'Make it respond sooner, or raise edge.limits.local_timeout_seconds.',
  },
  agent_lost: {
    status: 502,
    title: 'Agent disconnected',
    visitor: 'The agent of this site disconnected during the request. Please try again.',
    label: 'Agent disconnected',
    cause: 'The agent disconnected during the request.',
    fix: 'Try again when it is back.',
  },
  /** What a certificate authority gets that asks about a name: exactly the detail (acme-answers.ts). */
  acme_challenge: {
    status: 200,
    title: '',
    visitor: '',
    label: 'Certificate check',
    cause: 'A certificate authority checked the name.',
  },
  bad_request: {
    status: 400,
    title: 'Bad request',
    visitor: 'The request is malformed or ambiguous. Check how your client builds it.',
    label: 'Malformed request',
    cause: 'The request is malformed or ambiguous.',
    fix: 'Check how the client builds it.',
  },
  request_timeout: {
    status: 408,
    title: 'Request timeout',
    visitor: 'The request did not arrive in time. Please try again.',
    label: 'Request timeout',
    cause: 'The request arrived too slowly.',
    fix: 'Send it again.',
  },
  misdirected_request: {
    status: 421,
    title: 'Connection for another site',
    visitor: 'The TLS certificate of this connection does not cover this host name. Please open a new connection.',
    label: 'Wrong connection',
    cause: 'The TLS connection is for another host name.',
    fix: 'Open a new connection. Check the load balancer in front of the edge.',
  },
  uri_too_long: {
    status: 414,
    title: 'URL too long',
    visitor: 'The URL is longer than this server accepts.',
    label: 'URL too long',
    cause: 'The URL is longer than this server accepts.',
    fix: 'Shorten it, or raise edge.limits.max_uri_bytes.',
  },
  head_too_large: {
    status: 431,
    title: 'Request header too large',
    visitor: 'The request header is larger than this server accepts. Deleting the cookies of this site may help.',
    label: 'Headers too large',
    cause: 'The request headers are too large, or there are too many.',
    fix: 'Delete old cookies, or raise edge.limits.max_head_bytes or edge.limits.max_head_fields.',
  },
  https_redirect: {
    status: 308,
    title: 'This site uses HTTPS',
    visitor: 'Your browser is redirected to the https:// URL.',
    label: 'Redirected to HTTPS',
    cause: 'The server serves tunnels over HTTPS only. The visitor was redirected.',
  },
  https_required: {
    status: 400,
    title: 'This site uses HTTPS only',
    visitor: 'Send the request to the https:// URL. Its content was already sent unencrypted.',
    label: 'HTTPS required',
    cause: 'The server serves tunnels over HTTPS only, and the method is not GET or HEAD.',
    fix: 'Use the https URL.',
  },
} as const satisfies Record<string, EdgeFault>;

export type FaultCode = keyof typeof EDGE_FAULTS;

/** The fault of a code that came over the API; undefined: a newer server's. */
export function edgeFault(code: string): EdgeFault | undefined {
  return Object.hasOwn(EDGE_FAULTS, code) ? EDGE_FAULTS[code as FaultCode] : undefined;
}
