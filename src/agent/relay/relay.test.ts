/** An agent's relay against a server on real sockets: both ways of datagrams, the change between them, and what it believes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bindDatagrams } from '../../base/udp/datagrams.ts';
import { encodeSigned, RELAY_KIND, RELAY_PING_MS } from '../../wire/relay-packets.ts';
import { writeRecord } from '../../wire/relay-records.ts';
import { EchoService, RelayFixture } from './fixtures/relay-fixture.ts';
import { NatProxy } from './fixtures/nat-proxy.ts';

const text = (what: string): Buffer => Buffer.from(what);

test('comes up by UDP, carries datagrams whole whatever their length, and says so', async (t) => {
  const fixture = await RelayFixture.start(t);
  // No time passes meanwhile.
  await fixture.until(() => fixture.view.path === 'udp');
  assert.deepEqual(fixture.paths, ['udp']);
  assert.deepEqual(
    [fixture.view.udp, fixture.view.network, fixture.view.endpoint],
    ['up', 'office', `127.0.0.1:${fixture.relay.port}`],
  );
  fixture.relay.sendUdp(1, text('open'));
  await fixture.until(() => fixture.relay.heard.length === 1);
  const lengths = [0, 1, 148, 1_212, 1_213, 1_452, 9_000, 60_000];
  for (const length of lengths) fixture.relay.sendUdp(1, Buffer.alloc(length, length));
  await fixture.until(() => fixture.relay.heard.length === 1 + lengths.length);
  assert.deepEqual(
    fixture.relay.heard
      .slice(1)
      .map(({ via, flow, bytes }) => [via, flow, bytes.length, bytes.equals(Buffer.alloc(bytes.length, bytes.length))]),
    lengths.map((length) => ['udp', 1, length, true]),
  );
  const { packetsIn, packetsOut, bytesIn, bytesOut, dropped, clients } = fixture.view;
  const sum = lengths.reduce((all, length) => all + length, 4);
  assert.deepEqual(
    { packetsIn, packetsOut, bytesIn, bytesOut, dropped, clients },
    { packetsIn: 9, packetsOut: 9, bytesIn: sum, bytesOut: sum, dropped: 0, clients: 1 },
  );
});

test('works over IPv6, and asks the host of the endpoint where the session goes elsewhere', async (t) => {
  const fixture = await RelayFixture.start(t, {
    host: '::1',
    attached: ({ port }) => ({ endpoint: `[::1]:${port}` }),
  });
  await fixture.pass(() => fixture.view.path === 'udp');
  assert.equal(fixture.relay.handshake.address, '::1', 'the session goes to 127.0.0.1');
  fixture.relay.sendUdp(3, text('hello'));
  await fixture.until(() => fixture.relay.heard.length === 1);
  assert.equal(fixture.relay.heard[0]?.bytes.toString(), 'hello');
});

test('each client has a socket of its own at the service, and hears what is for it', async (t) => {
  const fixture = await RelayFixture.start(t);
  await fixture.pass(() => fixture.view.path === 'udp');
  const count = 200;
  for (let flow = 1; flow <= count; flow++) fixture.relay.sendUdp(flow, text(`client ${flow}`));
  await fixture.until(() => fixture.relay.heard.length === count);
  for (const { flow, bytes } of fixture.relay.heard) assert.equal(bytes.toString(), `client ${flow}`);
  assert.equal(new Set(fixture.service.sources).size, count);
  assert.equal(fixture.view.clients, count);
  const [port] = fixture.service.sources;
  const first = Number(/\d+/.exec(fixture.service.received[0]?.toString() ?? '')?.[0]);
  fixture.relay.sendUdp(first, text('again'));
  await fixture.until(() => fixture.service.sources.length === count + 1);
  assert.equal(fixture.service.sources.at(-1), port, 'the same socket as before');
});

test('where UDP is blocked the stream carries from the first datagram, and UDP is taken when it is back', async (t) => {
  const fixture = await RelayFixture.start(t, { deaf: true });
  fixture.relay.sendStream(1, text('first'));
  await fixture.until(() => fixture.relay.heard.length === 1);
  assert.deepEqual(fixture.relay.heard[0], { flow: 1, bytes: text('first'), via: 'stream' });
  assert.deepEqual([fixture.view.path, fixture.view.udp, fixture.paths], ['stream', 'trying', []]);
  assert.equal(await fixture.pass(() => fixture.paths.length > 0), 5);
  assert.deepEqual(fixture.paths, ['stream']);
  assert.equal(fixture.view.pathWhy, `no UDP response from 127.0.0.1:${fixture.relay.port}`);
  await fixture.pass(() => fixture.relay.kinds.length > 12, 300);
  fixture.relay.deaf = false;
  assert.ok((await fixture.pass(() => fixture.view.path === 'udp')) <= 31, 'it is tried each 30 s at the least');
  assert.deepEqual(fixture.paths, ['stream', 'udp'], 'each change once');
  assert.equal(fixture.view.pathWhy, undefined);
  fixture.relay.sendUdp(1, text('second'));
  await fixture.until(() => fixture.relay.heard.length === 2);
  assert.equal(fixture.relay.heard[1]?.via, 'udp');
  assert.equal(new Set(fixture.service.sources).size, 1, 'the client kept its socket');
});

test('relay: lost UDP is noticed within 15 s, the server is notified, and the stream goes on', async (t) => {
  const fixture = await RelayFixture.start(t);
  await fixture.pass(() => fixture.view.path === 'udp');
  fixture.relay.deaf = true;
  const seconds = await fixture.pass(() => fixture.view.path === 'stream');
  assert.ok(seconds <= 16, `after ${seconds} s`);
  await fixture.until(() => fixture.relay.words === 1);
  assert.match(fixture.view.pathWhy ?? '', /^no UDP received from \S+ for 15 s/);
  fixture.relay.sendStream(1, text('over the stream'));
  await fixture.until(() => fixture.relay.heard.length === 1);
  assert.equal(fixture.relay.heard[0]?.via, 'stream');
  fixture.relay.deaf = false;
  await fixture.pass(() => fixture.view.path === 'udp');
  assert.deepEqual(fixture.paths, ['udp', 'stream', 'udp']);
});

test('an answer to a ping that comes again keeps nothing alive', async (t) => {
  const fixture = await RelayFixture.start(t);
  await fixture.pass(() => fixture.view.path === 'udp' && fixture.relay.pong !== undefined);
  fixture.relay.deaf = true;
  const pong = Buffer.from(fixture.relay.pong ?? assert.fail('no pong'));
  await fixture.pass(() => {
    fixture.relay.forge(pong);
    return fixture.view.path === 'stream';
  }, 17);
});

test('the stream gives back what it has taken, and is nothing to wait for', async (t) => {
  const fixture = await RelayFixture.start(t, { udp: false });
  const count = 1_000;
  for (let i = 0; i < count; i++) {
    fixture.relay.sendStream(1, Buffer.alloc(1_400));
    if (i % 50 === 49) await fixture.until(() => fixture.view.packetsIn === i + 1);
  }
  assert.equal(fixture.agent.view().inFlight, 0);
  fixture.agent.drain();
  assert.equal((await fixture.agent.done).code, 0);
});

test('relay: pings keep an idle relay from being lost', async (t) => {
  const fixture = await RelayFixture.start(t);
  await fixture.pass(() => fixture.view.path === 'udp');
  const { address, port } = fixture.relay.handshake;
  const count = (wanted: number): number => fixture.relay.kinds.filter((kind) => kind === wanted).length;
  const hellos = count(RELAY_KIND.hello);
  for (let pings = 1; pings <= 20; pings++) {
    await fixture.until(() => count(RELAY_KIND.ping) === pings);
    await fixture.heardAll();
    await fixture.time.advance(RELAY_PING_MS);
  }
  assert.deepEqual(fixture.paths, ['udp']);
  assert.deepEqual(
    [fixture.relay.handshake.address, fixture.relay.handshake.port],
    [address, port],
    'the same socket all the time',
  );
  assert.equal(count(RELAY_KIND.hello), hellos);
});

test('a NAT that gives the agent another port costs seconds and no change of the way', async (t) => {
  const nat = await NatProxy.listen();
  t.after(() => nat.close());
  const fixture = await RelayFixture.start(t, { attached: ({ port }) => ({ port: nat.before(port) }) });
  await fixture.pass(() => fixture.view.path === 'udp');
  const before = fixture.relay.handshake.port;
  await nat.rebind();
  const seconds = await fixture.pass(() => fixture.relay.handshake.port !== before);
  assert.ok(seconds <= 10, `after ${seconds} s`);
  fixture.relay.sendUdp(1, text('here again'));
  await fixture.until(() => fixture.relay.heard.length === 1);
  assert.deepEqual([fixture.relay.heard[0]?.via, fixture.paths], ['udp', ['udp']]);
});

test('a relay without UDP never sends a packet of it', async (t) => {
  const fixture = await RelayFixture.start(t, { udp: false });
  assert.deepEqual([fixture.view.path, fixture.view.udp, fixture.paths], ['stream', 'off', ['stream']]);
  let seconds = 0;
  await fixture.pass(() => seconds++ === 40);
  fixture.relay.sendStream(1, text('by stream'));
  await fixture.until(() => fixture.relay.heard.length === 1);
  assert.deepEqual([fixture.relay.kinds, fixture.paths], [[], ['stream']]);
});

test('small datagrams of one turn leave in one packet', async (t) => {
  const fixture = await RelayFixture.start(t);
  await fixture.pass(() => fixture.view.path === 'udp');
  fixture.relay.sendUdp(1, text('who is there'));
  await fixture.until(() => fixture.relay.heard.length === 1);
  fixture.relay.kinds.length = 0;
  for (let i = 0; i < 20; i++) fixture.service.say(text(`number ${i}`));
  await fixture.until(() => fixture.relay.heard.length === 21);
  assert.deepEqual(
    fixture.relay.heard.slice(1).map(({ bytes }) => bytes.toString()),
    Array.from({ length: 20 }, (_, i) => `number ${i}`),
  );
  const packets = fixture.relay.kinds.filter((kind) => kind === RELAY_KIND.batch || kind === RELAY_KIND.data).length;
  assert.ok(packets < 20, `${packets} packets for 20 datagrams`);
});

test('a batch of the server is taken apart, and a broken one is counted', async (t) => {
  const fixture = await RelayFixture.start(t);
  await fixture.pass(() => fixture.view.path === 'udp');
  const batch = Buffer.alloc(200);
  batch[0] = RELAY_KIND.batch;
  fixture.relay.token.copy(batch, 1);
  let end = 8;
  for (const flow of [5, 6, 5]) end = writeRecord(batch, end, flow, text(`to ${flow}`), 0, 4);
  fixture.relay.sendPacket(batch.subarray(0, end));
  await fixture.until(() => fixture.relay.heard.length === 3);
  assert.deepEqual(fixture.relay.heard.map(({ flow }) => flow).sort(), [5, 5, 6]);
  fixture.relay.sendPacket(batch.subarray(0, end - 1));
  fixture.relay.sendPacket(batch.subarray(0, 8));
  const data = Buffer.from(batch.subarray(0, 11));
  data[0] = RELAY_KIND.data;
  fixture.relay.sendPacket(data);
  await fixture.until(() => fixture.view.dropped === 3);
});

test('an agent that attaches again in the same epoch keeps its local sockets, in another it does not', async (t) => {
  const fixture = await RelayFixture.start(t);
  await fixture.pass(() => fixture.view.path === 'udp');
  const say = async (what: string): Promise<number | undefined> => {
    const count = fixture.service.sources.length;
    fixture.relay.sendUdp(1, text(what));
    await fixture.until(() => fixture.service.sources.length > count);
    return fixture.service.sources.at(-1);
  };
  const first = await say('first');
  for (const [epoch, isKept] of [
    [1, true],
    [2, false],
  ] as const) {
    fixture.server.cut();
    await fixture.pass(() => fixture.view.state === 'waiting');
    assert.equal(fixture.view.path, undefined);
    const again = fixture.attach({ epoch });
    await fixture.time.advance(3_000);
    await again;
    await fixture.pass(() => fixture.view.path === 'udp');
    assert.equal((await say('again')) === first, isKept, `epoch ${epoch}`);
  }
  assert.deepEqual(fixture.events.filter(({ kind }) => kind === 'relay_offline').length, 2);
});

test('nothing of a wrong source, with a wrong token or a wrong key is believed', async (t) => {
  const fixture = await RelayFixture.start(t);
  await fixture.pass(() => fixture.view.path === 'udp');
  const { relay } = fixture;
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
  await fixture.until(() => fixture.view.dropped === 11);
  relay.sendUdp(1, text('true'));
  await fixture.until(() => fixture.service.received.length === 1);
  assert.equal(fixture.service.received[0]?.toString(), 'true');
  assert.equal(fixture.view.path, 'udp');
});

test('a stream that is not read makes the oldest go, and the newest arrive', async (t) => {
  const fixture = await RelayFixture.start(t, { udp: false });
  fixture.relay.sendStream(1, text('who is there'));
  await fixture.until(() => fixture.relay.heard.length === 1);
  fixture.relay.stalled = true;
  const count = 4_000;
  for (let i = 0; i < count; i++) {
    fixture.service.say(Buffer.from(String(i).padEnd(1_200)));
    if (i % 50 === 49) await fixture.until(() => fixture.view.packetsOut === i + 2);
  }
  await fixture.until(() => fixture.view.packetsOut > count);
  const { dropped } = fixture.view;
  assert.ok(dropped > 1_000, `${dropped} dropped`);
  fixture.relay.resume();
  await fixture.until(() => fixture.relay.heard.length === count + 1 - dropped);
  const numbers = fixture.relay.heard.slice(1).map(({ bytes }) => Number(bytes.toString()));
  assert.equal(numbers.at(-1), count - 1, 'the newest');
  assert.deepEqual(
    numbers,
    numbers.toSorted((a, b) => a - b),
    'in order',
  );
});

test('what is no record ends the stream and nothing else', async (t) => {
  const fixture = await RelayFixture.start(t, { udp: false });
  fixture.relay.sendStreamRaw(Buffer.from([0, 0, 0, 1, 0xff, 0xff, 1]));
  await fixture.until(() => fixture.relay.streamIsGone);
  assert.equal(fixture.view.state, 'online');
  assert.equal(fixture.view.dropped, 1);
  fixture.relay.openStream(fixture.peer ?? assert.fail('no peer'));
  fixture.relay.sendStream(1, text('the next'));
  await fixture.until(() => fixture.relay.heard.length === 1);
});

test('relay: an unreachable service is reported, and so is its return', async (t) => {
  const gone = await EchoService.listen();
  const { target } = gone;
  gone.close();
  const fixture = await RelayFixture.start(t, { target });
  await fixture.pass(() => fixture.view.path === 'udp');
  fixture.relay.sendUdp(1, text('hello'));
  await fixture.until(() => fixture.view.fault !== undefined);
  assert.equal(fixture.view.fault, `nothing listens on UDP ${target.text}`);
  const back = await EchoService.listen(target.port);
  t.after(() => back.close());
  fixture.relay.sendUdp(1, text('now'));
  await fixture.until(() => fixture.relay.heard.length === 1);
  assert.equal(fixture.view.fault, undefined);
  assert.deepEqual(fixture.events.filter(({ kind }) => kind === 'relay_target').length, 2);
});

test('no packet of the server makes the agent stumble', async (t) => {
  const fixture = await RelayFixture.start(t);
  await fixture.pass(() => fixture.view.path === 'udp');
  const { relay } = fixture;
  const random = seeded(1);
  for (let round = 0; round < 2_000; round++) {
    const packet = Buffer.alloc(random(90), random(256));
    for (let i = 0; i < packet.length; i += 1 + random(9)) packet[i] = random(256);
    if (packet.length > 0) packet[0] = random(12) + RELAY_KIND.data - 2;
    // Most show the token, so that they come further than that.
    if (random(8) > 0) relay.token.copy(packet, 1);
    if (random(3) > 0) packet.subarray(8, 11).fill(0);
    relay.sendPacket(packet);
    if (round % 50 === 0) await fixture.settle();
  }
  await fixture.until(() => fixture.view.dropped > 200); // most made no sense
  const before = relay.heard.length;
  relay.sendUdp(9_999, text('still there'));
  await fixture.until(() => relay.heard.slice(before).some(({ flow }) => flow === 9_999));
  assert.deepEqual([fixture.view.state, fixture.paths], ['online', ['udp']]);
});

/** Numbers below `below`, the same at each run. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
