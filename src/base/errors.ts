/**
 * Errors with a stable machine code. The control plane throws AppError; control/api turns it into `{error, message}`.
 * The data plane does not throw for refusals: it returns a fault code (data/edge/fault.ts), for refusals are normal traffic there.
 */

/** Every `error` value that the REST API can send, with its HTTP status. */
export const ERROR_STATUS = {
  invalid_request: 400,
  invalid_code: 400,
  invalid_cidr: 400,
  invalid_name: 400,
  invalid_domain: 400,
  invalid_public_key: 400,
  bad_policy: 400,
  authorization_pending: 400,
  unauthorized: 401,
  invalid_signature: 401,
  upgrade_required: 402,
  forbidden: 403,
  email_not_verified: 403,
  not_found: 404,
  method_not_allowed: 405,
  duplicate_name: 409,
  network_full: 409,
  server_not_registered: 409,
  conflict: 409,
  body_truncated: 409,
  payload_too_large: 413,
  rate_limited: 429,
  internal: 500,
  not_implemented: 501,
  unavailable: 503,
  tunnel_offline: 503,
  not_configured: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

export interface ErrorDetail {
  readonly path: string;
  readonly message: string;
}

/** A refusal or failure that a caller may see. `message` is public and says what to do next; `cause` is for the operator. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** What it is about was logged where it was found: no line for each time that it is met. */
  readonly isLogged: boolean;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; details?: readonly ErrorDetail[]; retryAfterSeconds?: number; isLogged?: boolean } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.isLogged = options.isLogged === true;
  }

  get status(): number {
    return ERROR_STATUS[this.code];
  }
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The `code` of a Node system error (`ECONNREFUSED`, …), or undefined. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
