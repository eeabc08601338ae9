/**
 * Requests of the REST API, typed after its document. Calls of a signed-in user carry the access token; once that has expired, the cookie is
 * swapped and the call repeated.
 */
import createClient, { type Client } from 'openapi-fetch';
import type { Prefetch } from './prefetch.ts';
import { failureFrom, failureOf, otherByNow } from './failure.ts';
import type { paths } from './schema.gen.ts';
import type { Session } from './session.ts';

export type ApiClient = Client<paths>;

interface Means {
  readonly session: Session;
  /** What was asked for before. */
  readonly prefetch: Prefetch;
}

/** `api`: its address, with a slash at the end. */
export function makeClient(api: URL, means: Means): ApiClient {
  return createClient<paths>({
    baseUrl: api.href.replace(/\/$/, ''),
    credentials: 'same-origin',
    cache: 'no-store',
    fetch: (request: Request) => fetchAs(means, request),
  });
}

/** Their 401 is about the password or the code that was typed: asked a second time it would count as one more wrong guess. */
const ABOUT_SECRETS = /\/auth\/(?:password|mfa\/(?:disable|recovery-codes))$/;

async function fetchAs({ session, prefetch }: Means, request: Request): Promise<Response> {
  const { epoch, state } = session;
  const token = await session.token();
  // A request meant for one user or organization must not run as another: another tab may have switched.
  if (state === 'in' && token !== undefined && session.epoch !== epoch) throw otherByNow();
  if (token === undefined) return fetch(request);
  const again = request.clone();
  const first = await (prefetch.take(request, epoch) ?? fetch(withBearer(request, token)));
  if (first.status !== 401 || ABOUT_SECRETS.test(new URL(request.url).pathname)) return first;
  if (!(await session.refresh())) return first;
  if (session.epoch !== epoch) throw otherByNow();
  return fetch(withBearer(again, (await session.token()) ?? ''));
}

function withBearer(request: Request, token: string): Request {
  request.headers.set('authorization', `Bearer ${token}`);
  return request;
}

interface Answer<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

/**
 * The body of an answer.
 * @throws Failure when the API refuses, or does not answer.
 */
export async function answered<T>(call: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>;
  try {
    answer = await call;
  } catch (error) {
    // An aborted request is no failure: no caller waits for it.
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw failureFrom(error);
  }
  if (!answer.response.ok) throw failureOf(answer.response.status, answer.error);
  return answer.data as T;
}
