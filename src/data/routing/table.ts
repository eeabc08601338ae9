/**
 * The routing table of one data node: which tunnel answers to a host (its own or a custom domain), a TCP port or an id. Made and fed by
 * routing/follow.ts, read by data/edge per request and by data/gateway per claim. It holds what the control plane pushed and asks nothing. An
 * entry keeps its identity for as long as its tunnel is in the table, so that counters, the serving agent and whatever the edge remembers per
 * connection survive a change of its route.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AccessKey } from '../../plane/access-keys.ts';
import type { Delta, EndingDelta, RemovalCode, Route, Snapshot, TokenLimits } from '../../plane/routes.ts';
import type { RelayDevice, RelayEndCode, RelayRoute } from '../../plane/relays.ts';
import type { Budget } from '../../plane/spend.ts';
import { RouteEntry } from './entry.ts';

/** Told of each change, after the table shows it. Must not change the table. */
export interface TableListener {
  onPut?(entry: RouteEntry): void;
  /** Another session serves the entry, or none. Called in the turn of the change, before the next request. */
  onServed?(entry: RouteEntry): void;
  onRemove?(entry: RouteEntry, code: RemovalCode, message: string): void;
  onRevoke?(tokenId: string, message: string): void;
  /** The token ends at `expiresAt`, milliseconds, earlier than its sessions know. */
  onTokenEnds?(tokenId: string, expiresAt: number): void;
  onTokenLimits?(limits: TokenLimits): void;
  onBudget?(budget: Budget): void;
  /** These are all of them from now on. */
  onAccessKeys?(keys: readonly AccessKey[]): void;
  /** These are all that export their requests. */
  onExportingOrgs?(orgIds: readonly string[]): void;
  /** Signs what visitors carry from now on. */
  onVisitorKey?(key: string): void;
  onCutOrg?(orgId: string, message: string): void;
  /** No other private networks are left; each of these comes by `onRelay`. */
  onRelayIds?(networkIds: ReadonlySet<string>): void;
  onRelay?(relay: RelayRoute): void;
  onRelayGone?(networkId: string, code: RelayEndCode, message: string): void;
  onDevice?(networkId: string, device: RelayDevice): void;
  onDeviceGone?(networkId: string, deviceId: string): void;
  /** A snapshot was loaded over a gap: revocations may have been missed. */
  onReload?(): void;
}

/** Of a snapshot, in one turn of the loop: a millisecond or two. */
const ROUTES_OF_A_SLICE = 200;
/** Networks count too. */
const DEVICES_OF_A_SLICE = 1_000;

export class RouteTable {
  readonly #suffix: string;
  readonly #byId = new Map<string, RouteEntry>();
  readonly #byHost = new Map<string, RouteEntry>();
  readonly #byPort = new Map<number, RouteEntry>();
  readonly #listeners = new Set<TableListener>();
  readonly #waiting = new Set<{ version: number; resolve: () => void }>();
  #planeVersion = -1;
  #needsSnapshot = true;
  #version = 0;

  /** `domain` is edge.domain: labels live under it. Empty until a snapshot is loaded. */
  constructor(domain: string) {
    this.#suffix = `.${domain.toLowerCase()}`;
  }

  /** Under which labels live, in lower case. */
  get domain(): string {
    return this.#suffix.slice(1);
  }

  /** Grows with each change on this node: a lookup that was kept is good while this has not moved. */
  get version(): number {
    return this.#version;
  }

  /** The control plane's version that this table shows; -1 before the first snapshot. */
  get planeVersion(): number {
    return this.#planeVersion;
  }

  /** True while deltas are missing: only a snapshot helps. The table serves what it knows until then. */
  get needsSnapshot(): boolean {
    return this.#needsSnapshot;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** The tunnel of a Host header without its port. Case and one trailing dot do not matter; a host given in lower case is found at once. */
  findByHost(host: string): RouteEntry | undefined {
    return this.#byHost.get(host) ?? this.#byHost.get(canonicalHost(host));
  }

  findByPort(port: number): RouteEntry | undefined {
    return this.#byPort.get(port);
  }

  findById(tunnelId: string): RouteEntry | undefined {
    return this.#byId.get(tunnelId);
  }

  entries(): IterableIterator<RouteEntry> {
    return this.#byId.values();
  }

  /** Calls `listener` on each change. Returns the unsubscriber. */
  subscribe(listener: TableListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Replaces everything by `snapshot`, unless the table is newer. Returns whether it was taken. */
  load(snapshot: Snapshot): boolean {
    const steps = this.loading(snapshot);
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
    }
  }

  /**
   * The same in slices, for a table that has visitors: between two of them the loop may turn, and deltas wait (`needsSnapshot`). What is as it was is
   * left alone.
   */
  *loading(snapshot: Snapshot): Generator<void, boolean> {
    if (snapshot.version < this.#planeVersion) return false;
    const reload = this.#planeVersion >= 0;
    this.#needsSnapshot = true;
    const present = new Set<string>();
    for (const route of snapshot.routes) present.add(route.tunnelId);
    let steps = 0;
    for (const tunnelId of [...this.#byId.keys()]) {
      if (present.has(tunnelId)) continue;
      this.#remove(tunnelId, 'tunnel_deleted', 'This tunnel no longer exists.');
      if (++steps % ROUTES_OF_A_SLICE === 0) yield;
    }
    for (const route of snapshot.routes) {
      if (!isDeepStrictEqual(this.#byId.get(route.tunnelId)?.route, route)) this.#put(route);
      if (++steps % ROUTES_OF_A_SLICE === 0) yield;
    }
    for (const listener of this.#listeners) {
      listener.onAccessKeys?.(snapshot.accessKeys);
      listener.onVisitorKey?.(snapshot.visitorKey);
      listener.onExportingOrgs?.(snapshot.exportingOrgs ?? []);
    }
    yield* this.#loadRelays(snapshot.relays);
    this.#needsSnapshot = false;
    this.#reach(snapshot.version);
    if (reload) for (const listener of this.#listeners) listener.onReload?.();
    return true;
  }

  *#loadRelays(relays: readonly RelayRoute[]): Generator<void, void> {
    const present = new Set(relays.map(({ networkId }) => networkId));
    for (const listener of this.#listeners) listener.onRelayIds?.(present);
    let devices = 0;
    for (const relay of relays) {
      for (const listener of this.#listeners) listener.onRelay?.(relay);
      devices += relay.devices.length + 1;
      if (devices < DEVICES_OF_A_SLICE) continue;
      devices = 0;
      yield;
    }
  }

  /**
   * Takes one step. A delta that the table already shows is ignored. Returns false on a gap: nothing is applied then, nor any
   * later delta, until a snapshot is loaded.
   */
  apply(delta: Delta): boolean {
    if (delta.version <= this.#planeVersion) return true;
    if (this.#needsSnapshot || delta.version !== this.#planeVersion + 1) {
      this.#needsSnapshot = true;
      return false;
    }
    switch (delta.kind) {
      case 'put':
        this.#put(delta.route);
        break;
      case 'remove':
        this.#remove(delta.tunnelId, delta.code, delta.message);
        break;
      case 'revoke_token':
      case 'token_ends':
      case 'cut_org':
        this.end(delta);
        break;
      case 'token_limits':
        for (const listener of this.#listeners) listener.onTokenLimits?.(delta.limits);
        break;
      case 'budget':
        for (const listener of this.#listeners) listener.onBudget?.(delta.budget);
        break;
      case 'access_keys':
        for (const listener of this.#listeners) listener.onAccessKeys?.(delta.keys);
        break;
      case 'exporting_orgs':
        for (const listener of this.#listeners) listener.onExportingOrgs?.(delta.orgIds);
        break;
      case 'relay':
        for (const listener of this.#listeners) listener.onRelay?.(delta.relay);
        break;
      case 'relay_gone':
        for (const listener of this.#listeners) listener.onRelayGone?.(delta.networkId, delta.code, delta.message);
        break;
      case 'device':
        for (const listener of this.#listeners) listener.onDevice?.(delta.networkId, delta.device);
        break;
      case 'device_gone':
        for (const listener of this.#listeners) listener.onDeviceGone?.(delta.networkId, delta.deviceId);
        break;
      default:
        return delta satisfies never;
    }
    this.#reach(delta.version);
    return true;
  }

  /** What ends sessions, now and at its turn once more: that does no harm, and a change that is late must not hold it up. */
  end(delta: EndingDelta): void {
    for (const listener of this.#listeners) {
      if (delta.kind === 'revoke_token') listener.onRevoke?.(delta.tokenId, delta.message);
      else if (delta.kind === 'token_ends') listener.onTokenEnds?.(delta.tokenId, delta.expiresAt);
      else listener.onCutOrg?.(delta.orgId, delta.message);
    }
  }

  /** `entry.served` has changed. */
  servedAnew(entry: RouteEntry): void {
    for (const listener of this.#listeners) listener.onServed?.(entry);
  }

  /** Resolves true once the table shows `version` of the control plane, false when `timeoutMs` passes before. */
  reached(version: number, timeoutMs: number): Promise<boolean> {
    if (this.#planeVersion >= version) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiter = { version, resolve: () => finish(true) };
      const timer = setTimeout(() => finish(false), timeoutMs);
      const finish = (value: boolean): void => {
        clearTimeout(timer);
        this.#waiting.delete(waiter);
        resolve(value);
      };
      this.#waiting.add(waiter);
    });
  }

  #reach(version: number): void {
    this.#planeVersion = version;
    this.#version++;
    for (const waiter of this.#waiting) if (waiter.version <= version) waiter.resolve();
  }

  #put(route: Route): void {
    let entry = this.#byId.get(route.tunnelId);
    if (entry === undefined) {
      entry = new RouteEntry(route);
      this.#byId.set(route.tunnelId, entry);
    } else {
      this.#unindex(entry);
      entry.route = route;
    }
    if (route.subdomain !== '') this.#byHost.set(this.#hostOf(route), entry);
    for (const domain of route.domains) if (!this.#isOurs(domain)) this.#byHost.set(domain, entry);
    if (route.tcpPort !== null) this.#byPort.set(route.tcpPort, entry);
    this.#version++;
    for (const listener of this.#listeners) listener.onPut?.(entry);
  }

  #remove(tunnelId: string, code: RemovalCode, message: string): void {
    const entry = this.#byId.get(tunnelId);
    if (entry === undefined) return;
    this.#byId.delete(tunnelId);
    this.#unindex(entry);
    entry.removed = true;
    this.#version++;
    for (const listener of this.#listeners) listener.onRemove?.(entry, code, message);
  }

  /** Only what still points at this entry: a name that another tunnel took meanwhile stays with that tunnel. */
  #unindex(entry: RouteEntry): void {
    for (const host of [this.#hostOf(entry.route), ...entry.route.domains])
      if (this.#byHost.get(host) === entry) this.#byHost.delete(host);
    const port = entry.route.tcpPort;
    if (port !== null && this.#byPort.get(port) === entry) this.#byPort.delete(port);
  }

  /** Under the edge's domain labels alone count: a custom domain from before `edge.domain` was changed takes no tunnel's name. */
  #isOurs(domain: string): boolean {
    return domain.endsWith(this.#suffix);
  }

  #hostOf(route: Route): string {
    return route.subdomain.toLowerCase() + this.#suffix;
  }
}

function canonicalHost(host: string): string {
  const lower = host.toLowerCase();
  return lower.endsWith('.') ? lower.slice(0, -1) : lower;
}
