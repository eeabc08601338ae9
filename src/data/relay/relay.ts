/**
 * The relay of one private network: its public UDP port, the clients that speak to it, and the agent that carries their datagrams. Made by
 * relay-registry.ts when an agent wants to attach; flow-filter.ts says what may pass, attachment.ts knows the ways to the agent.
 *
 * Everything here is for each datagram: sent at once, or for the agent at the end of the turn; or dropped and counted.
 */
import { randomInt } from 'node:crypto';
import { bindDatagrams, type DatagramSocket } from '../../base/udp/datagrams.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { Throttle } from '../../base/limits/throttle.ts';
import type { TurnEnd } from '../../base/process/turn.ts';
import type { RelayDevice, RelayInfo, RelayPath, RelayRoute } from '../../plane/relays.ts';
import type { RefusalCode } from '../../wire/messages.ts';
import { MAX_DATAGRAM_BYTES } from '../../wire/relay-packets.ts';
import type { Outbox } from '../report/outbox.ts';
import { Attachment, type AttachmentHost } from './attachment.ts';
import type { Carrier } from './carrier.ts';
import type { FlowBudget } from './flow-budget.ts';
import { FormerTokens } from './handshake/former-tokens.ts';
import { FlowFilter } from './flow-filter.ts';
import { between, type Carried, RelayCounts } from './relay-counts.ts';

/** Faults of one relay are said once in so long, and changes of its path, which an agent can bring about as it likes. */
const FAULT_PERIOD_MS = 60_000;
const PATH_PERIOD_MS = 1_000;

export interface RelayDeps {
  readonly outbox: Outbox;
  readonly log: Logger;
  readonly clock: Clock;
  readonly turn: TurnEnd;
  readonly flowBudget: FlowBudget;
}

/** How public ports are bound. */
export interface RelayPlace {
  readonly host: string;
  /** False: one datagram per system call. */
  readonly batched?: boolean;
}

/** Why a relay ends, for its agent. */
export interface RelayEnd {
  readonly code: RefusalCode;
  readonly message: string;
}

export class Relay implements AttachmentHost {
  route: RelayRoute;
  /** Since the port was bound. */
  readonly counts = new RelayCounts();
  /** Another one, other flows: numbers of before mean nothing now. */
  readonly epoch = randomInt(0, 0x1_0000_0000);
  readonly turn: TurnEnd;
  readonly fromAgent = (flow: number, bytes: Buffer, start: number, end: number): void =>
    this.#toClient(flow, bytes, start, end);
  readonly #deps: RelayDeps;
  readonly #log: Logger;
  readonly #filter: FlowFilter;
  readonly #faults: Throttle;
  readonly #paths: Throttle;
  #socket: DatagramSocket | null = null;
  #attachment: Attachment | null = null;
  readonly #former = new FormerTokens();
  #attachedAt = 0;
  #pathSince = 0;
  /** What had passed when the agent attached, and at the last report. */
  #before: Carried = this.counts.carried();
  #told: Carried = this.#before;

  constructor(route: RelayRoute, deps: RelayDeps) {
    this.route = route;
    this.turn = deps.turn;
    this.#deps = deps;
    this.#log = deps.log.child({ networkId: route.networkId, port: route.port });
    this.#filter = new FlowFilter({
      orgId: route.orgId,
      budget: deps.flowBudget,
      nowMs: this.nowMs(),
      serverKey: () => this.route.serverKey,
    });
    this.#faults = new Throttle(FAULT_PERIOD_MS, () => this.nowMs());
    this.#paths = new Throttle(PATH_PERIOD_MS, () => this.nowMs());
  }

  /** Binds the public port. Rejects when that is not possible. */
  async open(place: RelayPlace): Promise<void> {
    this.#socket = await bindDatagrams({
      ...place,
      port: this.route.port,
      onDatagram: (bytes, start, end, address, port) => this.#onDatagram(bytes, start, end, address, port),
      onError: (error) => this.#fault(error),
      onLost: (count) => this.counts.drop('send_failed', count),
    });
  }

  /** Clients with a flow. */
  get flows(): number {
    return this.#filter.flows;
  }

  /** Undefined while no agent carries the network. */
  get path(): RelayPath | undefined {
    return this.#attachment?.path;
  }

  /** No agent, and no client that one could find again. */
  get isIdle(): boolean {
    return this.#attachment === null && this.flows === 0;
  }

  /** The agent that carries it, where that wants to know the devices. */
  get listener(): Carrier | undefined {
    const carrier = this.#attachment?.carrier;
    return carrier === undefined || carrier.onDevices === null ? undefined : carrier;
  }

  carriedBy(tokenId: string): boolean {
    return this.#attachment?.carrier.payer.tokenId === tokenId;
  }

  // ------------------------------------------------------------------ agents

  /** `carrier` carries it from now on; another that did so is notified. */
  attach(carrier: Carrier): Attachment {
    const { name } = this.route;
    const now = this.#deps.clock.now();
    const before = this.#attachment;
    this.#release();
    const attachment = new Attachment(carrier, this);
    this.#attachment = attachment;
    this.#attachedAt = this.#pathSince = now;
    this.#before = this.#told = this.counts.carried();
    this.#log.info({ agentId: carrier.agentId, whence: carrier.whence, flows: this.flows }, 'private network attached');
    const at = new Date(now).toISOString();
    before?.carrier.ended(
      'superseded',
      `Another agent, on ${carrier.whence}, took over the private network ${name} at ${at}.`,
    );
    return attachment;
  }

  detach(carrier: Carrier): void {
    if (this.#attachment?.carrier !== carrier) return;
    this.#release();
    this.#log.info({ agentId: carrier.agentId, flows: this.flows }, 'private network detached');
  }

  onPath(attachment: Attachment, path: RelayPath, why: string): void {
    this.#pathSince = this.#deps.clock.now();
    const passed = this.#paths.pass();
    if (passed === undefined) return;
    const { agentId } = attachment.carrier;
    this.#log.info({ agentId, path, why, ...passed }, "the agent's path for a private network changed");
  }

  // ------------------------------------------------------------------ devices

  addDevice(device: RelayDevice): void {
    this.#filter.addDevice(device, this.nowMs(), this.#deps.clock.now());
  }

  /** A device was removed at `at`, milliseconds since the epoch, perhaps before the port was bound. */
  lostDevice(at: number): void {
    this.#filter.lostDevice(this.nowMs() - Math.max(0, this.#deps.clock.now() - at));
  }

  removeDevice(deviceId: string): void {
    this.#filter.removeDevice(deviceId, this.nowMs());
  }

  // ------------------------------------------------------------------ time

  nowMs(): number {
    return this.#deps.clock.monotonic();
  }

  /** About once a second. */
  sweep(): void {
    const nowMs = this.nowMs();
    this.#filter.sweep(nowMs, this.#deps.clock.now());
    const attachment = this.#attachment;
    if (attachment === null) return;
    attachment.sweep(nowMs);
    if (attachment.carrier.payer.exhausted)
      this.#end({
        code: 'budget_exhausted',
        message: 'The access key has spent its monthly budget. Raise it, or wait for the first of the month (UTC).',
      });
  }

  /** Tells what passed since the last call, and of which devices something is known. */
  settle(): void {
    const { outbox, clock } = this.#deps;
    const { networkId } = this.route;
    for (const event of this.#filter.takeDeviceEvents(networkId, this.nowMs(), clock.now())) outbox.addDevice(event);
    const attachment = this.#attachment;
    if (attachment === null) return;
    const { payer } = attachment.carrier;
    const carried = this.counts.carried();
    const { packetsIn, bytesIn, packetsOut, bytesOut } = between(this.#told, carried);
    this.#told = carried;
    if (packetsIn + packetsOut === 0) return;
    outbox.addRelayUsage({ networkId, tokenId: payer.tokenId, packetsIn, bytesIn, packetsOut, bytesOut });
    payer.charge(bytesIn + bytesOut, 0);
  }

  info(): RelayInfo | undefined {
    const attachment = this.#attachment;
    if (attachment === null) return undefined;
    attachment.takeLost();
    const { networkId, orgId } = this.route;
    return {
      networkId,
      orgId,
      agentId: attachment.carrier.agentId,
      attachedAt: this.#attachedAt,
      path: attachment.path,
      managesPeers: attachment.carrier.onDevices !== null,
      pathSince: this.#pathSince,
      flows: this.flows,
      ...between(this.#before, this.counts.carried()),
      dropped: { ...this.counts.dropped },
    };
  }

  /** Frees the port, and tells the agent that carries it why. */
  close(end?: RelayEnd): void {
    if (end === undefined) this.#release();
    else this.#end(end);
    this.settle();
    this.#filter.close();
    this.#socket?.close();
    this.#socket = null;
  }

  // ------------------------------------------------------------------ datagrams

  send(bytes: Buffer, start: number, end: number, port: number, address: string): boolean {
    try {
      return this.#socket?.send(bytes, start, end, port, address) ?? false;
    } catch (error) {
      // Much is sent at the end of a turn, where a throw would be the process's.
      this.#fault(error);
      return false;
    }
  }

  /** Something came to the public port: of the agent or of a client. */
  #onDatagram(bytes: Buffer, start: number, end: number, address: string, port: number): void {
    const attachment = this.#attachment;
    const kind = attachment === null ? 0 : attachment.handshake.kindOf(bytes, start, end);
    if (kind !== 0) (attachment as Attachment).onPacket(kind, bytes, start, end, address, port);
    else if (this.#former.shownIn(bytes, start, end)) this.counts.drop('wrong_source');
    else this.#fromClient(bytes, start, end, address, port);
  }

  #fromClient(bytes: Buffer, start: number, end: number, address: string, port: number): void {
    const length = end - start;
    if (length > MAX_DATAGRAM_BYTES) return this.counts.drop('too_long');
    const nowMs = this.nowMs();
    const flow = this.#filter.fromClient(bytes, start, end, address, port, nowMs);
    if (flow === undefined) return this.counts.drop(this.#filter.drop);
    const attachment = this.#attachment;
    if (attachment === null) return this.counts.drop('no_agent');
    if (attachment.carrier.payer.exhausted) return this.counts.drop('budget');
    // Any host can send here. Its datagrams must not displace clients, nor keep a new one from its handshake.
    const passes = flow.isTrusted
      ? attachment.mayGo(length)
      : attachment.maySpare(length) || (this.#filter.passesMac1(bytes, start, end, nowMs) && attachment.mayGo(length));
    if (!passes) return this.counts.drop(attachment.path === 'stream' ? 'queue_full' : 'bandwidth');
    this.counts.packetsIn++;
    this.counts.bytesIn += length;
    attachment.send(flow.number, bytes, start, end);
  }

  #toClient(number: number, bytes: Buffer, start: number, end: number): void {
    const attachment = this.#attachment;
    if (attachment === null) return;
    const length = end - start;
    if (attachment.carrier.payer.exhausted) return this.counts.drop('budget');
    if (!attachment.mayCome(length)) return this.counts.drop('bandwidth');
    const flow = this.#filter.fromServer(number, bytes, start, end, this.nowMs());
    if (flow === undefined) return this.counts.drop(this.#filter.drop);
    if (!this.send(bytes, start, end, flow.port, flow.address)) return this.counts.drop('send_failed');
    this.counts.packetsOut++;
    this.counts.bytesOut += length;
  }

  // ------------------------------------------------------------------

  /** The agent carries it no more, and gets the reason. */
  #end({ code, message }: RelayEnd): void {
    const carrier = this.#attachment?.carrier;
    if (carrier === undefined) return;
    this.#release();
    this.#log.info({ agentId: carrier.agentId, code }, 'private network detached by the server');
    carrier.ended(code, message);
  }

  #release(): void {
    const attachment = this.#attachment;
    if (attachment === null) return;
    this.settle();
    attachment.close();
    this.#former.add(attachment.token);
    this.#attachment = null;
  }

  /** Of one datagram, which is lost; or what the system says of the port. */
  #fault(error: unknown): void {
    const passed = this.#faults.pass();
    if (passed === undefined) return;
    this.#log.error({ error: messageOf(error), err: error, ...passed }, 'internal error on a public UDP port');
  }
}
