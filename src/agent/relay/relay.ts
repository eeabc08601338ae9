/**
 * One private network of an agent: what the user asked for, what the server made of it, and what carries its datagrams. Changed by
 * agent.ts only.
 */
import type { Logger } from '../../base/log.ts';
import type { MuxStream, StreamSink } from '../../mux/stream.ts';
import type { Attach, Attached, Peers } from '../../wire/messages.ts';
import type { AgentEvent, RelayPath, RelayView } from '../events.ts';
import { type Need, type Refusal, Wanted } from '../wanted.ts';
import { Carrier, type CarrierFloor } from './carrier.ts';
import type { PeerChanges } from './peers/peer-keeper.ts';
import { type ManagedPeers, managePeers } from './peers/managed-peers.ts';
import type { RelaySpec } from './spec.ts';

export interface RelayOwner {
  onPath(relay: Relay, path: RelayPath, why: string): void;
  onFault(relay: Relay, fault: string | undefined): void;
  onPeers(relay: Relay, changes: PeerChanges): void;
  onPeersFault(relay: Relay): void;
}

export class Relay extends Wanted {
  readonly noun = 'relay';
  readonly spec: RelaySpec;
  readonly #carrier: Carrier;
  readonly #log: Logger;
  override readonly needs: readonly Need[];
  readonly #peers: ManagedPeers | undefined;
  #attached: Attached | undefined;

  constructor(spec: RelaySpec, options: { floor: CarrierFloor; owner: RelayOwner; random: () => number }) {
    super(options.random);
    const { floor, owner } = options;
    this.spec = spec;
    this.#log = floor.log.child({ relay: spec.name });
    const { manage } = spec;
    this.needs = manage === undefined ? [] : [{ feature: 'peers', options: '--manage' }];
    this.#peers =
      manage === undefined
        ? undefined
        : managePeers(manage, {
            floor,
            log: this.#log,
            onChanges: (changes) => owner.onPeers(this, changes),
            onFault: () => owner.onPeersFault(this),
          });
    this.#carrier = new Carrier(spec, floor, {
      onPath: (path, why) => {
        owner.onPath(this, path, why);
        this.#logPath(path, why);
      },
      onFault: (fault) => owner.onFault(this, fault),
    });
  }

  setAttached(attached: Attached): void {
    this.#attached = attached;
    this.setOnline();
  }

  logLive(): void {
    const { name, endpoint } = this.#attached ?? {};
    this.#log.info({ network: name, endpoint, target: this.spec.target.text }, 'relay is live');
  }

  /** Begins to carry what it was attached for. `remote`: the address of the session's far end. */
  carry(remote: string | undefined): void {
    if (this.#attached !== undefined) this.#carrier.attach(this.#attached, remote);
  }

  override setAway(state: 'waiting' | 'ended', reason: string): void {
    super.setAway(state, reason);
    if (state === 'ended') this.close();
    else this.#carrier.detach();
  }

  /** The server has opened a stream for the datagrams. */
  take(stream: MuxStream): StreamSink {
    return this.#carrier.take(stream);
  }

  /** A person asked to try UDP now. */
  tryNow(): void {
    this.#carrier.tryNow();
  }

  /** A part of the devices that may connect now. */
  takePeers(peers: Peers): void {
    if (this.#attached !== undefined) this.#peers?.take(peers, this.#attached.networkId);
  }

  close(): void {
    this.#carrier.close();
    this.#peers?.close();
  }

  ask(ref: number): Attach {
    const { network, target, manage } = this.spec;
    return { type: 'attach', ref, network, target: target.text, ...(manage === undefined ? {} : { peers: true }) };
  }

  targetEvent(): AgentEvent {
    return { kind: 'relay_target', relay: this.view() };
  }

  offlineEvent(reason: string): AgentEvent {
    return { kind: 'relay_offline', relay: this.view(), reason };
  }

  refusedEvent({ code, message }: Refusal, final: boolean): AgentEvent {
    return { kind: 'relay_refused', relay: this.view(), code, message, final };
  }

  #logPath(path: RelayPath, why: string): void {
    if (path === 'udp') return this.#log.info({ why }, 'datagrams use UDP');
    if (!this.spec.udp) return this.#log.info({ why }, 'datagrams use the TLS session');
    const words = 'no UDP connection to the server: datagrams use the TLS session, which is slower with packet loss';
    this.#log.warn({ why }, `${words}. Retrying UDP.`);
  }

  view(): RelayView {
    const carrier = this.#carrier;
    return {
      name: this.spec.name,
      network: this.#attached?.name ?? this.spec.network,
      networkId: this.#attached?.networkId,
      target: this.spec.target.text,
      state: this.state,
      endpoint: this.#attached?.endpoint,
      path: this.state === 'online' ? carrier.path : undefined,
      udp: carrier.udpState,
      pathWhy: carrier.pathWhy,
      manages: this.#peers?.view(),
      reason: this.reason,
      fault: this.fault,
      clients: carrier.clients,
      packetsIn: carrier.packetsIn,
      bytesIn: carrier.bytesIn,
      packetsOut: carrier.packetsOut,
      bytesOut: carrier.bytesOut,
      dropped: carrier.dropped,
    };
  }
}
