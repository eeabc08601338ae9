/**
 * Every `error` value that the REST API can send, with its status and its meaning: the API document and docs/troubleshooting.md read them
 * here. The `message` of a response is more exact. Plain data, which a browser can load.
 */

interface ApiError {
  readonly status: number;
  /** What happened. */
  readonly cause: string;
  /** For the caller: what to do. */
  readonly fix?: string;
}

export const API_ERRORS = {
  invalid_request: {
    status: 400,
    cause: 'A field of the request is missing or invalid.',
    fix: 'Correct the fields in details.',
  },
  invalid_code: {
    status: 400,
    cause: 'The code is wrong or expired, or there were too many attempts.',
    fix: 'Request a new one.',
  },
  invalid_cidr: {
    status: 400,
    cause: 'The network is not a private IPv4 network of /8 to /30.',
    fix: 'Use one such as 10.20.0.0/24.',
  },
  invalid_name: {
    status: 400,
    cause: 'The name has invalid characters or a wrong length.',
    fix: 'Choose another name; the message has the rule.',
  },
  invalid_domain: {
    status: 400,
    cause: "The domain can't be a custom domain.",
    fix: 'Use a name of your own, such as app.example.com.',
  },
  invalid_public_key: {
    status: 400,
    cause: 'The WireGuard public key is not base64 of 32 bytes.',
    fix: 'Copy the output of wg pubkey.',
  },
  bad_policy: {
    status: 400,
    cause: 'The traffic policy has an unknown or invalid action or field.',
    fix: 'Correct the field in the message.',
  },
  authorization_pending: {
    status: 400,
    cause: 'The CLI login is not approved yet.',
    fix: 'Approve it in the browser; the CLI retries.',
  },
  unauthorized: {
    status: 401,
    cause: 'The credentials are missing, wrong or expired.',
    fix: 'Log in again, or use a valid key.',
  },
  invalid_signature: {
    status: 401,
    cause: 'The signature of the delivery is missing or wrong.',
    fix: 'Use the same secret at the sender and the receiver.',
  },
  upgrade_required: {
    status: 402,
    cause: 'The plan of the organization does not include this.',
    fix: 'Choose another plan, or ask the operator for one.',
  },
  forbidden: {
    status: 403,
    cause: 'The role of the caller, or the state of the organization, does not allow this.',
    fix: 'Ask an admin or the owner of the organization.',
  },
  email_not_verified: {
    status: 403,
    cause: 'The email address is not confirmed.',
    fix: 'Confirm it with the code from the email.',
  },
  not_found: {
    status: 404,
    cause: 'The organization of the caller has no such object.',
    fix: 'Check the id and the current organization.',
  },
  method_not_allowed: {
    status: 405,
    cause: 'The path does not support this method.',
    fix: 'Use a method from the header Allow.',
  },
  duplicate_name: {
    status: 409,
    cause: 'The name is taken.',
    fix: 'Choose another name.',
  },
  network_full: {
    status: 409,
    cause: 'The private network has no room for another device.',
    fix: 'Revoke a device, or create another network.',
  },
  server_not_registered: {
    status: 409,
    cause: 'The private network has no server yet, or its port was released.',
    fix: 'Run culvert network set-server.',
  },
  conflict: {
    status: 409,
    cause: 'The current state does not allow this.',
    fix: 'Follow the message; it names what is in the way.',
  },
  body_truncated: {
    status: 409,
    cause: 'Only part of the request body was recorded.',
    fix: 'Send a new request, or raise inspector.max_body_bytes.',
  },
  payload_too_large: {
    status: 413,
    cause: 'The body of the request is larger than 1 MiB.',
    fix: 'Send a smaller one.',
  },
  rate_limited: {
    status: 429,
    cause: 'The caller sent too many requests.',
    fix: 'Wait for the seconds in Retry-After.',
  },
  internal: {
    status: 500,
    cause: 'The server had an internal error.',
    fix: 'The reason is in the server log.',
  },
  not_implemented: {
    status: 501,
    cause: 'This feature is off on this server.',
  },
  unavailable: {
    status: 503,
    cause: 'The server or a service that it needs is busy or unreachable.',
    fix: 'Try again in a few seconds.',
  },
  tunnel_offline: {
    status: 503,
    cause: 'No agent serves the tunnel.',
    fix: 'Start its agent.',
  },
  not_configured: {
    status: 503,
    cause: 'The operator of this server has not set this up.',
    fix: 'Ask the operator.',
  },
} as const satisfies Record<string, ApiError>;

export type ErrorCode = keyof typeof API_ERRORS;
