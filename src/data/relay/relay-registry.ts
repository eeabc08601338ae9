/**
 * All private networks of a node, and the relays of those that an agent carries or has carried lately. Made by data/node-parts.ts;
 * data/gateway opens, attaches and detaches. One relay's fault ends that one. A port is bound when an agent attaches, and stays
 * bound for as long as clients are heard, so that their flows keep their numbers: docs/decisions/0013-wireguard-relay.md.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { type Clock, systemClock } from '../../base/clock.ts';
import { codeOf, messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { TurnEnd } from '../../base/process/turn.ts';
import type { RelayDevice, RelayEndCode, RelayInfo, RelayRoute, RelayStats } from '../../plane/relays.ts';
import type { Outbox } from '../report/outbox.ts';
import type { TableListener } from '../routing/table.ts';
import type { Attachment } from './attachment.ts';
import { bindRefusal } from './bind-refusal.ts';
import type { Carrier } from './carrier.ts';
import { DeviceNotices } from './device-notices.ts';
import { FlowBudget } from './flow-budget.ts';
import { Relay, type RelayDeps, type RelayEnd, type RelayPlace } from './relay.ts';
import { RelayCounts } from './relay-counts.ts';

/** Silent agents, spent budgets, devices that have run out and idle flows are looked for this often. */
const SWEEP_MS = 1_000;
/** Each second sweep reports what passed, as for tunnels. */
const SETTLE_SWEEPS = 2;

/** Devices of a network whose port was just bound that are made known in one turn of the loop: 1 ms or two. */
const ENROL_AT_ONCE = 64;

/** The route as it is with the port bound; or why there is none, and what to do. */
export type OpenOutcome = { readonly ok: true; readonly route: RelayRoute } | ({ readonly ok: false } & RelayEnd);

interface Network {
  route: RelayRoute;
  readonly devices: Map<string, RelayDevice>;
  /** When the last device was removed, milliseconds since the epoch. */
  lostAt: number;
  relay: Relay | null;
  readonly notices: DeviceNotices;
  opening: Promise<OpenOutcome> | null;
}

const SHUTDOWN: RelayEnd = {
  code: 'server_shutdown',
  message: 'The server is shutting down. The agent will reconnect.',
};
const GONE: RelayEnd = {
  code: 'network_deleted',
  message: 'The private network was deleted, or this server does not relay it. List networks: culvert network list',
};

export interface RelayRegistryDeps {
  readonly outbox: Outbox;
  readonly log: Logger;
  readonly clock?: Clock;
}

/** The private networks of a node and their relays. */
export class RelayRegistry implements TableListener {
  readonly #place: RelayPlace;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #relayDeps: RelayDeps;
  readonly #networks = new Map<string, Network>();
  /** Those with an open port. */
  readonly #open = new Set<Network>();
  /** What relays that are gone have carried and dropped. */
  readonly #past = new RelayCounts();
  readonly #timer: NodeJS.Timeout;
  #sweeps = 0;
  #closed = false;

  constructor(place: RelayPlace, deps: RelayRegistryDeps) {
    this.#place = place;
    this.#log = deps.log;
    this.#clock = deps.clock ?? systemClock;
    this.#relayDeps = {
      outbox: deps.outbox,
      log: deps.log,
      clock: this.#clock,
      turn: new TurnEnd(),
      flowBudget: new FlowBudget(this.#clock.monotonic()),
    };
    this.#timer = setInterval(() => this.sweep(), SWEEP_MS);
    this.#timer.unref();
  }

  // ------------------------------------------------------------------ for the gateway

  routeOf(networkId: string): RelayRoute | undefined {
    return this.#networks.get(networkId)?.route;
  }

  /** Resolves once the network's public port is bound, or can't be. Tries again if it could not be before. */
  open(networkId: string): Promise<OpenOutcome> {
    const network = this.#networks.get(networkId);
    if (this.#closed) return Promise.resolve(refused(SHUTDOWN));
    if (network === undefined) return Promise.resolve(refused(GONE));
    if (network.relay !== null) return Promise.resolve({ ok: true, route: network.route });
    network.opening ??= this.#bind(network).finally(() => {
      network.opening = null;
    });
    return network.opening;
  }

  /** From now on `carrier` carries the network, whose port must be open; another that did so is notified and loses it. */
  attach(networkId: string, carrier: Carrier): Attachment {
    const relay = this.#networks.get(networkId)?.relay;
    if (relay === undefined || relay === null) throw new Error(`the port of network ${networkId} is not open`);
    return relay.attach(carrier);
  }

  /** `carrier` carries it no more. Nothing happens when another has taken its place. */
  detach(networkId: string, carrier: Carrier): void {
    this.#networks.get(networkId)?.relay?.detach(carrier);
  }

  /** Networks that sessions of this token carry now. */
  carriedBy(tokenId: string): RelayRoute[] {
    const routes: RelayRoute[] = [];
    for (const { relay, route } of this.#open) if (relay?.carriedBy(tokenId) === true) routes.push(route);
    return routes;
  }

  // ------------------------------------------------------------------ for the control plane

  /** Undefined while no agent carries it. */
  info(networkId: string): RelayInfo | undefined {
    return this.#networks.get(networkId)?.relay?.info();
  }

  stats(): RelayStats {
    const now = { attached: 0, onStream: 0, flows: 0 };
    const sum = new RelayCounts();
    sum.add(this.#past);
    for (const { relay } of this.#open) {
      if (relay === null) continue;
      const path = relay.path;
      if (path !== undefined) now.attached++;
      if (path === 'stream') now.onStream++;
      now.flows += relay.flows;
      sum.add(relay.counts);
    }
    return { ...now, ...sum.carried(), dropped: sum.dropped };
  }

  // ------------------------------------------------------------------ from the routing table

  onRelayIds(present: ReadonlySet<string>): void {
    for (const networkId of [...this.#networks.keys()])
      if (!present.has(networkId))
        this.onRelayGone(networkId, 'network_deleted', 'This private network no longer exists.');
  }

  onRelay(route: RelayRoute): void {
    const devices = new Map(route.devices.map((device) => [device.deviceId, device]));
    const network = this.#networks.get(route.networkId);
    if (network === undefined) {
      const lostAt = route.deviceLostAt ?? -Infinity;
      const notices = new DeviceNotices();
      this.#networks.set(route.networkId, { route, devices, lostAt, relay: null, notices, opening: null });
      return;
    }
    const { port } = network.route;
    network.route = route;
    for (const deviceId of network.devices.keys())
      if (!devices.has(deviceId)) this.onDeviceGone(route.networkId, deviceId);
    for (const device of devices.values()) this.onDevice(route.networkId, device);
    if (port !== route.port) this.#drop(network, movedTo(route));
    else if (network.relay !== null) network.relay.route = route;
  }

  onRelayGone(networkId: string, code: RelayEndCode, message: string): void {
    const network = this.#networks.get(networkId);
    if (network === undefined) return;
    this.#networks.delete(networkId);
    this.#drop(network, { code, message });
  }

  onDevice(networkId: string, device: RelayDevice): void {
    const network = this.#networks.get(networkId);
    network?.devices.set(device.deviceId, device);
    network?.notices.changed();
    network?.relay?.addDevice(device);
  }

  onDeviceGone(networkId: string, deviceId: string): void {
    const network = this.#networks.get(networkId);
    if (network === undefined) return;
    network.devices.delete(deviceId);
    network.notices.changed();
    network.lostAt = this.#clock.now();
    network.relay?.removeDevice(deviceId);
  }

  // ------------------------------------------------------------------

  /** Ends what is over by the clock; reports what passed every second time. */
  sweep(): void {
    const settles = ++this.#sweeps % SETTLE_SWEEPS === 0;
    for (const network of [...this.#open]) {
      const { relay } = network;
      if (relay === null) continue;
      try {
        relay.sweep();
        if (settles) relay.settle();
        network.notices.sweep(relay.listener, network.devices, this.#clock.now());
        if (relay.isIdle) this.#drop(network);
      } catch (error) {
        this.#log.error({ networkId: network.route.networkId, err: error }, 'a relay failed and was closed');
        this.#drop(network, {
          code: 'internal',
          message: 'The relay of this network failed. The agent will retry.',
        });
      }
    }
  }

  /** Closes all ports. The agents' sessions end by themselves. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const network of [...this.#open]) this.#drop(network, SHUTDOWN);
  }

  async #bind(network: Network): Promise<OpenOutcome> {
    const { networkId, port } = network.route;
    const relay = new Relay(network.route, this.#relayDeps);
    try {
      await relay.open(this.#place);
    } catch (error) {
      const { host } = this.#place;
      this.#log.error(
        { networkId, host, port, code: codeOf(error), error: messageOf(error) },
        'could not open a public UDP port',
      );
      return refused(this.#overtaken(network, port) ?? bindRefusal(error, host, port));
    }
    await this.#enrol(relay, network);
    const overtaken = this.#overtaken(network, port);
    if (overtaken !== undefined) {
      relay.close();
      return refused(overtaken);
    }
    relay.route = network.route;
    relay.lostDevice(network.lostAt);
    network.relay = relay;
    this.#open.add(network);
    return { ok: true, route: network.route };
  }

  /** Why `port` is not wanted any more after its bind. */
  #overtaken(network: Network, port: number): RelayEnd | undefined {
    const { route } = network;
    if (this.#closed) return SHUTDOWN;
    if (this.#networks.get(route.networkId) !== network) return GONE;
    return route.port === port ? undefined : movedTo(route);
  }

  /** Each device's key costs some 20 us once: thousands must not hold the loop, and what changes meanwhile counts. */
  async #enrol(relay: Relay, { devices }: Network): Promise<void> {
    const known = new Set<string>();
    for (const device of devices.values()) {
      if (known.size % ENROL_AT_ONCE === 0) await turn();
      relay.addDevice(device);
      known.add(device.deviceId);
    }
    for (const device of devices.values()) relay.addDevice(device);
    for (const deviceId of known) if (!devices.has(deviceId)) relay.removeDevice(deviceId);
  }

  /** The relay is over: its port is free, and its agent gets the reason. */
  #drop(network: Network, end?: RelayEnd): void {
    const { relay } = network;
    if (relay === null) return;
    network.relay = null;
    this.#open.delete(network);
    try {
      relay.close(end);
    } catch (error) {
      this.#log.error({ networkId: network.route.networkId, err: error }, 'could not close a relay cleanly');
    }
    this.#past.add(relay.counts);
  }
}

function refused(end: RelayEnd): OpenOutcome {
  return { ok: false, ...end };
}

function movedTo({ name, port }: RelayRoute): RelayEnd {
  return {
    code: 'network_not_ready',
    message: `The UDP port of ${name} changed to ${port}. The agent will reattach. Give clients new configurations: culvert network config`,
  };
}
