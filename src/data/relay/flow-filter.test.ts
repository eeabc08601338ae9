// alone: it reads how much of the processor its process takes
/** The datagrams that pass, their receivers, and the devices that they are known to be of. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeviceEvent } from '../../plane/relays.ts';
import { FlowBudget } from './flow-budget.ts';
import type { Flow } from './flows.ts';
import { FlowFilter } from './flow-filter.ts';
import { dataPacket, deviceOf, initiation, response } from './testing.ts';

const ALICE = deviceOf('alice');
const BOB = deviceOf('bob');
const AT_HOME = ['192.0.2.1', 51_820] as const;
const AT_WORK = ['2001:db8::7', 40_000] as const;
type From = readonly [string, number];

const WALL_MS = 1_800_000_000_000;

class World {
  nowMs = 1_000;
  serverKey = deviceOf('server');
  readonly filter = new FlowFilter({
    orgId: 'org',
    budget: new FlowBudget(0),
    nowMs: this.nowMs,
    serverKey: () => this.serverKey.publicKey,
  });

  constructor() {
    this.enroll(ALICE);
    this.enroll(BOB);
  }

  get wallMs(): number {
    return WALL_MS + this.nowMs;
  }

  enroll(device: typeof ALICE): void {
    this.filter.addDevice(device, this.nowMs, this.wallMs);
  }

  /** From a client, somewhere in a read buffer; the flow, or why it was dropped. */
  in(bytes: Buffer, [address, port]: From): Flow | string {
    const buffer = Buffer.concat([Buffer.from([4, 0, 0]), bytes, Buffer.of(9)]);
    const flow = this.filter.fromClient(buffer, 3, 3 + bytes.length, address, port, this.nowMs);
    return flow ?? this.filter.drop;
  }

  /** From the server; where it goes, or why it was dropped. */
  out(bytes: Buffer, number: number): string {
    const buffer = Buffer.concat([Buffer.from([4, 0, 0]), bytes, Buffer.of(9)]);
    const flow = this.filter.fromServer(number, buffer, 3, 3 + bytes.length, this.nowMs);
    return flow === undefined ? this.filter.drop : `${flow.address} ${flow.port}`;
  }

  flowOf(from: From): Flow {
    const flow = this.in(Buffer.of(0), from);
    assert.ok(typeof flow === 'object', String(flow));
    return flow;
  }

  /** A handshake that a device begins, and its first data packet, which the server answers. `session`: the server's number. */
  connect(device: typeof ALICE, from: From, session: number): Flow {
    const flow = this.in(initiation({ sender: session + 1 }), from);
    assert.ok(typeof flow === 'object', String(flow));
    const to = `${from[0]} ${from[1]}`;
    assert.equal(this.out(response({ sender: session, receiver: session + 1, to: device }), flow.number), to);
    assert.equal(this.in(dataPacket(session), from), flow);
    assert.equal(this.out(dataPacket(session + 1, 1_424), flow.number), to);
    return flow;
  }

  events(): DeviceEvent[] {
    return this.filter.takeDeviceEvents('net', this.nowMs, this.wallMs);
  }
}

test('what a device sends and is sent is counted for it, with its handshake and where it is', () => {
  const world = new World();
  world.connect(ALICE, AT_HOME, 70);
  const at = world.wallMs;
  world.nowMs += 500;
  assert.deepEqual(world.events(), [
    {
      kind: 'device',
      networkId: 'net',
      deviceId: 'alice',
      address: '192.0.2.1:51820',
      handshakeAt: at,
      seenAt: at,
      bytesIn: 32,
      bytesOut: 92 + 1_424,
    },
  ]);
  assert.deepEqual(world.events(), []);
  world.nowMs += 2_000;
  world.in(dataPacket(70, 1_424), AT_HOME);
  const [event] = world.events();
  assert.deepEqual(
    [event?.handshakeAt, event?.seenAt, event?.bytesIn, event?.bytesOut],
    [null, world.wallMs, 1_424, 0],
  );
});

test('a handshake that the server begins counts when the client has answered, and the server goes on', () => {
  const world = new World();
  const { number } = world.flowOf(AT_WORK);
  for (let i = 0; i < 10; i++) world.in(Buffer.alloc(100), AT_WORK);
  assert.equal(world.out(initiation({ sender: 5, to: BOB }), number), '2001:db8::7 40000');
  assert.equal(world.events()[0]?.handshakeAt, null);
  world.nowMs += 30;
  world.in(response({ sender: 6, receiver: 5 }), AT_WORK);
  assert.equal(world.events()[0]?.handshakeAt, null, 'any sender can make up a response');
  assert.equal(world.out(dataPacket(6), number), '2001:db8::7 40000');
  const [event] = world.events();
  assert.deepEqual([event?.deviceId, event?.address, event?.handshakeAt], ['bob', '[2001:db8::7]:40000', world.wallMs]);
});

test('a handshake with a key that is not enrolled is not passed on, in neither direction of asking', () => {
  const world = new World();
  const { number } = world.in(initiation({ sender: 1 }), AT_HOME) as Flow;
  assert.equal(world.out(response({ sender: 2, receiver: 1, to: deviceOf('mallory') }), number), 'not_enrolled');
  world.in(initiation({ sender: 1 }), AT_HOME);
  assert.equal(world.out(response({ sender: 2, receiver: 1 }), number), 'not_enrolled');
  world.in(initiation({ sender: 1 }), AT_HOME);
  assert.equal(world.out(initiation({ sender: 3, to: deviceOf('mallory') }), number), 'not_enrolled');
  assert.deepEqual(world.events(), []);
  world.in(initiation({ sender: 1 }), AT_HOME);
  world.enroll(deviceOf('mallory'));
  assert.equal(world.out(response({ sender: 2, receiver: 1, to: deviceOf('mallory') }), number), '192.0.2.1 51820');
});

test('a device that moves is known at its new address by its first packet', () => {
  const world = new World();
  const first = world.connect(ALICE, AT_HOME, 70);
  world.connect(BOB, ['192.0.2.1', 1_024], 80);
  world.events();
  const second = world.in(dataPacket(70, 320), AT_WORK) as Flow;
  assert.notEqual(second.number, first.number);
  assert.equal(second.isProven, false);
  const [event] = world.events();
  assert.deepEqual([event?.deviceId, event?.address, event?.bytesIn], ['alice', '[2001:db8::7]:40000', 320]);
});

test('a device that is removed is cut at once, wherever it comes from, until its session is over', () => {
  const world = new World();
  const flow = world.connect(ALICE, AT_HOME, 70);
  const bobs = world.connect(BOB, AT_WORK, 80);
  world.filter.removeDevice('alice', world.nowMs);
  assert.equal(world.filter.flows, 1);
  assert.equal(world.out(dataPacket(71), flow.number), 'no_flow');
  for (const from of [AT_HOME, AT_WORK, ['198.51.100.1', 7]] as const)
    assert.equal(world.in(dataPacket(70), from), 'not_enrolled');
  assert.equal(world.in(dataPacket(70, 66), AT_HOME), 'not_enrolled', 'WireGuard takes what is not padded too');
  // A handshake may reach the server, for it does not show whose it is; its answer does not get out.
  const again = world.in(initiation({ sender: 90 }), AT_HOME) as Flow;
  assert.equal(world.out(response({ sender: 91, receiver: 90, to: ALICE }), again.number), 'not_enrolled');
  assert.equal(world.in(dataPacket(80), AT_WORK), bobs, 'no other is');
  assert.equal(world.out(dataPacket(81), bobs.number), '2001:db8::7 40000');
  world.nowMs += 180_000;
  world.filter.sweep(world.nowMs, world.wallMs);
  // WireGuard itself takes it no more by now; the relay may forget it.
  assert.equal(typeof world.in(dataPacket(70), AT_HOME), 'object');
});

test('what began before the relay did passes, but not once a device was removed: it might be that one', () => {
  const world = new World();
  const flow = world.in(dataPacket(500), AT_HOME) as Flow;
  assert.equal(world.out(dataPacket(501), flow.number), '192.0.2.1 51820');
  const bobs = world.connect(BOB, AT_WORK, 80);
  world.filter.removeDevice('alice', world.nowMs);
  assert.equal(world.in(dataPacket(500), AT_HOME), 'not_enrolled');
  assert.equal(world.out(dataPacket(501), flow.number), 'not_enrolled');
  assert.equal(world.in(dataPacket(80), AT_WORK), bobs);
  // It shakes hands again, and goes on.
  world.enroll(ALICE);
  world.connect(ALICE, AT_HOME, 600);
});

test('flow filter: a device that was removed before the relay was made is blocked too', () => {
  const world = new World();
  world.filter.lostDevice(world.nowMs - 100_000);
  assert.equal(world.in(dataPacket(500), AT_HOME), 'not_enrolled');
  world.connect(BOB, AT_WORK, 80);
  world.nowMs += 80_000;
  assert.equal(typeof world.in(dataPacket(500), AT_HOME), 'object', 'its session is over by now');
});

test('flow filter: a device that has run out unseen keeps strangers out too, an enrolled one does not', () => {
  const world = new World();
  world.enroll(deviceOf('carol'));
  assert.equal(typeof world.in(dataPacket(500), AT_HOME), 'object');
  world.filter.removeDevice('another', world.nowMs);
  assert.equal(world.in(dataPacket(500), AT_HOME), 'not_enrolled');
});

test('two devices behind one address and port: neither passes as the other', () => {
  const world = new World();
  world.connect(ALICE, AT_HOME, 70);
  world.connect(BOB, AT_HOME, 80);
  world.in(dataPacket(70), AT_HOME);
  world.filter.removeDevice('alice', world.nowMs);
  assert.equal(world.in(dataPacket(70), AT_HOME), 'not_enrolled');
});

test("a flow that has become another device's does not carry the first one's session any more", () => {
  const world = new World();
  const flow = world.connect(ALICE, AT_HOME, 70);
  assert.equal(world.out(response({ sender: 80, to: BOB }), flow.number), '192.0.2.1 51820');
  world.filter.removeDevice('alice', world.nowMs);
  assert.equal(world.in(dataPacket(70), AT_HOME), 'not_enrolled');
  assert.equal(world.in(dataPacket(80), AT_HOME), flow);
});

test('a device that runs out is cut by the next sweep, and one whose time was extended is not', () => {
  const world = new World();
  world.enroll({ ...ALICE, expiresAt: world.wallMs + 60_000 });
  world.enroll({ ...BOB, expiresAt: world.wallMs + 60_000 });
  world.connect(ALICE, AT_HOME, 70);
  const bobs = world.connect(BOB, AT_WORK, 80);
  world.enroll({ ...BOB, expiresAt: null });
  world.nowMs += 60_000;
  world.filter.sweep(world.nowMs, world.wallMs);
  assert.equal(world.in(dataPacket(70), AT_HOME), 'not_enrolled');
  assert.equal(world.in(dataPacket(80), AT_WORK), bobs);
  // One that has run out before its event is never allowed.
  world.enroll({ ...ALICE, expiresAt: world.wallMs });
  const { number } = world.in(initiation({ sender: 90 }), AT_HOME) as Flow;
  assert.equal(world.out(response({ sender: 91, to: ALICE }), number), 'not_enrolled');
});

test('a device whose key was changed is another: the old key is cut', () => {
  const world = new World();
  world.connect(ALICE, AT_HOME, 70);
  world.enroll({ ...deviceOf('new key'), deviceId: 'alice' });
  assert.equal(world.filter.flows, 0);
  assert.equal(world.in(dataPacket(70), AT_HOME), 'not_enrolled');
  const { number } = world.in(initiation({ sender: 90 }), AT_HOME) as Flow;
  assert.equal(world.out(response({ sender: 91, to: ALICE }), number), 'not_enrolled');
});

test('what has not the form of WireGuard passes as it is', () => {
  const world = new World();
  const flow = world.flowOf(AT_HOME);
  world.filter.removeDevice('alice', world.nowMs);
  for (const bytes of [Buffer.alloc(0), Buffer.alloc(1_400, 7), Buffer.of(4, 0, 0, 0), dataPacket(1).subarray(0, 31)]) {
    assert.equal(world.in(bytes, AT_HOME), flow);
    assert.equal(world.out(bytes, flow.number), '192.0.2.1 51820');
  }
});

test('a server that makes up handshakes costs a bounded number of comparisons a second', () => {
  const world = new World();
  for (let i = 0; i < 1_000; i++) world.enroll(deviceOf(`device ${i}`));
  const { number } = world.flowOf(AT_HOME);
  for (let i = 0; i < 2_000; i++) {
    world.in(Buffer.alloc(148), AT_HOME);
    assert.equal(world.out(initiation({ sender: i }), number), 'not_enrolled');
  }
  // Two million comparisons were asked for, and 33,192 made: there are none left for the right key.
  world.in(Buffer.alloc(148), AT_HOME);
  assert.equal(world.out(initiation({ sender: 1, to: ALICE }), number), 'not_enrolled');
  world.nowMs += 1_000;
  world.in(Buffer.alloc(148), AT_HOME);
  assert.equal(world.out(initiation({ sender: 1, to: ALICE }), number), '192.0.2.1 51820');
});

test('a server that makes up handshakes does not take the loop, however many devices there are', () => {
  const world = new World();
  for (let i = 0; i < 4_096; i++) world.enroll(deviceOf(`device ${i}`));
  const flow = world.flowOf(AT_HOME);
  world.in(dataPacket(1), AT_HOME);
  world.out(dataPacket(1), flow.number);
  const forged = response({ sender: 1 });
  const before = process.cpuUsage();
  for (let i = 0; i < 100_000; i++) {
    world.nowMs += 0.01;
    assert.equal(world.out(forged, flow.number), 'not_enrolled');
  }
  const { user, system } = process.cpuUsage(before);
  // 134,000 comparisons: a tenth of a second. To look at all devices for each message takes 8 s.
  assert.ok(user + system < 2_000_000, `${user + system} us`);
});

test('relay: repeated and forged handshakes block no device that moves', () => {
  const world = new World();
  world.connect(ALICE, AT_HOME, 70);
  const flood = (messageOf: (port: number) => Buffer, address: string): void => {
    for (let port = 1; port <= 3_000; port++) world.in(messageOf(port), [address, port]);
  };
  const overheard = initiation({ sender: 1, to: world.serverKey });
  flood(() => overheard, '198.51.100.1');
  const fresh = initiation({ sender: 1, to: world.serverKey });
  assert.equal(typeof world.in(fresh, AT_WORK), 'object', 'a new handshake gets in beside one that is repeated');
  // A holder of an old configuration makes each anew: they have a limit of their own, which sessions do not share.
  flood((port) => initiation({ sender: port, to: world.serverKey }), '198.51.100.2');
  assert.equal(world.in(initiation({ sender: 1, to: world.serverKey }), ['203.0.113.5', 8]), 'flows');
  assert.equal(typeof world.in(dataPacket(70), ['203.0.113.5', 9]), 'object');
});

test('flow filter: a flood from forged addresses blocks no client that knows the network', () => {
  const world = new World();
  world.connect(ALICE, AT_HOME, 70);
  let refused = 0;
  for (let port = 1; port <= 2_000; port++)
    if (world.in(Buffer.alloc(148, 1), ['198.51.100.1', port]) === 'flows') refused++;
  assert.ok(refused > 1_000);
  assert.equal(world.in(initiation({ sender: 1 }), AT_WORK), 'flows');
  assert.equal(world.in(initiation({ sender: 1, to: BOB }), AT_WORK), 'flows');
  const flow = world.in(initiation({ sender: 1, to: world.serverKey }), AT_WORK) as Flow;
  assert.equal(world.out(response({ sender: 80, receiver: 1, to: BOB }), flow.number), '2001:db8::7 40000');
  // A device that moves meanwhile is known by its session.
  assert.equal(typeof world.in(dataPacket(70), ['203.0.113.5', 9]), 'object');
  assert.equal(world.in(dataPacket(71), ['203.0.113.5', 10]), 'flows');
  const before = world.serverKey;
  world.serverKey = deviceOf('another server');
  assert.equal(world.in(initiation({ sender: 2, to: before }), ['203.0.113.6', 1]), 'flows');
  assert.equal(typeof world.in(initiation({ sender: 2, to: world.serverKey }), ['203.0.113.6', 1]), 'object');
});
