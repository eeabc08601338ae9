/**
 * The clients of one network: each address and port that speaks to its public port has a flow, which the agent knows by its
 * number. Looked up per datagram, in both directions. Keeps no time of its own and sends nothing. A flow begins *unproven* and is
 * sent no more than came from it; when it is proven, and which one gives way: docs/decisions/0013-wireguard-relay.md.
 */
import { Allowance } from '../../base/limits/allowance.ts';
import { FLOW_IDLE_MS } from '../../wire/relay-packets.ts';
import type { DeviceMark } from './device-mark.ts';
import type { FlowBudget } from './flow-budget.ts';

/** As many as a large office has machines; a flow costs some 300 bytes here and a socket at the agent. */
export const MAX_FLOWS = 1_024;
/** Clients do not come faster, except after an outage, when all come at once. Forged ones do. As many again of each other kind. */
const NEW_FLOWS = { perSecond: 100, burst: 500 };
const MAX_NUMBER = 0xffff_ffff;

/** What a new client has shown: nothing; that it knows the network; the session of a device. Each kind has an allowance that the others can't use up. */
export type Arrival = 'stranger' | 'mac1' | 'session';

export class Flow {
  readonly number: number;
  readonly address: string;
  readonly port: number;
  /** When its client was heard last. */
  heardMs: number;
  isProven = false;
  /** The device that it is taken for. */
  mark: DeviceMark | undefined;
  /** Its client has answered a handshake of the server, as it seems: the server's next data packet says that it was so. */
  hasAnswered = false;
  /** The session that its client's last data packet named, when that is the mark's; -1: none yet. */
  session = -1;

  /** For its table only. */
  isGone = false;
  /** Its client has sent a data packet. */
  hasSpoken = false;
  /** What may still be sent to it while it is unproven. */
  datagramsOwed = 0;
  bytesOwed = 0;
  /** Neighbours among the unproven flows, by when they were heard. */
  older: Flow | undefined;
  newer: Flow | undefined;

  /** Has the network's server authenticated its client? By what it has sent to it, or by a session that it began with a device. */
  get isTrusted(): boolean {
    return this.isProven || this.mark !== undefined;
  }

  constructor(of: {
    readonly number: number;
    readonly address: string;
    readonly port: number;
    readonly nowMs: number;
  }) {
    this.number = of.number;
    this.address = of.address;
    this.port = of.port;
    this.heardMs = of.nowMs;
  }
}

export interface FlowsOptions {
  /** Whose network it is: for its share of the node. */
  readonly orgId: string;
  /** Shared with the other networks of the node. */
  readonly budget: FlowBudget;
  readonly nowMs: number;
  /** A flow has gone: it was idle, displaced, or cut. */
  readonly onGone: (flow: Flow) => void;
}

export class Flows {
  readonly orgId: string;
  readonly #budget: FlowBudget;
  readonly #onGone: (flow: Flow) => void;
  readonly #arrivals: Readonly<Record<Arrival, Allowance>>;
  readonly #byAddress = new Map<string, Map<number, Flow>>();
  readonly #byNumber = new Map<number, Flow>();
  /** The flow of the last datagram from a client: many come from the same one behind each other. */
  #latest: Flow | undefined;
  #lastNumber = 0;
  /** Ends of the list of unproven flows. */
  #oldest: Flow | undefined;
  #newest: Flow | undefined;
  #unproven = 0;

  constructor({ orgId, budget, nowMs, onGone }: FlowsOptions) {
    this.orgId = orgId;
    this.#budget = budget;
    this.#onGone = onGone;
    this.#arrivals = {
      stranger: new Allowance(NEW_FLOWS, nowMs),
      mac1: new Allowance(NEW_FLOWS, nowMs),
      session: new Allowance(NEW_FLOWS, nowMs),
    };
  }

  get size(): number {
    return this.#byNumber.size;
  }

  /** Flows that could be displaced. */
  get unproven(): number {
    return this.#unproven;
  }

  /** The flow of a client, if it has one. */
  find(address: string, port: number): Flow | undefined {
    const latest = this.#latest;
    if (latest !== undefined && latest.port === port && latest.address === address) return latest;
    const flow = this.#byAddress.get(address)?.get(port);
    if (flow !== undefined) this.#latest = flow;
    return flow;
  }

  /** The flow with that number, if there is one. */
  at(number: number): Flow | undefined {
    return this.#byNumber.get(number);
  }

  all(): Iterable<Flow> {
    return this.#byNumber.values();
  }

  /** Do more new clients come than may? Then only those get a flow who have shown something. */
  isRush(nowMs: number): boolean {
    return !this.#arrivals.stranger.hasOne(nowMs);
  }

  /** A flow for a client that has none. Undefined: no room, or too many new ones of its kind. */
  open(address: string, port: number, nowMs: number, arrival: Arrival): Flow | undefined {
    const arrivals = this.#arrivals[arrival];
    if (!arrivals.hasOne(nowMs)) return undefined;
    if (this.size >= MAX_FLOWS && !this.displace()) return undefined;
    if (!this.#budget.take(this)) return undefined;
    arrivals.spend();
    const flow = new Flow({ number: this.#freeNumber(), address, port, nowMs });
    this.#byNumber.set(flow.number, flow);
    const ports = this.#byAddress.get(address);
    if (ports === undefined) this.#byAddress.set(address, new Map([[port, flow]]));
    else ports.set(port, flow);
    this.#link(flow);
    this.#latest = flow;
    return flow;
  }

  /** A datagram of `bytes` came from the flow's client; `isData`: it looks like a data packet of WireGuard. */
  heard(flow: Flow, bytes: number, isData: boolean, nowMs: number): void {
    flow.heardMs = nowMs;
    if (flow.isProven) return;
    if (isData) flow.hasSpoken = true;
    flow.datagramsOwed++;
    flow.bytesOwed += bytes;
    if (flow === this.#newest) return;
    this.#unlink(flow);
    this.#link(flow);
  }

  /** May the server's datagram of `bytes` go to the flow's client? True: it is counted as sent. */
  maySend(flow: Flow, bytes: number, isData: boolean): boolean {
    if (flow.isProven) return true;
    if (isData && flow.hasSpoken) {
      flow.isProven = true;
      this.#unlink(flow);
      return true;
    }
    if (flow.datagramsOwed === 0 || flow.bytesOwed < bytes) return false;
    flow.datagramsOwed--;
    flow.bytesOwed -= bytes;
    return true;
  }

  /** Forgets the flow. May be called twice. */
  cut(flow: Flow): void {
    if (flow.isGone) return;
    flow.isGone = true;
    if (!flow.isProven) this.#unlink(flow);
    if (this.#latest === flow) this.#latest = undefined;
    this.#byNumber.delete(flow.number);
    const ports = this.#byAddress.get(flow.address);
    ports?.delete(flow.port);
    if (ports?.size === 0) this.#byAddress.delete(flow.address);
    this.#budget.giveBack(this);
    this.#onGone(flow);
  }

  /** Forgets the unproven flow that has been silent for longest. False: there is none. For this and the node's budget. */
  displace(): boolean {
    if (this.#oldest === undefined) return false;
    this.cut(this.#oldest);
    return true;
  }

  /** Forgets the flow that has been silent for longest, proven or not. False: there is none. For the node's budget; looks at all. */
  displaceAny(): boolean {
    let oldest: Flow | undefined;
    for (const flow of this.#byNumber.values()) if (flow.heardMs < (oldest?.heardMs ?? Infinity)) oldest = flow;
    if (oldest === undefined) return false;
    this.cut(oldest);
    return true;
  }

  /** Forgets flows whose clients have been silent for FLOW_IDLE_MS. Looks at all: to be called every few seconds. */
  expire(nowMs: number): void {
    for (const flow of this.#byNumber.values()) if (nowMs - flow.heardMs >= FLOW_IDLE_MS) this.cut(flow);
  }

  /** Forgets all flows, when the network goes. */
  clear(): void {
    for (const flow of this.#byNumber.values()) this.cut(flow);
  }

  /** Numbers are used again only after all others: a datagram on its way to a client that has gone reaches no other. */
  #freeNumber(): number {
    do this.#lastNumber = (this.#lastNumber % MAX_NUMBER) + 1;
    while (this.#byNumber.has(this.#lastNumber));
    return this.#lastNumber;
  }

  #link(flow: Flow): void {
    flow.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = flow;
    else this.#newest.newer = flow;
    this.#newest = flow;
    this.#unproven++;
  }

  #unlink(flow: Flow): void {
    if (flow.older === undefined) this.#oldest = flow.newer;
    else flow.older.newer = flow.newer;
    if (flow.newer === undefined) this.#newest = flow.older;
    else flow.newer.older = flow.older;
    flow.older = undefined;
    flow.newer = undefined;
    this.#unproven--;
  }
}
