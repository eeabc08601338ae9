/**
 * The flow filter between the clients of one network and its server: flows and devices together. relay.ts asks for each
 * datagram in both directions, and sends what passes. Pure: no socket, and the time is an argument. A device that is removed or
 * has expired is cut at once: no flow, no new session, no handshake. Reasons: docs/decisions/0013-wireguard-relay.md.
 */
import type { DeviceEvent, RelayDevice, RelayDrop } from '../../plane/relays.ts';
import type { DeviceMark } from './device-mark.ts';
import { DeviceMarks } from './devices.ts';
import type { FlowBudget } from './flow-budget.ts';
import { type Arrival, type Flow, Flows } from './flows.ts';
import { Mac1Check } from './handshake/mac1-check.ts';
import { FORM, type Form, firstSession, formOf, isPadded, secondSession } from '../../wire/wireguard.ts';

export interface FlowFilterOptions {
  /** Whose network it is. */
  readonly orgId: string;
  /** What all networks of the node share. */
  readonly budget: FlowBudget;
  readonly nowMs: number;
  /** The WireGuard public key of the network's server, as it is now: 32 bytes in base64. */
  readonly serverKey: () => string;
}

/** Decides for each datagram of one network whether it passes. */
export class FlowFilter {
  /** Why the last datagram that did not pass did not. */
  drop: RelayDrop = 'flows';
  readonly #flows: Flows;
  readonly #devices: DeviceMarks;
  readonly #mac1Check: Mac1Check;
  /** The datagram that `fromClient` had last has passed the mac1 check: a message counts once, so it is checked once. */
  #passedMac1 = false;

  constructor({ orgId, budget, nowMs, serverKey }: FlowFilterOptions) {
    const onGone = (flow: Flow): void => this.#setMark(flow, undefined);
    this.#flows = new Flows({ orgId, budget, nowMs, onGone });
    this.#devices = new DeviceMarks({ shared: budget.comparisons, nowMs });
    this.#mac1Check = new Mac1Check({ serverKey, nowMs });
  }

  /** Clients with a flow. */
  get flows(): number {
    return this.#flows.size;
  }

  /** `bytes[start, end)` came to the public port from a client. Its flow, by which it goes to the agent; undefined: `drop` says why it does not. */
  fromClient(
    bytes: Buffer,
    start: number,
    end: number,
    address: string,
    port: number,
    nowMs: number,
  ): Flow | undefined {
    const form = formOf(bytes, start, end);
    this.#passedMac1 = false;
    let flow = this.#flows.find(address, port);
    const session = sessionOf(form, bytes, start);
    let owner: DeviceMark | undefined;
    // Nearly always it is the session of the packet before.
    if (session >= 0 && session !== flow?.session) {
      owner = this.#devices.ofSession(session);
      if (owner === undefined ? this.#devices.areStrangersOut(nowMs) : owner.isGone)
        return this.#refuse('not_enrolled');
    }
    if (flow === undefined) {
      let arrival: Arrival = 'stranger';
      if (this.#flows.isRush(nowMs)) {
        if (owner !== undefined) arrival = 'session';
        else if (this.passesMac1(bytes, start, end, nowMs)) arrival = 'mac1';
      }
      flow = this.#flows.open(address, port, nowMs, arrival);
      if (flow === undefined) return this.#refuse('flows');
    }
    if (owner !== undefined) {
      this.#setMark(flow, owner);
      flow.session = session;
    }
    this.#flows.heard(flow, end - start, form === FORM.data && isPadded(start, end), nowMs);
    const { mark } = flow;
    if (mark !== undefined) {
      mark.bytesIn += end - start;
      if (form === FORM.response) flow.hasAnswered = true;
      this.#sawDevice(mark, flow);
    }
    return flow;
  }

  /**
   * Is `bytes[start, end)`, which `fromClient` has just had, the first message of a handshake by a client that knows the network? Not free: for when there is
   * no room for all.
   */
  passesMac1(bytes: Buffer, start: number, end: number, nowMs: number): boolean {
    if (this.#passedMac1 || formOf(bytes, start, end) !== FORM.initiation) return this.#passedMac1;
    this.#passedMac1 = this.#mac1Check.isKnown(bytes, start, end, nowMs);
    return this.#passedMac1;
  }

  /** `bytes[start, end)` came from the agent for flow `number`. The flow, to whose client it goes; undefined: `drop` says why it does not. */
  fromServer(number: number, bytes: Buffer, start: number, end: number, nowMs: number): Flow | undefined {
    const flow = this.#flows.at(number);
    if (flow === undefined) return this.#refuse('no_flow');
    const form = formOf(bytes, start, end);
    const isData = form === FORM.data;
    if (isData && flow.mark === undefined && this.#devices.areStrangersOut(nowMs)) return this.#refuse('not_enrolled');
    if (!this.#flows.maySend(flow, end - start, isData && isPadded(start, end))) return this.#refuse('unproven');
    if (form === FORM.initiation || form === FORM.response) {
      const mark = this.#devices.receiverOf(flow, bytes, start, end, nowMs);
      if (mark === undefined) return this.#refuse('not_enrolled');
      this.#setMark(flow, mark);
      this.#devices.began(mark, firstSession(bytes, start));
      // The client has asked, and the server has found it to be the one.
      if (form === FORM.response) mark.handshakeMs = nowMs;
      this.#sawDevice(mark, flow);
    }
    if (flow.mark !== undefined) {
      if (flow.hasAnswered && isData) {
        flow.mark.handshakeMs = nowMs;
        flow.hasAnswered = false;
      }
      flow.mark.bytesOut += end - start;
      this.#devices.tell(flow.mark);
    }
    return flow;
  }

  /** A device that is enrolled, or what has changed of it. `wallMs`: the clock that expiry is by. */
  addDevice(device: RelayDevice, nowMs: number, wallMs: number): void {
    this.#cutFlowsOf(this.#devices.add(device, nowMs, wallMs));
  }

  removeDevice(deviceId: string, nowMs: number): void {
    this.#cutFlowsOf(this.#devices.remove(deviceId, nowMs));
  }

  /** A device was removed at `atMs`, before this began. */
  lostDevice(atMs: number): void {
    this.#devices.lost(atMs);
  }

  /** Forgets idle flows and cuts devices that have run out. At least once a second. */
  sweep(nowMs: number, wallMs: number): void {
    this.#flows.expire(nowMs);
    for (const mark of this.#devices.expire(nowMs, wallMs)) this.#cutFlowsOf(mark);
  }

  /** What became known of devices since the last call. `wallMs` and `nowMs` are of the same moment. */
  takeDeviceEvents(networkId: string, nowMs: number, wallMs: number): DeviceEvent[] {
    return this.#devices.take(networkId, nowMs, wallMs);
  }

  /** The network is over: its flows go back to the node's budget. */
  close(): void {
    this.#flows.clear();
  }

  #refuse(drop: RelayDrop): undefined {
    this.drop = drop;
  }

  #setMark(flow: Flow, mark: DeviceMark | undefined): void {
    if (flow.mark === mark) return;
    if (flow.mark !== undefined) this.#devices.left(flow.mark);
    if (mark !== undefined) this.#devices.came(mark);
    flow.mark = mark;
    flow.session = -1;
    flow.hasAnswered = false;
  }

  #sawDevice(mark: DeviceMark, flow: Flow): void {
    mark.address = flow.address;
    mark.port = flow.port;
    mark.heardMs = flow.heardMs;
    this.#devices.tell(mark);
  }

  #cutFlowsOf(mark: DeviceMark | undefined): void {
    if (mark === undefined) return;
    for (const flow of this.#flows.all()) if (flow.mark === mark) this.#flows.cut(flow);
  }
}

/** The session of the server that a client's message is for; -1: it names none. */
function sessionOf(form: Form, bytes: Buffer, start: number): number {
  if (form === FORM.data) return firstSession(bytes, start);
  return form === FORM.response ? secondSession(bytes, start) : -1;
}
