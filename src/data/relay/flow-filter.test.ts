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

class Fixture {
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
  const fixture = new Fixture();
  fixture.connect(ALICE, AT_HOME, 70);
  const at = fixture.wallMs;
  fixture.nowMs += 500;
  assert.deepEqual(fixture.events(), [
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
  assert.deepEqual(fixture.events(), []);
  fixture.nowMs += 2_000;
  fixture.in(dataPacket(70, 1_424), AT_HOME);
  const [event] = fixture.events();
  assert.deepEqual(
    [event?.handshakeAt, event?.seenAt, event?.bytesIn, event?.bytesOut],
    [null, fixture.wallMs, 1_424, 0],
  );
});

test('a handshake that the server begins counts when the client has answered, and the server goes on', () => {
  const fixture = new Fixture();
  const { number } = fixture.flowOf(AT_WORK);
  for (let i = 0; i < 10; i++) fixture.in(Buffer.alloc(100), AT_WORK);
  assert.equal(fixture.out(initiation({ sender: 5, to: BOB }), number), '2001:db8::7 40000');
  assert.equal(fixture.events()[0]?.handshakeAt, null);
  fixture.nowMs += 30;
  fixture.in(response({ sender: 6, receiver: 5 }), AT_WORK);
  assert.equal(fixture.events()[0]?.handshakeAt, null, 'any sender can make up a response');
  assert.equal(fixture.out(dataPacket(6), number), '2001:db8::7 40000');
  const [event] = fixture.events();
  assert.deepEqual(
    [event?.deviceId, event?.address, event?.handshakeAt],
    ['bob', '[2001:db8::7]:40000', fixture.wallMs],
  );
});

test('a handshake with a key that is not enrolled is not passed on, in neither direction of asking', () => {
  const fixture = new Fixture();
  const { number } = fixture.in(initiation({ sender: 1 }), AT_HOME) as Flow;
  assert.equal(fixture.out(response({ sender: 2, receiver: 1, to: deviceOf('mallory') }), number), 'not_enrolled');
  fixture.in(initiation({ sender: 1 }), AT_HOME);
  assert.equal(fixture.out(response({ sender: 2, receiver: 1 }), number), 'not_enrolled');
  fixture.in(initiation({ sender: 1 }), AT_HOME);
  assert.equal(fixture.out(initiation({ sender: 3, to: deviceOf('mallory') }), number), 'not_enrolled');
  assert.deepEqual(fixture.events(), []);
  fixture.in(initiation({ sender: 1 }), AT_HOME);
  fixture.enroll(deviceOf('mallory'));
  assert.equal(fixture.out(response({ sender: 2, receiver: 1, to: deviceOf('mallory') }), number), '192.0.2.1 51820');
});

test('a device that moves is known at its new address by its first packet', () => {
  const fixture = new Fixture();
  const first = fixture.connect(ALICE, AT_HOME, 70);
  fixture.connect(BOB, ['192.0.2.1', 1_024], 80);
  fixture.events();
  const second = fixture.in(dataPacket(70, 320), AT_WORK) as Flow;
  assert.notEqual(second.number, first.number);
  assert.equal(second.isProven, false);
  const [event] = fixture.events();
  assert.deepEqual([event?.deviceId, event?.address, event?.bytesIn], ['alice', '[2001:db8::7]:40000', 320]);
});

test('a device that is removed is cut at once, wherever it comes from, until its session is over', () => {
  const fixture = new Fixture();
  const flow = fixture.connect(ALICE, AT_HOME, 70);
  const bobs = fixture.connect(BOB, AT_WORK, 80);
  fixture.filter.removeDevice('alice', fixture.nowMs);
  assert.equal(fixture.filter.flows, 1);
  assert.equal(fixture.out(dataPacket(71), flow.number), 'no_flow');
  for (const from of [AT_HOME, AT_WORK, ['198.51.100.1', 7]] as const)
    assert.equal(fixture.in(dataPacket(70), from), 'not_enrolled');
  assert.equal(fixture.in(dataPacket(70, 66), AT_HOME), 'not_enrolled', 'WireGuard takes what is not padded too');
  // A handshake may reach the server, for it does not show whose it is; its answer does not get out.
  const again = fixture.in(initiation({ sender: 90 }), AT_HOME) as Flow;
  assert.equal(fixture.out(response({ sender: 91, receiver: 90, to: ALICE }), again.number), 'not_enrolled');
  assert.equal(fixture.in(dataPacket(80), AT_WORK), bobs, 'no other is');
  assert.equal(fixture.out(dataPacket(81), bobs.number), '2001:db8::7 40000');
  fixture.nowMs += 180_000;
  fixture.filter.sweep(fixture.nowMs, fixture.wallMs);
  // WireGuard itself takes it no more by now; the relay may forget it.
  assert.equal(typeof fixture.in(dataPacket(70), AT_HOME), 'object');
});

test('what began before the relay did passes, but not once a device was removed: it might be that one', () => {
  const fixture = new Fixture();
  const flow = fixture.in(dataPacket(500), AT_HOME) as Flow;
  assert.equal(fixture.out(dataPacket(501), flow.number), '192.0.2.1 51820');
  const bobs = fixture.connect(BOB, AT_WORK, 80);
  fixture.filter.removeDevice('alice', fixture.nowMs);
  assert.equal(fixture.in(dataPacket(500), AT_HOME), 'not_enrolled');
  assert.equal(fixture.out(dataPacket(501), flow.number), 'not_enrolled');
  assert.equal(fixture.in(dataPacket(80), AT_WORK), bobs);
  // It shakes hands again, and goes on.
  fixture.enroll(ALICE);
  fixture.connect(ALICE, AT_HOME, 600);
});

test('flow filter: a device that was removed before the relay was made is blocked too', () => {
  const fixture = new Fixture();
  fixture.filter.lostDevice(fixture.nowMs - 100_000);
  assert.equal(fixture.in(dataPacket(500), AT_HOME), 'not_enrolled');
  fixture.connect(BOB, AT_WORK, 80);
  fixture.nowMs += 80_000;
  assert.equal(typeof fixture.in(dataPacket(500), AT_HOME), 'object', 'its session is over by now');
});

test('flow filter: a device that has run out unseen keeps strangers out too, an enrolled one does not', () => {
  const fixture = new Fixture();
  fixture.enroll(deviceOf('carol'));
  assert.equal(typeof fixture.in(dataPacket(500), AT_HOME), 'object');
  fixture.filter.removeDevice('another', fixture.nowMs);
  assert.equal(fixture.in(dataPacket(500), AT_HOME), 'not_enrolled');
});

test('two devices behind one address and port: neither passes as the other', () => {
  const fixture = new Fixture();
  fixture.connect(ALICE, AT_HOME, 70);
  fixture.connect(BOB, AT_HOME, 80);
  fixture.in(dataPacket(70), AT_HOME);
  fixture.filter.removeDevice('alice', fixture.nowMs);
  assert.equal(fixture.in(dataPacket(70), AT_HOME), 'not_enrolled');
});

test("a flow that has become another device's does not carry the first one's session any more", () => {
  const fixture = new Fixture();
  const flow = fixture.connect(ALICE, AT_HOME, 70);
  assert.equal(fixture.out(response({ sender: 80, to: BOB }), flow.number), '192.0.2.1 51820');
  fixture.filter.removeDevice('alice', fixture.nowMs);
  assert.equal(fixture.in(dataPacket(70), AT_HOME), 'not_enrolled');
  assert.equal(fixture.in(dataPacket(80), AT_HOME), flow);
});

test('a device that runs out is cut by the next sweep, and one whose time was extended is not', () => {
  const fixture = new Fixture();
  fixture.enroll({ ...ALICE, expiresAt: fixture.wallMs + 60_000 });
  fixture.enroll({ ...BOB, expiresAt: fixture.wallMs + 60_000 });
  fixture.connect(ALICE, AT_HOME, 70);
  const bobs = fixture.connect(BOB, AT_WORK, 80);
  fixture.enroll({ ...BOB, expiresAt: null });
  fixture.nowMs += 60_000;
  fixture.filter.sweep(fixture.nowMs, fixture.wallMs);
  assert.equal(fixture.in(dataPacket(70), AT_HOME), 'not_enrolled');
  assert.equal(fixture.in(dataPacket(80), AT_WORK), bobs);
  // One that has run out before its event is never allowed.
  fixture.enroll({ ...ALICE, expiresAt: fixture.wallMs });
  const { number } = fixture.in(initiation({ sender: 90 }), AT_HOME) as Flow;
  assert.equal(fixture.out(response({ sender: 91, to: ALICE }), number), 'not_enrolled');
});

test('a device whose key was changed is another: the old key is cut', () => {
  const fixture = new Fixture();
  fixture.connect(ALICE, AT_HOME, 70);
  fixture.enroll({ ...deviceOf('new key'), deviceId: 'alice' });
  assert.equal(fixture.filter.flows, 0);
  assert.equal(fixture.in(dataPacket(70), AT_HOME), 'not_enrolled');
  const { number } = fixture.in(initiation({ sender: 90 }), AT_HOME) as Flow;
  assert.equal(fixture.out(response({ sender: 91, to: ALICE }), number), 'not_enrolled');
});

test('what has not the form of WireGuard passes as it is', () => {
  const fixture = new Fixture();
  const flow = fixture.flowOf(AT_HOME);
  fixture.filter.removeDevice('alice', fixture.nowMs);
  for (const bytes of [Buffer.alloc(0), Buffer.alloc(1_400, 7), Buffer.of(4, 0, 0, 0), dataPacket(1).subarray(0, 31)]) {
    assert.equal(fixture.in(bytes, AT_HOME), flow);
    assert.equal(fixture.out(bytes, flow.number), '192.0.2.1 51820');
  }
});

test('a server that makes up handshakes costs a bounded number of comparisons a second', () => {
  const fixture = new Fixture();
  for (let i = 0; i < 1_000; i++) fixture.enroll(deviceOf(`device ${i}`));
  const { number } = fixture.flowOf(AT_HOME);
  for (let i = 0; i < 2_000; i++) {
    fixture.in(Buffer.alloc(148), AT_HOME);
    assert.equal(fixture.out(initiation({ sender: i }), number), 'not_enrolled');
  }
  // Two million comparisons were asked for, and 33,192 made: there are none left for the right key.
  fixture.in(Buffer.alloc(148), AT_HOME);
  assert.equal(fixture.out(initiation({ sender: 1, to: ALICE }), number), 'not_enrolled');
  fixture.nowMs += 1_000;
  fixture.in(Buffer.alloc(148), AT_HOME);
  assert.equal(fixture.out(initiation({ sender: 1, to: ALICE }), number), '192.0.2.1 51820');
});

test('a server that makes up handshakes does not take the loop, however many devices there are', () => {
  const fixture = new Fixture();
  for (let i = 0; i < 4_096; i++) fixture.enroll(deviceOf(`device ${i}`));
  const flow = fixture.flowOf(AT_HOME);
  fixture.in(dataPacket(1), AT_HOME);
  fixture.out(dataPacket(1), flow.number);
  const forged = response({ sender: 1 });
  const before = process.cpuUsage();
  for (let i = 0; i < 100_000; i++) {
    fixture.nowMs += 0.01;
    assert.equal(fixture.out(forged, flow.number), 'not_enrolled');
  }
  const { user, system } = process.cpuUsage(before);
  // 134,000 comparisons: a tenth of a second. To look at all devices for each message takes 8 s.
  assert.ok(user + system < 2_000_000, `${user + system} us`);
});

test('relay: repeated and forged handshakes block no device that moves', () => {
  const fixture = new Fixture();
  fixture.connect(ALICE, AT_HOME, 70);
  const flood = (messageOf: (port: number) => Buffer, address: string): void => {
    for (let port = 1; port <= 3_000; port++) fixture.in(messageOf(port), [address, port]);
  };
  const overheard = initiation({ sender: 1, to: fixture.serverKey });
  flood(() => overheard, '198.51.100.1');
  const fresh = initiation({ sender: 1, to: fixture.serverKey });
  assert.equal(typeof fixture.in(fresh, AT_WORK), 'object', 'a new handshake gets in beside one that is repeated');
  // A holder of an old configuration makes each anew: they have a limit of their own, which sessions do not share.
  flood((port) => initiation({ sender: port, to: fixture.serverKey }), '198.51.100.2');
  assert.equal(fixture.in(initiation({ sender: 1, to: fixture.serverKey }), ['203.0.113.5', 8]), 'flows');
  assert.equal(typeof fixture.in(dataPacket(70), ['203.0.113.5', 9]), 'object');
});

test('flow filter: a flood from forged addresses blocks no client that knows the network', () => {
  const fixture = new Fixture();
  fixture.connect(ALICE, AT_HOME, 70);
  let refused = 0;
  for (let port = 1; port <= 2_000; port++)
    if (fixture.in(Buffer.alloc(148, 1), ['198.51.100.1', port]) === 'flows') refused++;
  assert.ok(refused > 1_000);
  assert.equal(fixture.in(initiation({ sender: 1 }), AT_WORK), 'flows');
  assert.equal(fixture.in(initiation({ sender: 1, to: BOB }), AT_WORK), 'flows');
  const flow = fixture.in(initiation({ sender: 1, to: fixture.serverKey }), AT_WORK) as Flow;
  assert.equal(fixture.out(response({ sender: 80, receiver: 1, to: BOB }), flow.number), '2001:db8::7 40000');
  // A device that moves meanwhile is known by its session.
  assert.equal(typeof fixture.in(dataPacket(70), ['203.0.113.5', 9]), 'object');
  assert.equal(fixture.in(dataPacket(71), ['203.0.113.5', 10]), 'flows');
  const before = fixture.serverKey;
  fixture.serverKey = deviceOf('another server');
  assert.equal(fixture.in(initiation({ sender: 2, to: before }), ['203.0.113.6', 1]), 'flows');
  assert.equal(typeof fixture.in(initiation({ sender: 2, to: fixture.serverKey }), ['203.0.113.6', 1]), 'object');
});
