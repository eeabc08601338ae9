/**
 * Which server an agent was online with, so that the word of another one at the same address never ends it. The id is public: it tells servers
 * apart that mean well, and is no proof. Used by agent.ts; what keeps it between runs is the caller's.
 */
import type { Bye } from '../session.ts';
import { clockText, type Lost } from '../lost.ts';

/** Keeps the id of one server address between runs. Neither method throws. */
export interface PinStore {
  read(): string | undefined;
  keep(serverId: string): void;
}

export class ServerPin {
  readonly #store: PinStore | undefined;
  #id: string | undefined;
  /** In this process. */
  #wasOnline = false;

  /** Without a `store` this process alone remembers. */
  constructor(store?: PinStore) {
    this.#store = store;
    this.#id = store?.read();
  }

  /** The agent was online with a server at this address, in this process or an earlier one. */
  get known(): boolean {
    return this.#wasOnline || this.#id !== undefined;
  }

  get id(): string | undefined {
    return this.#id;
  }

  /** A server took the key: from now on its word counts, whichever server it is. */
  welcomed(serverId: string | undefined): void {
    this.#wasOnline = true;
    if (serverId === this.#id) return;
    this.#id = serverId;
    if (serverId !== undefined) this.#store?.keep(serverId);
  }

  /** Why a refusal is not the word of the agent's own server, or is due to a clock; undefined when it counts. */
  disputes({ code, serverId, expiredAt, message }: Bye, server: string, nowMs: number): Dispute | undefined {
    if (this.#id !== undefined && serverId !== this.#id) {
      const answered = serverId === undefined ? 'a server without an ID' : `server ${serverId}`;
      const text =
        `a different server responds at ${server}: ${answered}, but this agent was last connected to server ${this.#id}. That server reports: ${message} ` +
        'Restore the original server. If you replaced it on purpose, create an access key for this agent on the new one';
      return { kind: 'other', lost: { code, message: text }, serverId };
    }
    if (code !== 'unauthorized' || expiredAt === undefined || nowMs >= expiredAt || !this.known) return undefined;
    const text =
      `the server reports that this access key expired at ${clockText(expiredAt)}, but the clock of this machine shows ${clockText(nowMs)}. ` +
      'Correct the wrong clock';
    return { kind: 'clock', lost: { code: 'clock_differs', message: text } };
  }
}

export type Dispute =
  | { readonly kind: 'other'; readonly lost: Lost; readonly serverId: string | undefined }
  | { readonly kind: 'clock'; readonly lost: Lost };
