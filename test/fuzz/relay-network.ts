/**
 * One network of the relay's fuzzer, with what the product has at the edge (handshake, flow filter, batch) and an agent, and no sockets: as relay.ts and
 * attachment.ts put them together. It checks what passes in both directions, and throws where a rule is broken.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { TurnJob } from '../../src/base/process/turn.ts';
import { Handshake } from '../../src/data/relay/handshake/handshake.ts';
import type { FlowBudget } from '../../src/data/relay/flow-budget.ts';
import type { Flow } from '../../src/data/relay/flows.ts';
import { FlowFilter } from '../../src/data/relay/flow-filter.ts';
import { RelayBatch } from '../../src/wire/relay-batch.ts';
import {
  BATCH_BYTES,
  DATA_HEAD_BYTES,
  hasRelayToken,
  RELAY_HEAD_BYTES,
  RELAY_KEY_BYTES,
  RELAY_KIND,
  RELAY_TOKEN_BYTES,
} from '../../src/wire/relay-packets.ts';
import { readFlow, readRecords } from '../../src/wire/relay-records.ts';
import { stampOf } from './relay-datagrams.ts';

export type Source = readonly [address: string, port: number];
export const nameOf = ([address, port]: Source): string => `${address} ${port}`;

/** A data packet of WireGuard, in its exact form. */
const isData = (bytes: Buffer): boolean => bytes.length >= 32 && bytes.length % 16 === 0 && bytes.readUInt32LE(0) === 4;

/** What is known of one flow, by what was seen to pass. */
interface Ledger {
  readonly client: string;
  datagrams: number;
  bytes: number;
  hasSpoken: boolean;
  isProven: boolean;
}

export class DryNetwork {
  readonly index: number;
  readonly token: Buffer;
  readonly key: Buffer;
  readonly handshake: Handshake;
  readonly filter: FlowFilter;
  readonly ledgers = new Map<number, Ledger>();
  /** What the server sent to that address: answers of the handshake. */
  readonly answers: Array<{ readonly to: Source; readonly bytes: Buffer }> = [];
  /** Flows that the agent has heard of. */
  readonly heardFlows: number[] = [];
  passedIn = 0;
  passedOut = 0;
  dropped = 0;
  readonly #batch: RelayBatch;
  readonly #turn: TurnJob[] = [];
  /** What the agent must get by UDP: flow, and the bytes. */
  readonly #expected: Array<readonly [number, Buffer]> = [];

  constructor(of: { index: number; seed: number; nowMs: number; budget: FlowBudget }) {
    const { index, seed, nowMs, budget } = of;
    const secret = createHash('sha512').update(`${seed} ${index}`).digest();
    this.index = index;
    this.token = secret.subarray(0, RELAY_TOKEN_BYTES);
    this.key = secret.subarray(RELAY_KEY_BYTES);
    this.handshake = new Handshake({ token: this.token, key: this.key, nowMs });
    const serverKey = secret.toString('base64', 0, RELAY_KEY_BYTES);
    this.filter = new FlowFilter({ orgId: `org ${index}`, budget, nowMs, serverKey: () => serverKey });
    const turn = { add: (job: TurnJob): void => void this.#turn.push(job) };
    const send = (bytes: Buffer, start: number, end: number): boolean => {
      this.#atAgent(bytes.subarray(start, end));
      return true;
    };
    this.#batch = new RelayBatch({ token: this.token, turn, send });
  }

  /** A datagram comes to the public port. */
  receive(bytes: Buffer, source: Source, nowMs: number): void {
    const before = nameOf([this.handshake.address, this.handshake.port]);
    const kind = this.handshake.kindOf(bytes, 0, bytes.length);
    if (kind === 0) this.#fromClient(bytes, source, nowMs);
    else if (kind === RELAY_KIND.data || kind === RELAY_KIND.batch) this.#fromAgent(kind, bytes, source, nowMs);
    else {
      const { answer, moved, drop } = this.handshake.onPacket(bytes, 0, bytes.length, source[0], source[1], nowMs);
      assert.ok((answer?.length ?? 0) <= bytes.length, 'an answer is longer than what it answers');
      assert.ok(answer === undefined || drop === undefined, 'what is dropped is not answered');
      if (moved === true) assert.equal(nameOf([this.handshake.address, this.handshake.port]), nameOf(source));
      else assert.equal(nameOf([this.handshake.address, this.handshake.port]), before, 'moved without a word');
      if (answer !== undefined) this.answers.push({ to: source, bytes: answer });
      if (drop !== undefined) this.dropped++;
    }
  }

  /** All that waits for the agent leaves. */
  turnEnds(): void {
    for (const job of this.#turn.splice(0)) job.atTurnEnd();
    assert.equal(this.#expected.length, 0, 'something did not leave by the end of the turn');
  }

  /** The agent has a datagram for a flow, whichever way it came. True: it went to the flow's client. `isStamped`: as its server made it. */
  toClient(number: number, bytes: Buffer, isStamped: boolean, nowMs: number): boolean {
    const flow = this.filter.fromServer(number, bytes, 0, bytes.length, nowMs);
    if (flow === undefined) {
      this.dropped++;
      return false;
    }
    this.passedOut++;
    assert.equal(flow.number, number);
    const ledger = this.ledgers.get(number);
    assert.ok(ledger !== undefined, 'an unknown flow');
    assert.equal(ledger.client, nameOf([flow.address, flow.port]), 'a flow that changed hands');
    const stamp = stampOf(bytes, 0, bytes.length);
    if (stamp !== undefined && isStamped) assert.deepEqual(stamp, { network: this.index, who: number });
    if (isData(bytes) && ledger.hasSpoken) ledger.isProven = true;
    ledger.datagrams--;
    ledger.bytes -= bytes.length;
    if (!ledger.isProven) {
      assert.equal(flow.isProven, false, 'proven by nothing');
      assert.ok(ledger.datagrams >= 0 && ledger.bytes >= 0, `${ledger.bytes} bytes and ${ledger.datagrams} datagrams`);
    }
    return true;
  }

  #fromClient(bytes: Buffer, source: Source, nowMs: number): void {
    const flow = this.filter.fromClient(bytes, 0, bytes.length, source[0], source[1], nowMs);
    if (flow === undefined) {
      this.dropped++;
      return;
    }
    this.passedIn++;
    this.#note(flow, bytes, source);
    this.#expected.push([flow.number, Buffer.from(bytes)]);
    this.#batch.add(flow.number, bytes, 0, bytes.length);
  }

  #note(flow: Flow, bytes: Buffer, source: Source): void {
    const client = nameOf(source);
    assert.equal(nameOf([flow.address, flow.port]), client);
    let ledger = this.ledgers.get(flow.number);
    if (ledger === undefined) {
      ledger = { client, datagrams: 0, bytes: 0, hasSpoken: false, isProven: false };
      this.ledgers.set(flow.number, ledger);
      this.heardFlows.push(flow.number);
    }
    assert.equal(ledger.client, client, 'a flow that changed hands');
    ledger.datagrams++;
    ledger.bytes += bytes.length;
    if (isData(bytes)) ledger.hasSpoken = true;
  }

  #fromAgent(kind: number, bytes: Buffer, source: Source, nowMs: number): void {
    if (!this.handshake.isAgent(source[0], source[1])) {
      this.dropped++;
      return;
    }
    const each = (flow: number, all: Buffer, start: number, end: number): void => {
      assert.ok(end <= bytes.length, 'beyond the end of the packet');
      this.toClient(flow, Buffer.from(all.subarray(start, end)), false, nowMs);
    };
    if (kind === RELAY_KIND.batch) readRecords(bytes, RELAY_HEAD_BYTES, bytes.length, each);
    else if (bytes.length >= DATA_HEAD_BYTES)
      each(readFlow(bytes, RELAY_HEAD_BYTES), bytes, DATA_HEAD_BYTES, bytes.length);
  }

  /** A packet as the agent gets it: its token, and the very datagrams of this network's clients. */
  #atAgent(packet: Buffer): void {
    assert.ok(hasRelayToken(packet, this.token));
    const take = (flow: number, all: Buffer, start: number, end: number): void => {
      const [number, bytes] = this.#expected.shift() ?? [];
      assert.ok(
        number === flow && bytes?.equals(all.subarray(start, end)),
        'not what the client sent, or not in its turn',
      );
    };
    if (packet[0] === RELAY_KIND.data)
      return take(readFlow(packet, RELAY_HEAD_BYTES), packet, DATA_HEAD_BYTES, packet.length);
    assert.equal(packet[0], RELAY_KIND.batch);
    assert.ok(packet.length <= BATCH_BYTES);
    assert.ok(readRecords(packet, RELAY_HEAD_BYTES, packet.length, take));
  }
}
