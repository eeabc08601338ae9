/**
 * Who is logged in, in this tab. The access token lives in this object alone: in no storage, no address, no element. The refresh cookie,
 * which no script can read, gives the next one.
 */

const SOON_MS = 30_000;
/** All tabs of a browser have one cookie, and swapping the same one twice ends the session: one tab at a time. */
const LOCK = 'culvert-refresh';

/** What an access token says; read, not verified: the server does that. */
interface Claims {
  readonly sub: string;
  readonly org: string;
  /** Unix seconds, of the server's clock: the one of this machine may be another. */
  readonly iat: number;
  readonly exp: number;
}

/** Messages between the tabs of a browser: a user logged in, switched the organization, or logged out. No secret. */
const CHANNEL = 'culvert-session';
/** Of swaps that others are at, a second each: without locks each tab of a browser may have to wait for all others. */
const MAX_TRIES = 8;
/** Without locks the tabs must not all swap at the word of one of them. */
const SPREAD_MS = 2_000;
/** A refresh without an answer must not keep the lock from the other tabs for ever. */
const ANSWER_MS = 20_000;

/** `starting`: not known yet. `away`: the server does not respond. `over`: the session ended by itself. */
export type SessionState = 'starting' | 'away' | 'in' | 'out' | 'over';

export class Session {
  readonly #refreshUrl: URL;
  #onOther: () => void = () => {};
  readonly #listeners = new Set<() => void>();
  readonly #channel = new BroadcastChannel(CHANNEL);
  #token: string | undefined;
  /** When the token runs out, in milliseconds of this machine's clock: its life is counted from its arrival. */
  #tokenEndsMs = 0;
  #state: SessionState = 'starting';
  /** Grows when another user logs in or another organization becomes active: cached data is then another's. */
  #epoch = 0;
  #refreshing: Promise<boolean> | undefined;
  /** The user and organization of the pages in this tab; undefined while logged out. */
  #shown: string | undefined;

  /** `api`: address of the API, with a slash at its end. */
  constructor(api: URL) {
    this.#refreshUrl = new URL('auth/refresh', api);
    // What another tab has changed is true here too: it is asked for at once, for the page shows what may be another's by now.
    this.#channel.addEventListener('message', ({ data }) => {
      // Without a response nothing is known yet: the next request tries again. An ended session gives no cookie, so there is no race.
      const wait = 'locks' in navigator || data === 'out' ? 0 : Math.random() * SPREAD_MS;
      sleep(wait)
        .then(() => this.#refreshAnew())
        .catch(() => false);
    });
  }

  get state(): SessionState {
    return this.#state;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Calls `listener` after each change, until the returned function is called. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Calls `say` when the cookie has turned out to be another person's or organization's than this tab was showing. */
  whenOther(say: () => void): void {
    this.#onOther = say;
  }

  /**
   * Takes up the session of the browser's cookie, of any user: after the server has reported one, and after this tab has deleted its own
   * organization.
   */
  async begin(): Promise<void> {
    this.#become('starting');
    try {
      await this.#refreshAnew({ ofAnyUser: true });
    } catch {
      // The session may still be valid: a user who has one is not asked for a password.
      this.#become('away');
    }
  }

  /** From now on this tab acts with the token: after a login, or a switch of the organization. The other tabs hear of it. */
  enter(token: string): void {
    this.#take(token);
    this.#channel.postMessage('in');
  }

  /** The person has ended the session, which the server knows. The other tabs hear of it. */
  end(): void {
    this.leave('out');
    this.#channel.postMessage('out');
  }

  #take(token: string): void {
    const isSame = this.#token !== undefined && holderOf(this.#token) === holderOf(token);
    const { iat, exp } = claimsOf(token);
    this.#token = token;
    this.#tokenEndsMs = Date.now() + (exp - iat) * 1000;
    if (!isSame) this.#epoch++;
    this.#shown = holderOf(token);
    this.#become('in');
  }

  /** The user is logged out here; `over`: not at their request. */
  leave(how: 'out' | 'over' = 'out'): void {
    this.#token = undefined;
    this.#shown = undefined;
    this.#epoch++;
    this.#become(how);
  }

  /** A token valid for a while yet, or undefined when logged out. */
  async token(): Promise<string | undefined> {
    if (this.#token === undefined) return undefined;
    if (this.#tokenEndsMs - Date.now() > SOON_MS) return this.#token;
    return (await this.refresh()) ? this.#token : undefined;
  }

  /** Takes up or renews the session of the browser's cookie. False: there is none. */
  refresh(): Promise<boolean> {
    this.#refreshing ??= this.#oneAtATime().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  /** After one that is under way, which may have been answered before what happened now. */
  async #refreshAnew({ ofAnyUser = false } = {}): Promise<boolean> {
    await this.#refreshing?.catch(() => false);
    if (ofAnyUser) this.#shown = undefined;
    return this.refresh();
  }

  #oneAtATime(): Promise<boolean> {
    // Browsers have locks on secure origins only; elsewhere the server says who came second.
    if (!('locks' in navigator)) return this.#swap();
    return navigator.locks.request(LOCK, () => this.#swap());
  }

  async #swap(): Promise<boolean> {
    let answer = await this.#ask();
    // Another tab, or the page that was here before, is at it: its answer brings the browser the new cookie.
    for (let tries = 1; answer.retryAfterSeconds !== undefined && answer.status === 401 && tries < MAX_TRIES; tries++) {
      await sleep(answer.retryAfterSeconds * 1000 * (0.5 + Math.random()));
      answer = await this.#ask();
    }
    if (answer.token !== undefined) {
      const shown = this.#shown;
      this.#take(answer.token);
      if (shown !== undefined && shown !== this.#shown) this.#onOther();
      return true;
    }
    // Without a response, after too many requests, or while another tab swaps the cookie, the session may still be valid.
    if (answer.status === 401 && answer.retryAfterSeconds === undefined)
      this.leave(this.#state === 'in' ? 'over' : 'out');
    else throw new Error(`the cookie was not swapped: ${answer.status}`);
    return false;
  }

  async #ask(): Promise<{ status: number; token?: string; retryAfterSeconds?: number }> {
    const answer = await fetch(this.#refreshUrl, {
      method: 'POST',
      credentials: 'same-origin',
      cache: 'no-store',
      // A page that is left while the answer is on its way must not take the new cookie with it: the old one is used up.
      keepalive: true,
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const body = (await answer.json()) as { access_token?: string; retry_after_seconds?: number };
    return {
      status: answer.status,
      ...(answer.ok && body.access_token !== undefined ? { token: body.access_token } : {}),
      ...(body.retry_after_seconds === undefined ? {} : { retryAfterSeconds: body.retry_after_seconds }),
    };
  }

  #become(state: SessionState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** User and organization of a token. */
export function holderOf(token: string): string {
  const { sub, org } = claimsOf(token);
  return `${sub} ${org}`;
}

function claimsOf(token: string): Claims {
  const claims = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
  return JSON.parse(atob(claims)) as Claims;
}
