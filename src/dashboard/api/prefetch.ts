/**
 * Prefetch of the requests of the first page while its code still loads. Each response waits for the one request that it is for.
 * Made by start.ts, used by client.ts.
 */
import { otherByNow } from './failure.ts';
import type { Session } from './session.ts';

/** A response that no request took by then is dropped. */
const KEPT_MS = 5_000;

interface Waiting {
  readonly answer: Promise<Response>;
  /** Of the session that asked: no other session may take the response. */
  readonly epoch: number;
}

/** Bounded by what start.ts asks for; empty a few seconds after the start. */
export class Prefetch {
  readonly #waiting = new Map<string, Waiting>();

  /** Requests `url` now, as the signed-in user. */
  ask(url: URL, session: Session): void {
    const { epoch } = session;
    const answer = askAs(session, url);
    // The request that takes it handles the failure.
    answer.catch(() => {});
    this.#waiting.set(url.href, { answer, epoch });
    setTimeout(() => this.#waiting.delete(url.href), KEPT_MS);
  }

  /** The response to this very request, once; undefined when it was not prefetched. */
  take({ method, url }: Request, epoch: number): Promise<Response> | undefined {
    if (method !== 'GET') return undefined;
    const found = this.#waiting.get(url);
    this.#waiting.delete(url);
    return found?.epoch === epoch ? found.answer : undefined;
  }
}

async function askAs(session: Session, url: URL): Promise<Response> {
  const { epoch } = session;
  const token = await session.token();
  if (token === undefined || session.epoch !== epoch) throw otherByNow();
  const headers = { authorization: `Bearer ${token}` };
  return fetch(url, { credentials: 'same-origin', cache: 'no-store', headers });
}
