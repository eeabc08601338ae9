/** Relays on real sockets and sessions: what passes, in which flow, by which way, and what does not. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { before, describe, test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { MuxStream } from '../../mux/stream.ts';
import { RELAY_SILENT_MS, STREAM_PLEASE } from '../../wire/relay-packets.ts';
import { TestAgent } from '../fixtures/agent.ts';
import { testCertificate, type TestCertificate } from '../fixtures/certificate.ts';
import { startFixture, until, type Fixture } from '../fixtures/gateway.ts';
import { idOf, testRelay } from '../fixtures/link.ts';
import { freeUdpPort, TestCarrier, TestClient } from '../fixtures/relay.ts';
import type { OpenOutcome } from './relay-registry.ts';
import { dataPacket, deviceOf, initiation, response } from './testing.ts';

let tls: TestCertificate;
before(async () => {
  tls = await testCertificate();
});

interface RelayFixture extends Fixture {
  readonly udpPort: number;
}

/** A node with one network, `home`, without an agent yet. */
async function relayFixture(t: TestContext): Promise<RelayFixture> {
  const made = await startFixture(t, { tls, nowMs: null });
  const udpPort = await freeUdpPort();
  made.link.change({ kind: 'relay', relay: testRelay('home', udpPort, [deviceOf('phone'), deviceOf('laptop')]) });
  return Object.assign(made, { udpPort });
}

async function enter(t: TestContext, { port }: Fixture, token = 'good'): Promise<TestAgent> {
  const agent = await TestAgent.enter(port, token);
  t.after(() => agent.destroy());
  return agent;
}

async function carry(t: TestContext, fixture: Fixture, network = 'home'): Promise<TestCarrier> {
  return TestCarrier.attach(t, await enter(t, fixture), network);
}

const info = ({ relays }: Fixture) => relays.info(idOf('home'));

/** A client that the network's server has authenticated, with its traffic so far forgotten. */
async function provenClient(t: TestContext, { udpPort }: RelayFixture, carrier: TestCarrier): Promise<TestClient> {
  const client = await TestClient.open(t, udpPort);
  client.send(dataPacket(1));
  await until(() => carrier.came.length === 1);
  carrier.sendByStream(carrier.came[0]?.flow as number, dataPacket(2));
  await until(() => client.heard.length === 1);
  carrier.came.length = 0;
  return client;
}

/** An agent that does not read: the window of 256 KB is used up, then the ring. Returns what reads on. */
function stopReading(stream: MuxStream): () => void {
  const { sink } = stream;
  const held: Array<() => void> = [];
  stream.sink = {
    ...sink,
    onData: (of, bytes, start, end) => {
      const copy = Buffer.from(bytes.subarray(start, end));
      held.push(() => sink.onData(of, copy, 0, copy.length));
    },
    onEnd: () => {},
    onReset: () => {},
    onDrain: () => {},
  };
  return () => {
    stream.sink = sink;
    for (const give of held) give();
  };
}

describe('datagrams', () => {
  for (const way of ['udp', 'stream'] as const) {
    test(`each client has its own flow, both ways, over ${way}`, async (t) => {
      const fixture = await relayFixture(t);
      const carrier = await carry(t, fixture);
      if (way === 'udp') await carrier.prove();
      assert.equal(info(fixture)?.path, way);
      const clients = await Promise.all(Array.from({ length: 50 }, () => TestClient.open(t, fixture.udpPort)));
      clients.forEach((client, i) => client.send(`from ${i}`));
      await until(() => carrier.came.length === 50);
      assert.ok(carrier.came.every(({ path }) => path === way));
      const flowOf = new Map(carrier.came.map(({ flow, bytes }) => [String(bytes), flow]));
      assert.equal(new Set(flowOf.values()).size, 50);
      clients.forEach((_, i) => {
        const flow = flowOf.get(`from ${i}`) as number;
        if (way === 'udp') carrier.send(flow, `to ${i}`);
        else carrier.sendByStream(flow, `to ${i}`);
      });
      await until(() => clients.every(({ heard }) => heard.length === 1));
      clients.forEach(({ texts }, i) => assert.deepEqual(texts, [`to ${i}`]));
      const now = info(fixture);
      assert.deepEqual([now?.flows, now?.packetsIn, now?.packetsOut, now?.agentId], [50, 50, 50, agentIdOf(carrier)]);
    });

    test(`boundaries are kept from no byte to 60,000, over ${way}`, async (t) => {
      const fixture = await relayFixture(t);
      const carrier = await carry(t, fixture);
      if (way === 'udp') await carrier.prove();
      const client = await TestClient.open(t, fixture.udpPort);
      const sizes = [0, 1, 2, 31, 32, 148, 1_200, 1_225, 1_226, 1_232, 1_420, 1_500, 9_000, 30_000, 60_000];
      for (const [i, size] of sizes.entries()) {
        client.send(Buffer.alloc(size, i));
        await until(() => carrier.came.length === i + 1);
        const { bytes, flow } = carrier.came[i] as { bytes: Buffer; flow: number };
        assert.deepEqual([bytes.length, bytes.every((byte) => byte === i)], [size, true]);
        if (way === 'udp') carrier.send(flow, bytes);
        else carrier.sendByStream(flow, bytes);
        await until(() => client.heard.length === i + 1);
        assert.ok(client.heard[i]?.equals(bytes));
      }
      assert.equal(
        info(fixture)?.bytesIn,
        sizes.reduce((sum, size) => sum + size),
      );
      assert.equal(
        info(fixture)?.bytesOut,
        sizes.reduce((sum, size) => sum + size),
      );
    });
  }

  test('small ones of one turn come in one packet, and in order', async (t) => {
    const fixture = await relayFixture(t);
    const carrier = await carry(t, fixture);
    await carrier.prove();
    const client = await TestClient.open(t, fixture.udpPort);
    const packets = carrier.kinds.length;
    for (let i = 0; i < 200; i++) client.send(`packet ${i}`);
    await until(() => carrier.came.length === 200);
    assert.deepEqual(
      carrier.texts,
      Array.from({ length: 200 }, (_, i) => `packet ${i}`),
    );
    assert.ok(carrier.kinds.length - packets < 100, `${carrier.kinds.length - packets} packets`);
  });

  test('of a batch from the agent each goes to its client', async (t) => {
    const fixture = await relayFixture(t);
    const carrier = await carry(t, fixture);
    await carrier.prove();
    const one = await TestClient.open(t, fixture.udpPort);
    const other = await TestClient.open(t, fixture.udpPort);
    one.send('hello from one');
    await until(() => carrier.came.length === 1);
    other.send('hello from other');
    await until(() => carrier.came.length === 2);
    const [a, b] = carrier.came.map(({ flow }) => flow) as [number, number];
    carrier.sendBatch([
      [a, 'one'],
      [b, 'other'],
      [77, 'an absent client'],
    ]);
    await until(() => one.heard.length === 1 && other.heard.length === 1);
    assert.deepEqual([one.texts, other.texts], [['one'], ['other']]);
    await until(() => info(fixture)?.dropped.no_flow === 1);
  });
});

describe('attaching', () => {
  test('a network that is not there, or not any more, is refused', async (t) => {
    const fixture = await relayFixture(t);
    const agent = await enter(t, fixture);
    agent.send({ type: 'attach', ref: 1, network: 'none', target: 'x' });
    assert.equal((await agent.next('refused')).code, 'network_not_found');
    fixture.link.attach = async () => ({ ok: true, networkId: idOf('gone'), version: fixture.link.version });
    agent.send({ type: 'attach', ref: 2, network: 'gone', target: 'x' });
    assert.equal((await agent.next('refused')).code, 'network_deleted');
  });

  test('a port that another program has is refused with words, and tried again', async (t) => {
    const fixture = await relayFixture(t);
    const other = createSocket('udp4').bind(fixture.udpPort, '127.0.0.1');
    await once(other, 'listening');
    const agent = await enter(t, fixture);
    agent.send({ type: 'attach', ref: 1, network: 'home', target: 'x' });
    const refused = await agent.next('refused');
    assert.equal(refused.code, 'no_port_free');
    assert.match(refused.message, new RegExp(`UDP port ${fixture.udpPort}.*another program`));
    other.close();
    await once(other, 'close');
    const carrier = await TestCarrier.attach(t, agent, 'home');
    assert.equal(carrier.attached.port, fixture.udpPort);
  });

  test('a port that changes, a network that goes and a server that ends while the port is bound have words of their own', async (t) => {
    const fixture = await relayFixture(t);
    const port = await freeUdpPort();
    const openThen = async (overtake: () => void): Promise<OpenOutcome> => {
      const opening = fixture.relays.open(idOf('home'));
      overtake();
      return opening;
    };
    const moved = await openThen(() => fixture.link.change({ kind: 'relay', relay: testRelay('home', port) }));
    assert.partialDeepStrictEqual(moved, { ok: false, code: 'network_not_ready' });
    assert.match('message' in moved ? moved.message : '', new RegExp(`changed to ${port}`));
    const gone = await openThen(() => {
      const message = 'It was deleted.';
      fixture.link.change({ kind: 'relay_gone', networkId: idOf('home'), code: 'network_deleted', message });
    });
    assert.partialDeepStrictEqual(gone, { ok: false, code: 'network_deleted' });
    fixture.link.change({ kind: 'relay', relay: testRelay('home', port) });
    assert.partialDeepStrictEqual(await openThen(() => fixture.relays.close()), { ok: false, code: 'server_shutdown' });
    assert.partialDeepStrictEqual(await fixture.relays.open(idOf('home')), { ok: false, code: 'server_shutdown' });
  });

  test('the answer waits for the table, and the question says what else the token serves', async (t) => {
    const fixture = await relayFixture(t);
    const port = await freeUdpPort();
    fixture.link.change({ kind: 'relay', relay: testRelay('work', port) });
    const agent = await enter(t, fixture);
    await agent.bind('shop');
    await TestCarrier.attach(t, agent, 'home');
    await TestCarrier.attach(t, agent, idOf('work'));
    await TestCarrier.attach(t, await enter(t, fixture), 'work');
    assert.deepEqual(
      fixture.link.attachQuestions.map(({ network, serving }) => [network, serving]),
      [
        ['home', 1],
        [idOf('work'), 2],
        ['work', 2],
      ],
    );
    await agent.next('unbound');
    await agent.bind('blog');
    assert.equal(fixture.link.questions.at(-1)?.relays, 2);
    assert.deepEqual(
      fixture.gateway.registry.connections().map(({ networkIds }) => networkIds),
      [[idOf('home')], [idOf('work')]],
    );
  });

  test('a network that is called like the id of another counts beside it', async (t) => {
    const fixture = await relayFixture(t);
    const like = { ...testRelay('work', await freeUdpPort()), name: idOf('home') };
    fixture.link.change({ kind: 'relay', relay: like });
    const agent = await enter(t, fixture);
    await TestCarrier.attach(t, agent, idOf('work'));
    await TestCarrier.attach(t, agent, idOf('home'));
    assert.equal(fixture.link.attachQuestions.at(-1)?.serving, 1);
  });

  test('a newer one supersedes the older, whose word counts no more; flows go on', async (t) => {
    const fixture = await relayFixture(t);
    const first = await carry(t, fixture);
    await first.prove();
    const client = await TestClient.open(t, fixture.udpPort);
    client.send('one');
    await until(() => first.came.length === 1);
    const second = await TestCarrier.attach(t, await enter(t, fixture, 'other'), 'home');
    const unbound = await first.agent.next('unbound');
    assert.deepEqual([unbound.code, unbound.slot], ['superseded', first.attached.slot]);
    assert.match(unbound.message, /Another agent, on box \(127\.0\.0\.1\), took over the private network home at /);
    assert.equal(second.attached.epoch, first.attached.epoch);
    await second.prove();
    client.send('two');
    await until(() => second.came.length === 1);
    assert.equal(second.came[0]?.flow, first.came[0]?.flow);
    // What the old agent goes on to send belongs to no client: it gets no flow, and the new agent does not hear of it.
    first.send(first.came[0]?.flow as number, 'late');
    first.hello();
    await until(() => fixture.relays.stats().dropped.wrong_source === 2);
    client.send('three');
    await until(() => second.came.length === 2);
    assert.deepEqual([second.texts, client.texts], [['two', 'three'], []]);
    assert.equal(fixture.relays.stats().flows, 1);
    assert.deepEqual(
      fixture.gateway.registry.connections().map(({ networkIds }) => networkIds),
      [[], [idOf('home')]],
    );
  });

  test('an agent that comes back finds the flows as they were; without clients the port is free', async (t) => {
    const fixture = await relayFixture(t);
    const first = await carry(t, fixture);
    const client = await TestClient.open(t, fixture.udpPort);
    client.send('one');
    await until(() => first.came.length === 1);
    first.agent.destroy();
    await until(() => info(fixture) === undefined);
    client.send('lost');
    await until(() => fixture.relays.stats().dropped.no_agent === 1);
    fixture.relays.sweep();
    const second = await carry(t, fixture);
    assert.equal(second.attached.epoch, first.attached.epoch);
    client.send('two');
    await until(() => second.came.length === 1);
    assert.equal(second.came[0]?.flow, first.came[0]?.flow);
    second.agent.send({ type: 'unbind', slot: second.attached.slot });
    await until(() => info(fixture) === undefined);
    fixture.laterMs = 200_000;
    fixture.relays.sweep();
    assert.equal(fixture.relays.stats().flows, 0);
    const other = createSocket('udp4').bind(fixture.udpPort, '127.0.0.1');
    await once(other, 'listening');
    other.close();
    await once(other, 'close');
    const third = await carry(t, fixture);
    assert.notEqual(third.attached.epoch, first.attached.epoch);
    const { packetsIn, dropped } = fixture.relays.stats();
    assert.deepEqual([packetsIn, dropped.no_agent], [2, 1], 'what relays that are gone have counted');
  });

  test('a network that goes takes its agent and its port with it', async (t) => {
    const fixture = await relayFixture(t);
    const carrier = await carry(t, fixture);
    fixture.link.change({
      kind: 'relay_gone',
      networkId: idOf('home'),
      code: 'network_deleted',
      message: 'It was deleted.',
    });
    const unbound = await carrier.agent.next('unbound');
    assert.deepEqual([unbound.code, unbound.message], ['network_deleted', 'It was deleted.']);
    const other = createSocket('udp4').bind(fixture.udpPort, '127.0.0.1');
    await once(other, 'listening');
    other.close();
  });

  test('a network that gets another port is attached anew, and a lost change is made up for by the whole table', async (t) => {
    const fixture = await relayFixture(t);
    const carrier = await carry(t, fixture);
    const port = await freeUdpPort();
    fixture.link.change({ kind: 'relay', relay: testRelay('home', port) });
    const unbound = await carrier.agent.next('unbound');
    assert.equal(unbound.code, 'network_not_ready');
    assert.match(unbound.message, new RegExp(`changed to ${port}`));
    const again = await TestCarrier.attach(t, carrier.agent, 'home');
    assert.equal(again.attached.port, port);
    assert.notEqual(again.attached.epoch, carrier.attached.epoch);
    const { networkId } = testRelay('home', port);
    fixture.link.change({ kind: 'relay_gone', networkId, code: 'network_deleted', message: 'lost on the way' }, true);
    fixture.link.change({ kind: 'cut_org', orgId: 'absent', message: 'shows the gap' });
    await until(() => fixture.relays.routeOf(networkId) === undefined);
    assert.equal(fixture.relays.stats().attached, 0);
  });

  test('an agent that leaves carries nothing any more', async (t) => {
    const fixture = await relayFixture(t);
    const carrier = await carry(t, fixture);
    carrier.agent.send({ type: 'drain' });
    await until(() => info(fixture) === undefined);
    assert.equal(fixture.gateway.registry.size, 1);
  });

  test('the stream is opened again when it ends', async (t) => {
    const fixture = await relayFixture(t);
    const carrier = await carry(t, fixture);
    const client = await TestClient.open(t, fixture.udpPort);
    const { stream } = carrier;
    stream?.reset();
    await until(() => fixture.gateway.registry.load().streams === 1);
    client.send('nothing carries it');
    await until(() => info(fixture)?.dropped.queue_full === 1);
    fixture.relays.sweep();
    fixture.laterMs = 1_500;
    fixture.relays.sweep();
    await until(() => carrier.stream !== stream);
    client.send('goes at once');
    await until(() => carrier.came.length > 0);
    assert.deepEqual(carrier.texts, ['goes at once']);
  });

  test('what waits for room in a stream goes with it: the next one begins with what is new', async (t) => {
    const fixture = await relayFixture(t);
    const carrier = await carry(t, fixture);
    const client = await provenClient(t, fixture, carrier);
    const { stream } = carrier;
    assert.ok(stream);
    stopReading(stream);
    const dropped = () => info(fixture)?.dropped.queue_full ?? 0;
    for (let i = 0; dropped() === 0; i++) {
      client.send(Buffer.alloc(1_400));
      await until(() => (info(fixture)?.packetsIn ?? 0) > i + 1);
    }
    const before = dropped();
    stream.reset();
    await until(() => dropped() >= before + 200);
    fixture.relays.sweep();
    fixture.laterMs = 1_500;
    fixture.relays.sweep();
    await until(() => carrier.stream !== stream);
    client.send('new');
    await until(() => carrier.came.length > 0);
    assert.deepEqual(carrier.texts, ['new']);
  });
});

describe('the path', () => {
  test('silence leads to the stream and a ping back to UDP; a word of the agent too, until it proves its address again', async (t) => {
    const fixture = await relayFixture(t);
    const carrier = await carry(t, fixture);
    const client = await TestClient.open(t, fixture.udpPort);
    const next = async (path: string): Promise<void> => {
      const { length } = carrier.came;
      client.send(`expected by ${path}`);
      await until(() => carrier.came.length > length);
      assert.equal(carrier.came.at(-1)?.path, path);
      assert.equal(info(fixture)?.path, path);
      assert.equal(fixture.relays.stats().onStream, path === 'stream' ? 1 : 0);
    };
    await next('stream');
    await carrier.prove();
    await next('udp');
    fixture.laterMs += RELAY_SILENT_MS - 1_000;
    fixture.relays.sweep();
    await next('udp');
    fixture.laterMs += 1_500;
    fixture.relays.sweep();
    await next('stream');
    await carrier.ping();
    await next('udp');
    carrier.sendByStream(0, Buffer.from([STREAM_PLEASE]));
    await until(() => info(fixture)?.path === 'stream');
    await next('stream');
    // What is still sent by UDP is taken all the same.
    carrier.send(carrier.came[0]?.flow as number, 'either way');
    await until(() => client.heard.length === 1);
    await carrier.prove();
    await next('udp');
  });

  test('UDP that does not come through costs nothing: the stream carries from the first datagram, and drops its oldest', async (t) => {
    const fixture = await relayFixture(t);
    const carrier = await carry(t, fixture);
    const client = await provenClient(t, fixture, carrier);
    const { stream } = carrier;
    assert.ok(stream);
    const readOn = stopReading(stream);
    const sent = 800;
    for (let i = 0; i < sent; i++) {
      client.send(Buffer.alloc(1_400, String(i).padStart(4, '0')));
      await until(() => (info(fixture)?.packetsIn ?? 0) > i + 1);
    }
    await until(() => (info(fixture)?.dropped.queue_full ?? 0) > 0);
    readOn();
    const dropped = info(fixture)?.dropped.queue_full as number;
    await until(() => carrier.came.length === sent - dropped);
    assert.ok(carrier.came.at(-1)?.bytes.toString().startsWith('0799'), 'the newest came');
    assert.ok(carrier.came.every(({ bytes }) => bytes.length === 1_400));
    assert.ok(dropped >= sent - 256 - 300, `${dropped} dropped`);
  });

  test('an unauthenticated client has half of the ring, and displaces no other', async (t) => {
    const fixture = await relayFixture(t);
    const carrier = await carry(t, fixture);
    const client = await provenClient(t, fixture, carrier);
    const stranger = await TestClient.open(t, fixture.udpPort);
    const { stream } = carrier;
    assert.ok(stream);
    const readOn = stopReading(stream);
    const dropped = () => fixture.relays.stats().dropped.queue_full;
    const passed = () => info(fixture)?.packetsIn ?? 0;
    while (dropped() === 0) {
      const before = passed();
      stranger.send(Buffer.alloc(1_400));
      await until(() => passed() > before || dropped() > 0);
    }
    const [passedBefore, before] = [passed(), dropped()];
    client.send('mine');
    await until(() => passed() === passedBefore + 1);
    for (let i = 1; i <= 300; i++) {
      stranger.send(Buffer.alloc(1_400));
      await until(() => dropped() === before + i);
    }
    readOn();
    await until(() => carrier.texts.includes('mine'));
  });

  test('what waits for an agent that leaves is counted', async (t) => {
    const fixture = await relayFixture(t);
    const carrier = await carry(t, fixture);
    const client = await provenClient(t, fixture, carrier);
    assert.ok(carrier.stream);
    stopReading(carrier.stream);
    const dropped = () => fixture.relays.stats().dropped.queue_full;
    for (let i = 0; dropped() === 0; i++) {
      client.send(Buffer.alloc(1_400));
      await until(() => (info(fixture)?.packetsIn ?? 0) > i + 1);
    }
    const before = dropped();
    carrier.agent.destroy();
    await until(() => info(fixture) === undefined);
    assert.equal(dropped(), before + 256);
  });
});

describe('relay admission', () => {
  test('the token from another address carries nothing and moves no agent', async (t) => {
    const fixture = await relayFixture(t);
    const carrier = await carry(t, fixture);
    await carrier.prove();
    const client = await TestClient.open(t, fixture.udpPort);
    client.send('one');
    await until(() => carrier.came.length === 1);
    const thief = createSocket('udp4').bind(0, '127.0.0.2');
    await once(thief, 'listening');
    t.after(() => thief.close());
    const stolen: Buffer[] = [];
    thief.on('message', (bytes) => stolen.push(bytes));
    carrier.send(carrier.came[0]?.flow as number, 'forged', thief);
    await until(() => info(fixture)?.dropped.wrong_source === 1);
    // A hello that was overheard gets a challenge, which says nothing to who does not know the key.
    carrier.hello(thief);
    await until(() => stolen.length === 1);
    client.send('two');
    await until(() => carrier.came.length === 2);
    assert.deepEqual([client.texts, stolen.length], [[], 1]);
  });

  test('never more goes to an unproven client than came from it; a WireGuard session proves it', async (t) => {
    const fixture = await relayFixture(t);
    const carrier = await carry(t, fixture);
    await carrier.prove();
    const client = await TestClient.open(t, fixture.udpPort);
    client.send(Buffer.alloc(100));
    await until(() => carrier.came.length === 1);
    const flow = carrier.came[0]?.flow as number;
    carrier.send(flow, Buffer.alloc(101));
    await until(() => info(fixture)?.dropped.unproven === 1);
    carrier.send(flow, Buffer.alloc(100));
    await until(() => client.heard.length === 1);
    carrier.send(flow, Buffer.alloc(1));
    await until(() => info(fixture)?.dropped.unproven === 2);
    client.send(dataPacket(5));
    await until(() => carrier.came.length === 2);
    for (let i = 0; i < 20; i++) carrier.send(flow, dataPacket(6, 1_408));
    await until(() => client.heard.length === 21);
  });

  test('a revoked device is cut at once, and no other', async (t) => {
    const fixture = await relayFixture(t);
    const carrier = await carry(t, fixture);
    await carrier.prove();
    const ends: Array<{ client: TestClient; flow: number }> = [];
    for (const [i, name] of ['phone', 'laptop'].entries()) {
      const client = await TestClient.open(t, fixture.udpPort);
      client.send(initiation({ sender: i }));
      await until(() => carrier.came.length === 2 * i + 1);
      const flow = carrier.came.at(-1)?.flow as number;
      carrier.send(flow, response({ sender: 100 + i, receiver: i, to: deviceOf(name) }));
      await until(() => client.heard.length === 1);
      client.send(dataPacket(100 + i));
      await until(() => carrier.came.length === 2 * i + 2);
      carrier.send(flow, dataPacket(i, 1_408));
      await until(() => client.heard.length === 2);
      ends.push({ client, flow });
    }
    const [phone, laptop] = ends as [(typeof ends)[0], (typeof ends)[0]];
    fixture.link.change({ kind: 'device_gone', networkId: idOf('home'), deviceId: 'phone' });
    phone.client.send(dataPacket(100));
    await until(() => info(fixture)?.dropped.not_enrolled === 1);
    carrier.send(phone.flow, dataPacket(0));
    await until(() => info(fixture)?.dropped.no_flow === 1);
    // It may knock; the server's answer does not reach it.
    phone.client.send(initiation({ sender: 7 }));
    await until(() => carrier.came.length === 5);
    carrier.send(carrier.came.at(-1)?.flow as number, response({ sender: 102, receiver: 7, to: deviceOf('phone') }));
    await until(() => info(fixture)?.dropped.not_enrolled === 2);
    assert.equal(phone.client.heard.length, 2);
    laptop.client.send(dataPacket(101));
    await until(() => carrier.came.length === 6);
    carrier.send(laptop.flow, dataPacket(1, 1_408));
    await until(() => laptop.client.heard.length === 3);
    fixture.relays.sweep();
    fixture.relays.sweep();
    await fixture.outbox.flush(5_000);
    const events = fixture.link.batches.flatMap((batch) => batch.events).filter((event) => event.kind === 'device');
    const seen = events.find(({ deviceId }) => deviceId === 'laptop');
    assert.equal(seen?.address, `127.0.0.1:${laptop.client.socket.address().port}`);
    assert.ok(
      Math.abs((seen?.handshakeAt ?? 0) - Date.now()) < 10_000 && Math.abs((seen?.seenAt ?? 0) - Date.now()) < 10_000,
    );
    assert.ok((seen?.bytesOut ?? 0) >= 1_408 * 2 + 92);
  });

  test('a device that was revoked while no agent carried the network is blocked once one does', async (t) => {
    const fixture = await relayFixture(t);
    fixture.link.change({ kind: 'device_gone', networkId: idOf('home'), deviceId: 'phone' });
    await carry(t, fixture);
    const client = await TestClient.open(t, fixture.udpPort);
    client.send(dataPacket(500));
    await until(() => info(fixture)?.dropped.not_enrolled === 1);
    // What another node knew of it comes with the network.
    const port = await freeUdpPort();
    const deviceLostAt = Date.now() - 60_000;
    fixture.link.change({ kind: 'relay', relay: { ...testRelay('office', port), deviceLostAt } });
    await carry(t, fixture, 'office');
    const other = await TestClient.open(t, port);
    other.send(dataPacket(500));
    await until(() => fixture.relays.info(idOf('office'))?.dropped.not_enrolled === 1);
  });

  test('one that has run out is cut too, and one that is enrolled comes in', async (t) => {
    const fixture = await relayFixture(t);
    const carrier = await carry(t, fixture);
    const client = await TestClient.open(t, fixture.udpPort);
    const knock = async (to: string): Promise<void> => {
      const { length } = carrier.came;
      client.send(initiation({ sender: 1 }));
      await until(() => carrier.came.length > length);
      carrier.sendByStream(carrier.came.at(-1)?.flow as number, response({ sender: 2, receiver: 1, to: deviceOf(to) }));
    };
    await knock('tablet');
    await until(() => info(fixture)?.dropped.not_enrolled === 1);
    fixture.link.change({ kind: 'device', networkId: idOf('home'), device: deviceOf('tablet', Date.now() + 300) });
    await knock('tablet');
    await until(() => client.heard.length === 1);
    await until(() => {
      fixture.relays.sweep();
      return fixture.relays.stats().flows === 0;
    });
    await knock('tablet');
    await until(() => info(fixture)?.dropped.not_enrolled === 2);
    assert.equal(client.heard.length, 1);
  });

  test('what changes of thousands of devices while the port is being bound counts', async (t) => {
    const fixture = await startFixture(t, { tls, nowMs: null });
    const port = await freeUdpPort();
    const devices = Array.from({ length: 2_000 }, (_, i) => deviceOf(`device ${i}`));
    fixture.link.change({ kind: 'relay', relay: testRelay('home', port, devices) });
    const opening = fixture.relays.open(idOf('home'));
    for (let i = 0; i < 12; i++) await turn();
    for (const deviceId of ['device 0', 'device 1999'])
      fixture.link.change({ kind: 'device_gone', networkId: idOf('home'), deviceId });
    fixture.link.change({ kind: 'device', networkId: idOf('home'), device: deviceOf('late') });
    assert.equal((await opening).ok, true);
    const carrier = await carry(t, fixture);
    const client = await TestClient.open(t, port);
    const answers = async (name: string): Promise<boolean> => {
      const { length } = carrier.came;
      const [heard, dropped] = [client.heard.length, info(fixture)?.dropped.not_enrolled];
      client.send(initiation({ sender: 1 }));
      await until(() => carrier.came.length > length);
      const answer = response({ sender: 2, receiver: 1, to: deviceOf(name) });
      carrier.sendByStream(carrier.came.at(-1)?.flow as number, answer);
      await until(() => client.heard.length > heard || info(fixture)?.dropped.not_enrolled !== dropped);
      return client.heard.length > heard;
    };
    const names = ['device 0', 'device 1', 'device 1998', 'device 1999', 'late'];
    const found: boolean[] = [];
    for (const name of names) found.push(await answers(name));
    assert.deepEqual(found, [false, true, true, false, true]);
  });

  test('nonsense of the agent ends nothing but itself', async (t) => {
    const fixture = await relayFixture(t);
    const carrier = await carry(t, fixture);
    await carrier.prove();
    const client = await TestClient.open(t, fixture.udpPort);
    const malformed = (): number => fixture.relays.stats().dropped.malformed;
    const packets = [
      carrier.packet(0xd0, Buffer.alloc(3)), // no whole number of a flow
      carrier.packet(0xd1, Buffer.alloc(0)), // a batch of nothing
      carrier.packet(0xd1, Buffer.from([0, 0, 0, 1, 0, 9, 1])), // a record that is cut short
      carrier.packet(0xd3, Buffer.alloc(48)), // a kind that only servers send
      carrier.packet(0xd6, Buffer.alloc(20)), // a ping with a wrong MAC
    ];
    for (const [i, packet] of packets.entries()) {
      carrier.socket.send(packet, fixture.udpPort, '127.0.0.1');
      await until(() => malformed() === i + 1);
    }
    const { stream } = carrier;
    stream?.write(Buffer.from([0, 0, 0, 1, 0xff, 0xff]));
    await until(() => malformed() === packets.length + 1 && stream?.gone === true);
    client.send('all the same');
    await until(() => carrier.texts.at(-1) === 'all the same');
    fixture.relays.sweep();
    fixture.laterMs = 1_500;
    fixture.relays.sweep();
    await until(() => carrier.stream !== stream);
    carrier.sendByStream(0, 'no word that there is');
    await until(() => malformed() === packets.length + 2);
    assert.equal(info(fixture)?.path, 'udp');
  });

  test('networks do not hear of each other', async (t) => {
    const fixture = await relayFixture(t);
    const workPort = await freeUdpPort();
    fixture.link.change({ kind: 'relay', relay: testRelay('work', workPort) });
    const home = await carry(t, fixture);
    const work = await carry(t, fixture, 'work');
    await home.prove();
    await work.prove();
    const atHome = await TestClient.open(t, fixture.udpPort);
    const atWork = await TestClient.open(t, workPort);
    atHome.send('home');
    atWork.send('work');
    await until(() => home.came.length === 1 && work.came.length === 1);
    // The same number at each; home's agent at work's port is a client like any other.
    assert.equal(home.came[0]?.flow, work.came[0]?.flow);
    const { socket } = home;
    const stray = home.signed(0xd6, Buffer.alloc(4, 9));
    socket.send(stray, workPort, '127.0.0.1');
    await until(() => work.came.length === 2);
    assert.notEqual(work.came[1]?.flow, work.came[0]?.flow);
    home.send(1, 'x');
    await until(() => atHome.heard.length === 1);
    assert.deepEqual([home.texts, atWork.texts], [['home'], []]);
  });
});

function agentIdOf({ agent }: TestCarrier): string | undefined {
  const welcome = agent.heard.find(({ type }) => type === 'welcome');
  return welcome?.type === 'welcome' ? welcome.agentId : undefined;
}
