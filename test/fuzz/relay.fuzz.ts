/**
 * Fuzzes the relay of private networks, without sockets, for `npm run fuzz -- relay` and in short for CI. In a round some networks of one node live at
 * random: clients, devices that come and go, servers that answer, agents that move; among others who forge sources, repeat what they
 * overheard, hand challenges on, and send damaged packets. The rules that must hold:
 *
 *   - what a client sends reaches its network's agent, as it was and in one turn, under a number that is that client's alone; what comes back
 *     reaches that client
 *   - only the agent, at an address where it hears the server, is taken for the agent
 *   - an address that is not proven is sent no more datagrams and no more bytes than came from it; no packet is answered by a longer one
 *   - no handshake is passed on to a key that is not enrolled, and no data packet of a session of a device that was removed
 *   - flows stay within the bounds of network and node
 *   - nothing throws
 */
import assert from 'node:assert/strict';
import { FlowBudget, OWN_FLOWS } from '../../src/data/relay/flow-budget.ts';
import { MAX_FLOWS } from '../../src/data/relay/flows.ts';
import { deviceOf } from '../../src/data/relay/testing.ts';
import type { RelayDevice } from '../../src/plane/relays.ts';
import {
  encodeSigned,
  HELLO_BYTES,
  MAC_BYTES,
  NONCE_BYTES,
  RELAY_HEAD_BYTES,
  RELAY_KIND,
} from '../../src/wire/relay-packets.ts';
import { RecordReader, writeFlow, writeRecord } from '../../src/wire/relay-records.ts';
import { type Random, randomOf } from './cases.ts';
import { DryNetwork, nameOf, type Source } from './relay-network.ts';
import { below, damaged, datagramOf, oneOf } from './relay-datagrams.ts';

const NETWORKS = 3;
const CLIENTS = 120;
/** Small, so that it is reached. */
const NODE_FLOWS = 90;
const WALL_MS = 1_800_000_000_000;
const SESSION_MS = 180_000;
const KEPT = 64;
/** What the MAC of a hello or a proof covers, and the MAC. */
const SIGNED_BYTES = RELAY_HEAD_BYTES + NONCE_BYTES + MAC_BYTES;
/** With the ports of the agents, and other addresses. */
const STRANGERS: readonly Source[] = [1, 2, 3].map((port) => ['203.0.113.1', port]);

export interface RelayReport {
  passedIn: number;
  passedOut: number;
  dropped: number;
  moves: number;
  cut: number;
}

/** What is known of a session that a server has begun. */
interface Session {
  readonly number: number;
  readonly device: RelayDevice;
}

class Net {
  readonly dry: DryNetwork;
  /** Where the agent is, among its three places; it hears what is sent there and nowhere else. */
  readonly places: readonly Source[];
  place = 0;
  nonce: Buffer = Buffer.alloc(NONCE_BYTES);
  pings = 0;
  /** Overheard, and never arrived; and where the agent was. */
  readonly lostProofs = new Map<string, string>();
  readonly devices: RelayDevice[];
  readonly enrolled = new Set<string>();
  readonly removedAt = new Map<string, number>();
  sessions: Session[] = [];

  constructor(dry: DryNetwork) {
    this.dry = dry;
    this.places = [1, 2, 3].map((port) => [`192.0.2.${dry.index}`, port] as const);
    this.devices = Array.from({ length: 8 }, (_, i) => deviceOf(`${dry.index} ${i}`));
  }

  signed(kind: number, body: Uint8Array): Buffer {
    const { token, key } = this.dry;
    return encodeSigned({ kind, token, key, body, ...(kind === RELAY_KIND.hello ? { size: HELLO_BYTES } : {}) });
  }
}

class Round {
  readonly report: RelayReport = { passedIn: 0, passedOut: 0, dropped: 0, moves: 0, cut: 0 };
  readonly #random: Random;
  readonly #budget = new FlowBudget(0, NODE_FLOWS);
  readonly #nets: readonly Net[];
  readonly #clients: readonly Source[];
  /** What an eavesdropper has overheard of agents, and challenges that were sent to others. */
  readonly #overheard: Buffer[] = [Buffer.alloc(1)];
  readonly #challenges: Array<{ readonly net: Net; readonly nonce: Buffer }> = [];
  #nowMs = 1_000;
  #nextSession = 1;

  constructor(seed: number) {
    this.#random = randomOf(seed);
    this.#clients = Array.from({ length: CLIENTS }, (_, i) => [`198.51.100.${i % 30}`, 1_000 + (i % 7)] as const);
    this.#nets = Array.from({ length: NETWORKS }, (_, index) => {
      return new Net(new DryNetwork({ index, seed, nowMs: this.#nowMs, budget: this.#budget }));
    });
    for (const net of this.#nets) for (const device of net.devices) this.#enroll(net, device);
  }

  run(steps: number): RelayReport {
    for (let i = 0; i < steps; i++) {
      this.#step(oneOf(this.#random, this.#nets));
      if (this.#chance(0.3)) for (const { dry } of this.#nets) dry.turnEnds();
      this.#checkBounds();
    }
    for (const { dry } of this.#nets) {
      dry.turnEnds();
      this.report.passedIn += dry.passedIn;
      this.report.passedOut += dry.passedOut;
      this.report.dropped += dry.dropped;
    }
    return this.report;
  }

  #step(net: Net): void {
    const kind = this.#random();
    if (kind < 0.35) this.#client(net);
    else if (kind < 0.6) this.#server(net);
    else if (kind < 0.75) this.#agent(net);
    else if (kind < 0.9) this.#stranger(net);
    else if (kind < 0.95) this.#stream(net);
    else this.#timePasses(net);
  }

  #client(net: Net): void {
    // Few often, so that one source gets into many states.
    const who = below(this.#random, this.#chance(0.5) ? 8 : this.#clients.length);
    const session = this.#sessionOf(net);
    const { bytes, form } = datagramOf(this.#random, { network: net.dry.index, who }, { session, other: session });
    const { passedIn } = net.dry;
    net.dry.receive(bytes, this.#clients[who] as Source, this.#nowMs);
    const begun = net.sessions.find(({ number }) => number === session);
    if (form !== 'data' || begun === undefined || net.enrolled.has(begun.device.deviceId)) return;
    assert.equal(net.dry.passedIn, passedIn, 'a data packet of a device that was removed');
    this.report.cut++;
  }

  /** The network's server says something to a client, by the stream or in a packet of the agent. */
  #server(net: Net): void {
    const { dry } = net;
    const number = dry.heardFlows.length > 0 ? oneOf(this.#random, dry.heardFlows.slice(-100)) : 1;
    const device = this.#chance(0.1) ? deviceOf('foreign') : oneOf(this.#random, net.devices);
    const session = this.#nextSession++;
    const to = this.#chance(0.1) ? undefined : Buffer.from(device.publicKey, 'base64');
    const made = datagramOf(
      this.#random,
      { network: dry.index, who: number },
      { session, other: 0, ...(to && { to }) },
    );
    const passed = dry.toClient(number, made.bytes, true, this.#nowMs);
    if (made.form !== 'initiation' && made.form !== 'response') return;
    if (!passed) return;
    assert.ok(to !== undefined && net.enrolled.has(device.deviceId), 'a handshake with a key that is not enrolled');
    net.sessions.push({ number: session, device });
    if (net.sessions.length > KEPT) net.sessions.shift();
  }

  #agent(net: Net): void {
    const { dry } = net;
    const source = net.places[net.place] as Source;
    const kind = this.#random();
    if (kind < 0.1) net.place = below(this.#random, net.places.length);
    else if (kind < 0.4) {
      net.nonce = Buffer.alloc(NONCE_BYTES, below(this.#random, 256));
      this.#fromAgent(net, net.signed(RELAY_KIND.hello, net.nonce), source);
    } else if (kind < 0.6) {
      const body = Buffer.alloc(4);
      body.writeUInt32BE(++net.pings);
      this.#fromAgent(net, net.signed(RELAY_KIND.ping, body), source);
    } else if (dry.heardFlows.length > 0) {
      const packet = this.#packetOf(net);
      this.#fromAgent(net, packet, source);
    }
  }

  /** One datagram as `data`, or several as `batch`. */
  #packetOf(net: Net): Buffer {
    const isBatch = this.#chance(0.5);
    const packet = Buffer.alloc(70_000);
    packet[0] = isBatch ? RELAY_KIND.batch : RELAY_KIND.data;
    packet.set(net.dry.token, 1);
    let end = RELAY_HEAD_BYTES;
    for (let i = isBatch ? 1 + below(this.#random, 4) : 1; i > 0; i--) {
      const number = oneOf(this.#random, net.dry.heardFlows.slice(-50));
      const bytes = Buffer.alloc(below(this.#random, 200), 0x61);
      if (isBatch) end = writeRecord(packet, end, number, bytes, 0, bytes.length);
      else {
        writeFlow(packet, end, number);
        end += 4 + bytes.copy(packet, end + 4);
      }
    }
    return packet.subarray(0, end);
  }

  /** A packet of the agent arrives, is overheard, and the handshake's answer arrives where it was sent. */
  #fromAgent(net: Net, packet: Buffer, source: Source): void {
    const before = placeOf(net);
    net.dry.receive(packet, source, this.#nowMs);
    if (placeOf(net) !== before) {
      assert.equal(placeOf(net), nameOf(source), 'taken for where it is not');
      this.report.moves++;
    }
    this.#keep(packet);
    this.#deliver(net);
  }

  #deliver(net: Net): void {
    for (const { to, bytes } of net.dry.answers.splice(0)) {
      if (bytes[0] !== RELAY_KIND.challenge) continue;
      const nonce = bytes.subarray(RELAY_HEAD_BYTES, bytes.length - MAC_BYTES);
      const isHeard = nameOf(to) === nameOf(net.places[net.place] as Source);
      if (isHeard) this.#challenged(net, nonce, this.#chance(0.15));
      else this.#challenges.push({ net, nonce });
      if (this.#challenges.length > KEPT) this.#challenges.shift();
    }
  }

  /** The agent proves itself to the sender of the challenge, if it has asked; from its address. */
  #challenged(net: Net, body: Buffer, isLost: boolean): void {
    if (!body.subarray(0, NONCE_BYTES).equals(net.nonce)) return;
    const proof = net.signed(RELAY_KIND.proof, body.subarray(NONCE_BYTES));
    const source = net.places[net.place] as Source;
    if (!isLost) return this.#fromAgent(net, proof, source);
    // Who has overheard it may deliver it in the agent's place, as from there, and from nowhere else.
    net.lostProofs.set(proof.toString('hex'), nameOf(source));
    this.#keep(proof);
  }

  /** An attacker who forges sources, repeats, damages, and hands on. It moves no agent. */
  #stranger(net: Net): void {
    const other = oneOf(this.#random, this.#overheard);
    const heard = oneOf(this.#random, this.#overheard);
    const kind = this.#random();
    if (kind < 0.4) this.#forge(net, Buffer.from(heard));
    else if (kind < 0.8) this.#forge(net, damaged(this.#random, heard, other));
    else if (kind < 0.9) {
      const forged = Buffer.from(heard);
      if (forged.length >= RELAY_HEAD_BYTES) forged.set(net.dry.token, 1);
      this.#forge(net, forged);
    } else {
      const handed = this.#challenges.pop();
      // The agent's proof comes from where the agent is: it is worth something only if the challenge was for there.
      if (handed !== undefined) this.#challenged(handed.net, handed.nonce, false);
    }
    this.#deliver(net);
  }

  /** `packet` comes from the agent's address, or another; it is answered if the agent has made it, and passes on only from the agent's address. */
  #forge(net: Net, packet: Buffer): void {
    const { dry } = net;
    const sources = this.#chance(0.3) ? net.places : this.#chance(0.5) ? STRANGERS : this.#clients;
    const source = oneOf(this.#random, sources);
    const { passedOut } = dry;
    const before = placeOf(net);
    dry.receive(packet, source, this.#nowMs);
    const isLate = net.lostProofs.get(packet.toString('hex')) === nameOf(source);
    if (!isLate) assert.equal(placeOf(net), before, 'a stranger moved the agent');
    net.lostProofs.delete(packet.toString('hex'));
    if (!dry.handshake.isAgent(source[0], source[1]) || nameOf(source) !== placeOf(net))
      assert.equal(dry.passedOut, passedOut, 'taken from who is not the agent');
    const signed = packet.subarray(0, SIGNED_BYTES);
    const isMade = this.#overheard.some((each) => each.subarray(0, SIGNED_BYTES).equals(signed));
    assert.ok(isMade || dry.answers.length === 0, 'answered what the agent has not made');
  }

  /** Records of the agent over its session, damaged now and then: they are read, or the stream is given up. */
  #stream(net: Net): void {
    const { dry } = net;
    const packet = Buffer.alloc(4_096);
    let end = 0;
    for (let i = 1 + below(this.#random, 4); i > 0; i--) {
      const number = dry.heardFlows.length > 0 ? oneOf(this.#random, dry.heardFlows) : 7;
      const bytes = Buffer.alloc(below(this.#random, 300), 0x62);
      end = writeRecord(packet, end, number, bytes, 0, bytes.length);
    }
    const whole = packet.subarray(0, end);
    const stream = this.#chance(0.5) ? whole : damaged(this.#random, whole, oneOf(this.#random, this.#overheard));
    const reader = new RecordReader((flow, bytes, start, to) => {
      dry.toClient(flow, Buffer.from(bytes.subarray(start, to)), false, this.#nowMs);
    });
    let at = 0;
    while (at < stream.length) {
      const to = Math.min(stream.length, at + 1 + below(this.#random, 400));
      if (!reader.read(stream, at, to)) return;
      at = to;
    }
  }

  #timePasses(net: Net): void {
    const device = oneOf(this.#random, net.devices);
    if (this.#chance(0.3)) this.#remove(net, device);
    else if (this.#chance(0.5)) this.#enroll(net, device);
    this.#nowMs += this.#chance(0.02) ? 200_000 : below(this.#random, 400);
    if (this.#chance(0.5)) return;
    net.dry.filter.sweep(this.#nowMs, WALL_MS + this.#nowMs);
    const events = net.dry.filter.takeDeviceEvents('net', this.#nowMs, WALL_MS + this.#nowMs);
    const own = new Set(net.devices.map(({ deviceId }) => deviceId));
    for (const { deviceId } of events) assert.ok(own.has(deviceId), 'news of a device of another network');
  }

  #enroll(net: Net, device: RelayDevice): void {
    net.dry.filter.addDevice(device, this.#nowMs, WALL_MS + this.#nowMs);
    if (net.enrolled.has(device.deviceId)) return;
    net.enrolled.add(device.deviceId);
    // Enrolled anew: its sessions of before stay out for as long as they live. They are looked at by #client until then.
    this.#forgetSessions(net, device);
  }

  #remove(net: Net, device: RelayDevice): void {
    net.dry.filter.removeDevice(device.deviceId, this.#nowMs);
    if (net.enrolled.delete(device.deviceId)) net.removedAt.set(device.deviceId, this.#nowMs);
  }

  #forgetSessions(net: Net, of: RelayDevice): void {
    net.sessions = net.sessions.filter(({ device }) => device !== of);
  }

  /** One that a server has begun, in this network or another, or none. */
  #sessionOf(net: Net): number {
    for (const [deviceId, atMs] of net.removedAt) {
      if (this.#nowMs - atMs < SESSION_MS) continue;
      net.removedAt.delete(deviceId);
      if (!net.enrolled.has(deviceId)) net.sessions = net.sessions.filter(({ device }) => device.deviceId !== deviceId);
    }
    const { sessions } = this.#chance(0.9) ? net : oneOf(this.#random, this.#nets);
    return sessions.length > 0 && this.#chance(0.8)
      ? oneOf(this.#random, sessions).number
      : below(this.#random, 1_000_000) + 1_000_000;
  }

  #keep(packet: Buffer): void {
    this.#overheard.push(Buffer.from(packet));
    if (this.#overheard.length > KEPT) this.#overheard.shift();
  }

  #checkBounds(): void {
    let sum = 0;
    for (const { dry } of this.#nets) {
      assert.ok(dry.filter.flows <= MAX_FLOWS);
      sum += dry.filter.flows;
    }
    assert.equal(this.#budget.used, sum);
    assert.ok(sum <= NODE_FLOWS + NETWORKS * OWN_FLOWS, `${sum} flows`);
  }

  #chance(of: number): boolean {
    return this.#random() < of;
  }
}

/** The agent's address by the handshake. */
const placeOf = ({ dry }: Net): string => nameOf([dry.handshake.address, dry.handshake.port]);

/** One round of so many steps. Throws at the first rule that is broken. */
export function relayRound(seed: number, steps = 2_000): RelayReport {
  return new Round(seed).run(steps);
}

/** The long form. Prints the seed of a failure, and what passed. */
export function fuzzRelay(seconds: number, firstSeed: number): void {
  const until = performance.now() + seconds * 1_000;
  const sum: RelayReport = { passedIn: 0, passedOut: 0, dropped: 0, moves: 0, cut: 0 };
  let seed = firstSeed;
  do {
    try {
      const report = relayRound(seed);
      for (const name of Object.keys(sum) as Array<keyof RelayReport>) sum[name] += report[name];
    } catch (cause) {
      throw new Error(`relay: seed ${seed} fails`, { cause });
    }
    seed++;
  } while (performance.now() < until);
  console.log(`relay: ${seed - firstSeed} rounds, seeds ${firstSeed} to ${seed - 1}: ${JSON.stringify(sum)}`);
}
