/** API errors that pages can show. Thrown by `answered` (client.ts) and read by forms and notices. */

/** One field of a request that the server does not take. */
export interface Fault {
  readonly path: string;
  readonly message: string;
}

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly faults?: readonly Fault[];
}

export class Failure extends Error {
  /** HTTP status; 0: there was no answer. */
  readonly status: number;
  /** The API's `error`: what code branches on. */
  readonly code: string;
  /** Which fields are wrong, for `invalid_request`. */
  readonly faults: readonly Fault[];

  constructor({ status, code, message, faults = [] }: Refusal) {
    super(message);
    this.status = status;
    this.code = code;
    this.faults = faults;
  }
}

/** Another tab has changed whose session it is. */
export const OTHER_BY_NOW = 'The user or the organization changed in another tab. This tab now shows the new one.';

const NOTHING_DONE =
  'No changes were made. The user or the organization changed in another tab. Check both and try again.';

const OTHER_SESSION = 'other_session';

/** Its page is gone by then: a notice says it (parts/action.ts), and no form. */
export function isOtherByNow(error: unknown): boolean {
  return failureFrom(error).code === OTHER_SESSION;
}

/** What was meant for one person or organization is not done as another. */
export function otherByNow(): Failure {
  return new Failure({ status: 409, code: OTHER_SESSION, message: NOTHING_DONE });
}

interface ErrorBody {
  readonly error: string;
  readonly message: string;
  readonly details?: unknown;
}

const NO_ANSWER = 'The server is not responding. It may be restarting. Try again in a moment.';

/** Makes a Failure of the body of an answer; a proxy in front of the server may answer anything. */
export function failureOf(status: number, body: unknown): Failure {
  if (!isErrorBody(body)) {
    return new Failure({ status, code: 'unknown', message: `The server responded with status ${status}. Try again.` });
  }
  const faults = Array.isArray(body.details) ? body.details.filter(isFault) : [];
  return new Failure({ status, code: body.error, message: body.message, faults });
}

/** Whatever was thrown, in words for people. */
export function failureFrom(error: unknown): Failure {
  return error instanceof Failure ? error : new Failure({ status: 0, code: 'no_answer', message: NO_ANSWER });
}

function isErrorBody(body: unknown): body is ErrorBody {
  return typeof body === 'object' && body !== null && 'error' in body && 'message' in body;
}

function isFault(one: unknown): one is Fault {
  return typeof one === 'object' && one !== null && 'path' in one && 'message' in one;
}
