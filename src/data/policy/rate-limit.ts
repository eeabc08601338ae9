/**
 * Requests in the current window of 60 s, of all clients together or of each. A window begins with the first request after the last one
 * has ended. Pure but for the clock that its caller reads.
 */

export const WINDOW_MS = 60_000;
/**
 * Clients that are counted at once. Beyond it the one whose window began first is forgotten, and may begin anew: a client with ten thousand
 * addresses is not stopped by a limit per address.
 */
const MAX_CLIENTS = 10_000;
const ALL_CLIENTS = '';

interface Window {
  startedMs: number;
  count: number;
}

export class RateLimit {
  readonly #perWindow: number;
  readonly #perClient: boolean;
  /** Oldest window first. */
  readonly #windows = new Map<string, Window>();

  constructor(rule: { readonly requestsPerMinute: number; readonly perClientIp: boolean }) {
    this.#perWindow = rule.requestsPerMinute;
    this.#perClient = rule.perClientIp;
  }

  /** Clients that are counted now. */
  get size(): number {
    return this.#windows.size;
  }

  /** Counts a request of this client: 0 when it may pass, else the seconds until the window ends. A refused one does not count. */
  take(client: string, nowMs: number): number {
    const key = this.#perClient ? client : ALL_CLIENTS;
    const window = this.#windows.get(key);
    if (window !== undefined && nowMs - window.startedMs < WINDOW_MS) {
      if (window.count >= this.#perWindow) return secondsLeft(window.startedMs + WINDOW_MS - nowMs);
      window.count++;
      return 0;
    }
    if (window !== undefined) this.#windows.delete(key);
    else this.#makeRoom(nowMs);
    this.#windows.set(key, { startedMs: nowMs, count: 1 });
    return 0;
  }

  /** Windows end in the order in which they began: those that are over leave first, and the oldest live one at the bound. */
  #makeRoom(nowMs: number): void {
    for (const [key, window] of this.#windows) {
      if (nowMs - window.startedMs < WINDOW_MS && this.#windows.size < MAX_CLIENTS) return;
      this.#windows.delete(key);
    }
  }
}

/** 1 to 60: the clock of a request may be behind the one that the window began by, and no window lasts longer than itself. */
function secondsLeft(ms: number): number {
  return Math.min(WINDOW_MS / 1000, Math.max(1, Math.ceil(ms / 1000)));
}
