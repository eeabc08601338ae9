/**
 * Turns what services say after a commit into numbered deltas, a bounded number per turn of the loop. Its listeners are data nodes, by way of
 * control/link.ts.
 */
import type { Logger } from '../../../base/log.ts';
import type { AccessKey } from '../../../plane/access-keys.ts';
import type { Delta, RemovalCode, Route, TokenLimits } from '../../../plane/routes.ts';
import type { Budget } from '../../../plane/spend.ts';
import type { NetworkEvents } from './network-events.ts';
import type { RouteEvents } from './route-events.ts';

type Unnumbered = Delta extends infer D ? (D extends Delta ? Omit<D, 'version'> : never) : never;

/** Deltas that go out in one turn of the loop; the rest waits for the next ones, in order. */
const DELTAS_OF_A_TURN = 256;
/** Beyond it those that wait are dropped: nodes see the gap and ask for a snapshot. */
const MAX_WAITING = 100_000;
/** Changes of one start: a number of the next one is above all of them. */
const EPOCH = 2 ** 32;

export class Publisher implements RouteEvents {
  /** What services say about private networks. */
  readonly networks: NetworkEvents;
  #version: number;
  readonly #log: Logger;
  readonly #listeners = new Set<(delta: Delta) => void>();
  #waiting: Delta[] = [];
  #sentInTurn = 0;
  #isTurnBegun = false;

  /**
   * `epoch`: of this start (db/epoch.ts). Versions grow over restarts, whatever the clock does, so a node that outlives the control plane never
   * takes an old number for a new one.
   */
  constructor(epoch: number, log: Logger) {
    this.#version = epoch * EPOCH;
    this.#log = log;
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

  limitToken(limits: TokenLimits): void {
    this.#send({ kind: 'token_limits', limits });
  }

  setBudget(budget: Budget): void {
    this.#send({ kind: 'budget', budget });
  }

  setAccessKeys(keys: readonly AccessKey[]): void {
    this.#send({ kind: 'access_keys', keys });
  }

  /** These organizations export their requests, and no others. */
  setExportingOrgs(orgIds: readonly string[]): void {
    this.#send({ kind: 'exporting_orgs', orgIds });
  }

  cutOrg(orgId: string, message: string): void {
    this.#send({ kind: 'cut_org', orgId, message });
  }

  /** Returns the unsubscriber. */
  subscribe(listener: (delta: Delta) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** What a thousand deleted tunnels say must hold up neither side: a bounded number goes per turn. */
  #send(change: Unnumbered): void {
    this.#version += 1;
    const delta = { ...change, version: this.#version } as Delta;
    this.#beginTurn();
    if (this.#waiting.length === 0 && this.#sentInTurn < DELTAS_OF_A_TURN) return this.#tell(delta);
    if (this.#waiting.length >= MAX_WAITING) {
      this.#log.warn(
        { dropped: MAX_WAITING },
        'too many route changes are waiting: sending data nodes a snapshot instead',
      );
      this.#waiting = [];
    }
    this.#waiting.push(delta);
  }

  #beginTurn(): void {
    if (this.#isTurnBegun) return;
    this.#isTurnBegun = true;
    setImmediate(() => {
      this.#isTurnBegun = false;
      this.#sentInTurn = 0;
      if (this.#waiting.length === 0) return;
      this.#beginTurn();
      for (const delta of this.#waiting.splice(0, DELTAS_OF_A_TURN)) this.#tell(delta);
    });
  }

  #tell(delta: Delta): void {
    this.#sentInTurn += 1;
    for (const listener of this.#listeners) {
      try {
        listener(delta);
      } catch (error) {
        // The next one has a gap before it, and asks for a snapshot.
        this.#log.error({ err: error }, 'could not publish a route change');
      }
    }
  }
}
