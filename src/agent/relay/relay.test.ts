/** An agent's relay against a server on real sockets: both ways of datagrams, the change between them, and what it believes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bindDatagrams } from '../../base/udp/datagrams.ts';
import { encodeSigned, RELAY_KIND, RELAY_PING_MS } from '../../wire/relay-packets.ts';
import { writeRecord } from '../../wire/relay-records.ts';
import { EchoService, RelayWorld } from './fixtures/relay-world.ts';
import { NatProxy } from './fixtures/nat-proxy.ts';

const text = (what: string): Buffer => Buffer.from(what);

test('comes up by UDP, carries datagrams whole whatever their length, and says so', async (t) => {
  const world = await RelayWorld.start(t);
  // No time passes meanwhile.
  await world.until(() => world.view.path === 'udp');
  assert.deepEqual(world.paths, ['udp']);
  assert.deepEqual(
    [world.view.udp, world.view.network, world.view.endpoint],
    ['up', 'office', `127.0.0.1:${world.relay.port}`],
  );
  world.relay.sendUdp(1, text('open'));
  await world.until(() => world.relay.heard.length === 1);
  const lengths = [0, 1, 148, 1_212, 1_213, 1_452, 9_000, 60_000];
  for (const length of lengths) world.relay.sendUdp(1, Buffer.alloc(length, length));
  await world.until(() => world.relay.heard.length === 1 + lengths.length);
  assert.deepEqual(
    world.relay.heard
      .slice(1)
      .map(({ via, flow, bytes }) => [via, flow, bytes.length, bytes.equals(Buffer.alloc(bytes.length, bytes.length))]),
    lengths.map((length) => ['udp', 1, length, true]),
  );
  const { packetsIn, packetsOut, bytesIn, bytesOut, dropped, clients } = world.view;
  const sum = lengths.reduce((all, length) => all + length, 4);
  assert.deepEqual(
    { packetsIn, packetsOut, bytesIn, bytesOut, dropped, clients },
    { packetsIn: 9, packetsOut: 9, bytesIn: sum, bytesOut: sum, dropped: 0, clients: 1 },
  );
});

test('works over IPv6, and asks the host of the endpoint where the session goes elsewhere', async (t) => {
  const world = await RelayWorld.start(t, {
    host: '::1',
    attached: ({ port }) => ({ endpoint: `[::1]:${port}` }),
  });
  await world.pass(() => world.view.path === 'udp');
  assert.equal(world.relay.handshake.address, '::1', 'the session goes to 127.0.0.1');
  world.relay.sendUdp(3, text('hello'));
  await world.until(() => world.relay.heard.length === 1);
  assert.equal(world.relay.heard[0]?.bytes.toString(), 'hello');
});

test('each client has a socket of its own at the service, and hears what is for it', async (t) => {
  const world = await RelayWorld.start(t);
  await world.pass(() => world.view.path === 'udp');
  const count = 200;
  for (let flow = 1; flow <= count; flow++) world.relay.sendUdp(flow, text(`client ${flow}`));
  await world.until(() => world.relay.heard.length === count);
  for (const { flow, bytes } of world.relay.heard) assert.equal(bytes.toString(), `client ${flow}`);
  assert.equal(new Set(world.service.sources).size, count);
  assert.equal(world.view.clients, count);
  const [port] = world.service.sources;
  const first = Number(/\d+/.exec(world.service.received[0]?.toString() ?? '')?.[0]);
  world.relay.sendUdp(first, text('again'));
  await world.until(() => world.service.sources.length === count + 1);
  assert.equal(world.service.sources.at(-1), port, 'the same socket as before');
});

test('where UDP is blocked the stream carries from the first datagram, and UDP is taken when it is back', async (t) => {
  const world = await RelayWorld.start(t, { deaf: true });
  world.relay.sendStream(1, text('first'));
  await world.until(() => world.relay.heard.length === 1);
  assert.deepEqual(world.relay.heard[0], { flow: 1, bytes: text('first'), via: 'stream' });
  assert.deepEqual([world.view.path, world.view.udp, world.paths], ['stream', 'trying', []]);
  assert.equal(await world.pass(() => world.paths.length > 0), 5);
  assert.deepEqual(world.paths, ['stream']);
  assert.equal(world.view.pathWhy, `no answer by UDP from 127.0.0.1:${world.relay.port}`);
  await world.pass(() => world.relay.kinds.length > 12, 300);
  world.relay.deaf = false;
  assert.ok((await world.pass(() => world.view.path === 'udp')) <= 31, 'it is tried each 30 s at the least');
  assert.deepEqual(world.paths, ['stream', 'udp'], 'each change once');
  assert.equal(world.view.pathWhy, undefined);
  world.relay.sendUdp(1, text('second'));
  await world.until(() => world.relay.heard.length === 2);
  assert.equal(world.relay.heard[1]?.via, 'udp');
  assert.equal(new Set(world.service.sources).size, 1, 'the client kept its socket');
});

test('relay: lost UDP is noticed within 15 s, the server is notified, and the stream goes on', async (t) => {
  const world = await RelayWorld.start(t);
  await world.pass(() => world.view.path === 'udp');
  world.relay.deaf = true;
  const seconds = await world.pass(() => world.view.path === 'stream');
  assert.ok(seconds <= 16, `after ${seconds} s`);
  await world.until(() => world.relay.words === 1);
  assert.match(world.view.pathWhy ?? '', /^no UDP received from \S+ for 15 s/);
  world.relay.sendStream(1, text('over the stream'));
  await world.until(() => world.relay.heard.length === 1);
  assert.equal(world.relay.heard[0]?.via, 'stream');
  world.relay.deaf = false;
  await world.pass(() => world.view.path === 'udp');
  assert.deepEqual(world.paths, ['udp', 'stream', 'udp']);
});

test('an answer to a ping that comes again keeps nothing alive', async (t) => {
  const world = await RelayWorld.start(t);
  await world.pass(() => world.view.path === 'udp' && world.relay.pong !== undefined);
  world.relay.deaf = true;
  const pong = Buffer.from(world.relay.pong ?? assert.fail('no pong'));
  await world.pass(() => {
    world.relay.forge(pong);
    return world.view.path === 'stream';
  }, 17);
});

test('the stream gives back what it has taken, and is nothing to wait for', async (t) => {
  const world = await RelayWorld.start(t, { udp: false });
  const count = 1_000;
  for (let i = 0; i < count; i++) {
    world.relay.sendStream(1, Buffer.alloc(1_400));
    if (i % 50 === 49) await world.until(() => world.view.packetsIn === i + 1);
  }
  assert.equal(world.agent.view().inFlight, 0);
  world.agent.drain();
  assert.equal((await world.agent.done).code, 0);
});

test('relay: pings keep an idle relay from being lost', async (t) => {
  const world = await RelayWorld.start(t);
  await world.pass(() => world.view.path === 'udp');
  const { address, port } = world.relay.handshake;
  const count = (wanted: number): number => world.relay.kinds.filter((kind) => kind === wanted).length;
  const hellos = count(RELAY_KIND.hello);
  for (let pings = 1; pings <= 20; pings++) {
    await world.until(() => count(RELAY_KIND.ping) === pings);
    await world.heardAll();
    await world.time.advance(RELAY_PING_MS);
  }
  assert.deepEqual(world.paths, ['udp']);
  assert.deepEqual(
    [world.relay.handshake.address, world.relay.handshake.port],
    [address, port],
    'the same socket all the time',
  );
  assert.equal(count(RELAY_KIND.hello), hellos);
});

test('a NAT that gives the agent another port costs seconds and no change of the way', async (t) => {
  const nat = await NatProxy.listen();
  t.after(() => nat.close());
  const world = await RelayWorld.start(t, { attached: ({ port }) => ({ port: nat.before(port) }) });
  await world.pass(() => world.view.path === 'udp');
  const before = world.relay.handshake.port;
  await nat.rebind();
  const seconds = await world.pass(() => world.relay.handshake.port !== before);
  assert.ok(seconds <= 10, `after ${seconds} s`);
  world.relay.sendUdp(1, text('here again'));
  await world.until(() => world.relay.heard.length === 1);
  assert.deepEqual([world.relay.heard[0]?.via, world.paths], ['udp', ['udp']]);
});

test('a relay without UDP never sends a packet of it', async (t) => {
  const world = await RelayWorld.start(t, { udp: false });
  assert.deepEqual([world.view.path, world.view.udp, world.paths], ['stream', 'off', ['stream']]);
  let seconds = 0;
  await world.pass(() => seconds++ === 40);
  world.relay.sendStream(1, text('by stream'));
  await world.until(() => world.relay.heard.length === 1);
  assert.deepEqual([world.relay.kinds, world.paths], [[], ['stream']]);
});

test('small datagrams of one turn leave in one packet', async (t) => {
  const world = await RelayWorld.start(t);
  await world.pass(() => world.view.path === 'udp');
  world.relay.sendUdp(1, text('who is there'));
  await world.until(() => world.relay.heard.length === 1);
  world.relay.kinds.length = 0;
  for (let i = 0; i < 20; i++) world.service.say(text(`number ${i}`));
  await world.until(() => world.relay.heard.length === 21);
  assert.deepEqual(
    world.relay.heard.slice(1).map(({ bytes }) => bytes.toString()),
    Array.from({ length: 20 }, (_, i) => `number ${i}`),
  );
  const packets = world.relay.kinds.filter((kind) => kind === RELAY_KIND.batch || kind === RELAY_KIND.data).length;
  assert.ok(packets < 20, `${packets} packets for 20 datagrams`);
});

test('a batch of the server is taken apart, and a broken one is counted', async (t) => {
  const world = await RelayWorld.start(t);
  await world.pass(() => world.view.path === 'udp');
  const batch = Buffer.alloc(200);
  batch[0] = RELAY_KIND.batch;
  world.relay.token.copy(batch, 1);
  let end = 8;
  for (const flow of [5, 6, 5]) end = writeRecord(batch, end, flow, text(`to ${flow}`), 0, 4);
  world.relay.sendPacket(batch.subarray(0, end));
  await world.until(() => world.relay.heard.length === 3);
  assert.deepEqual(world.relay.heard.map(({ flow }) => flow).sort(), [5, 5, 6]);
  world.relay.sendPacket(batch.subarray(0, end - 1));
  world.relay.sendPacket(batch.subarray(0, 8));
  const data = Buffer.from(batch.subarray(0, 11));
  data[0] = RELAY_KIND.data;
  world.relay.sendPacket(data);
  await world.until(() => world.view.dropped === 3);
});

test('an agent that attaches again in the same epoch keeps its local sockets, in another it does not', async (t) => {
  const world = await RelayWorld.start(t);
  await world.pass(() => world.view.path === 'udp');
  const say = async (what: string): Promise<number | undefined> => {
    const count = world.service.sources.length;
    world.relay.sendUdp(1, text(what));
    await world.until(() => world.service.sources.length > count);
    return world.service.sources.at(-1);
  };
  const first = await say('first');
  for (const [epoch, isKept] of [
    [1, true],
    [2, false],
  ] as const) {
    world.server.cut();
    await world.pass(() => world.view.state === 'waiting');
    assert.equal(world.view.path, undefined);
    const again = world.attach({ epoch });
    await world.time.advance(3_000);
    await again;
    await world.pass(() => world.view.path === 'udp');
    assert.equal((await say('again')) === first, isKept, `epoch ${epoch}`);
  }
  assert.deepEqual(world.events.filter(({ kind }) => kind === 'relay_offline').length, 2);
});

test('nothing of a wrong source, with a wrong token or a wrong key is believed', async (t) => {
  const world = await RelayWorld.start(t);
  await world.pass(() => world.view.path === 'udp');
  const { relay } = world;
  const packet = Buffer.concat([
    Buffer.from([RELAY_KIND.data]),
    relay.token,
    Buffer.from([0, 0, 0, 1]),
    text('forged'),
  ]);
  const stranger = await bindDatagrams({ host: '127.0.0.1', port: 0, onDatagram: () => {}, onError: () => {} });
  t.after(() => stranger.close());
  stranger.send(packet, 0, packet.length, relay.handshake.port, '127.0.0.1');
  const wrong = Buffer.from(packet);
  wrong[3] = (wrong[3] as number) ^ 1;
  relay.sendPacket(wrong);
  for (const kind of [RELAY_KIND.challenge, RELAY_KIND.ready, RELAY_KIND.pong, RELAY_KIND.hello]) {
    relay.sendPacket(encodeSigned({ kind, token: relay.token, key: Buffer.alloc(32, 9), body: Buffer.alloc(16) }));
    relay.sendPacket(encodeSigned({ kind, token: relay.token, key: relay.key, body: Buffer.alloc(16) }));
  }
  relay.sendPacket(Buffer.from([RELAY_KIND.data]));
  relay.sendPacket(Buffer.alloc(0));
  await world.until(() => world.view.dropped === 11);
  relay.sendUdp(1, text('true'));
  await world.until(() => world.service.received.length === 1);
  assert.equal(world.service.received[0]?.toString(), 'true');
  assert.equal(world.view.path, 'udp');
});

test('a stream that is not read makes the oldest go, and the newest arrive', async (t) => {
  const world = await RelayWorld.start(t, { udp: false });
  world.relay.sendStream(1, text('who is there'));
  await world.until(() => world.relay.heard.length === 1);
  world.relay.stalled = true;
  const count = 4_000;
  for (let i = 0; i < count; i++) {
    world.service.say(Buffer.from(String(i).padEnd(1_200)));
    if (i % 50 === 49) await world.until(() => world.view.packetsOut === i + 2);
  }
  await world.until(() => world.view.packetsOut > count);
  const { dropped } = world.view;
  assert.ok(dropped > 1_000, `${dropped} dropped`);
  world.relay.resume();
  await world.until(() => world.relay.heard.length === count + 1 - dropped);
  const numbers = world.relay.heard.slice(1).map(({ bytes }) => Number(bytes.toString()));
  assert.equal(numbers.at(-1), count - 1, 'the newest');
  assert.deepEqual(
    numbers,
    numbers.toSorted((a, b) => a - b),
    'in order',
  );
});

test('what is no record ends the stream and nothing else', async (t) => {
  const world = await RelayWorld.start(t, { udp: false });
  world.relay.sendStreamRaw(Buffer.from([0, 0, 0, 1, 0xff, 0xff, 1]));
  await world.until(() => world.relay.streamIsGone);
  assert.equal(world.view.state, 'online');
  assert.equal(world.view.dropped, 1);
  world.relay.openStream(world.peer ?? assert.fail('no peer'));
  world.relay.sendStream(1, text('the next'));
  await world.until(() => world.relay.heard.length === 1);
});

test('relay: an unreachable service is reported, and so is its return', async (t) => {
  const gone = await EchoService.listen();
  const { target } = gone;
  gone.close();
  const world = await RelayWorld.start(t, { target });
  await world.pass(() => world.view.path === 'udp');
  world.relay.sendUdp(1, text('hello'));
  await world.until(() => world.view.fault !== undefined);
  assert.equal(world.view.fault, `nothing listens on UDP ${target.text}`);
  const back = await EchoService.listen(target.port);
  t.after(() => back.close());
  world.relay.sendUdp(1, text('now'));
  await world.until(() => world.relay.heard.length === 1);
  assert.equal(world.view.fault, undefined);
  assert.deepEqual(world.events.filter(({ kind }) => kind === 'relay_target').length, 2);
});

test('no packet of the server makes the agent stumble', async (t) => {
  const world = await RelayWorld.start(t);
  await world.pass(() => world.view.path === 'udp');
  const { relay } = world;
  const random = seeded(1);
  for (let round = 0; round < 2_000; round++) {
    const packet = Buffer.alloc(random(90), random(256));
    for (let i = 0; i < packet.length; i += 1 + random(9)) packet[i] = random(256);
    if (packet.length > 0) packet[0] = random(12) + RELAY_KIND.data - 2;
    // Most show the token, so that they come further than that.
    if (random(8) > 0) relay.token.copy(packet, 1);
    if (random(3) > 0) packet.subarray(8, 11).fill(0);
    relay.sendPacket(packet);
    if (round % 50 === 0) await world.settle();
  }
  await world.until(() => world.view.dropped > 200); // most made no sense
  const before = relay.heard.length;
  relay.sendUdp(9_999, text('still there'));
  await world.until(() => relay.heard.slice(before).some(({ flow }) => flow === 9_999));
  assert.deepEqual([world.view.state, world.paths], ['online', ['udp']]);
});

/** Numbers below `below`, the same at each run. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
