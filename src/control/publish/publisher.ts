/**
 * Turns what services say after a commit into numbered deltas, and the tables into a snapshot at the same number. Its listeners are
 * data nodes, by way of control/link.ts.
 */
import type { AccessKey } from '../../plane/access-keys.ts';
import type { Delta, RemovalCode, Route, Snapshot } from '../../plane/routes.ts';
import type { Budget } from '../../plane/spend.ts';
import type { NetworkNews } from '../services/networks/network-news.ts';
import type { RouteNews } from '../services/news.ts';

type Unnumbered = Delta extends infer D ? (D extends Delta ? Omit<D, 'version'> : never) : never;

export class Publisher implements RouteNews {
  /** What services say about private networks. */
  readonly networks: NetworkNews;
  #version: number;
  readonly #listeners = new Set<(delta: Delta) => void>();

  /**
   * `startMs`: the wall clock at start. Versions count on from there, so that a node that outlives the control plane never takes an old
   * number for a new one; a server would have to make more than a thousand changes a second, for all its life, to break that.
   */
  constructor(startMs: number) {
    this.#version = startMs;
    this.networks = {
      put: (relay) => this.#send({ kind: 'relay', relay }),
      gone: (networkId, code, message) => this.#send({ kind: 'relay_gone', networkId, code, message }),
      device: (networkId, device) => this.#send({ kind: 'device', networkId, device }),
      deviceGone: (networkId, deviceId) => this.#send({ kind: 'device_gone', networkId, deviceId }),
    };
  }

  /** Number of the last delta. */
  get version(): number {
    return this.#version;
  }

  put(route: Route): void {
    this.#send({ kind: 'put', route });
  }

  remove(tunnelId: string, code: RemovalCode, message: string): void {
    this.#send({ kind: 'remove', tunnelId, code, message });
  }

  revokeToken(tokenId: string, message: string): void {
    this.#send({ kind: 'revoke_token', tokenId, message });
  }

  endTokenAt(tokenId: string, expiresAt: number): void {
    this.#send({ kind: 'token_ends', tokenId, expiresAt });
  }

  setBudget(budget: Budget): void {
    this.#send({ kind: 'budget', budget });
  }

  setAccessKeys(keys: readonly AccessKey[]): void {
    this.#send({ kind: 'access_keys', keys });
  }

  cutOrg(orgId: string, message: string): void {
    this.#send({ kind: 'cut_org', orgId, message });
  }

  /** The table as of the last delta. `read` is synchronous, hence nothing can come between it and the number. */
  snapshot(read: () => Omit<Snapshot, 'version'>): Snapshot {
    return { version: this.#version, ...read() };
  }

  /** Returns the unsubscriber. */
  subscribe(listener: (delta: Delta) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #send(news: Unnumbered): void {
    this.#version += 1;
    const delta = { ...news, version: this.#version } as Delta;
    for (const listener of this.#listeners) listener(delta);
  }
}
