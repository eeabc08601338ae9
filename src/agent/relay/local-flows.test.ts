/** Local sockets of a relay: one for each client, for as long as the client is heard, and bounded. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { bindDatagrams } from '../../base/udp/datagrams.ts';
import { FLOW_IDLE_MS } from '../../wire/relay-packets.ts';
import { FakeTime } from '../fixtures/fake-channel.ts';
import { until } from './fixtures/until.ts';
import { EchoService } from './fixtures/relay-fixture.ts';
import { LocalFlows, MAX_FLOWS } from './local-flows.ts';
import type { DatagramTarget } from './spec.ts';

interface Fixture {
  readonly flows: LocalFlows;
  readonly time: FakeTime;
  readonly heard: Array<{ flow: number; text: string }>;
  readonly faults: Array<string | undefined>;
  say(flow: number, text: string): void;
}

function fixtureOf(t: TestContext, target: DatagramTarget): Fixture {
  const time = new FakeTime();
  const heard: Fixture['heard'] = [];
  const faults: Fixture['faults'] = [];
  const owner = {
    fromLocal: (flow: number, bytes: Buffer, start: number, end: number) =>
      void heard.push({ flow, text: bytes.toString('latin1', start, end) }),
    onFault: (fault: string | undefined) => void faults.push(fault),
    onThrow: (error: Error) => {
      throw error;
    },
  };
  const flows = new LocalFlows({ target, owner, clock: time, schedule: time });
  t.after(() => flows.clear());
  const say = (flow: number, text: string): void => flows.toLocal(flow, Buffer.from(text), 0, text.length);
  return { flows, time, heard, faults, say };
}

async function echo(t: TestContext): Promise<EchoService> {
  const service = await EchoService.listen();
  t.after(() => service.close());
  return service;
}

test('a client that is silent for three minutes is forgotten, one that speaks is not', async (t) => {
  const service = await echo(t);
  const { flows, time, heard, say } = fixtureOf(t, service.target);
  say(1, 'a');
  say(2, 'b');
  await until(() => heard.length === 2);
  const [first] = service.sources;
  for (let passed = 0; passed < FLOW_IDLE_MS; passed += 30_000) {
    await time.advance(30_000);
    say(1, 'still here');
  }
  assert.equal(flows.size, 2, 'the server forgets first');
  await time.advance(10_000);
  assert.equal(flows.size, 1);
  say(1, 'and now');
  await until(() => heard.length === 9);
  assert.equal(service.sources.at(-1), first, 'its socket is the same');
  await time.advance(2 * FLOW_IDLE_MS);
  assert.deepEqual([flows.size, time.next], [0, undefined], 'no timer is left');
});

test('answers of the service alone keep no client', async (t) => {
  const service = await echo(t);
  const { flows, time, heard, say } = fixtureOf(t, service.target);
  say(1, 'a');
  await until(() => heard.length === 1);
  for (let passed = 0; passed <= FLOW_IDLE_MS; passed += 30_000) {
    service.say(Buffer.from('hello there'));
    await time.advance(30_000);
  }
  assert.equal(flows.size, 0);
});

test('at the bound the client that was silent for longest goes', async (t) => {
  const service = await echo(t);
  const { flows, time, heard, say } = fixtureOf(t, service.target);
  say(1, 'first');
  say(2, 'second');
  await until(() => heard.length === 2);
  await time.advance(6_000);
  say(1, 'again');
  for (let flow = 3; flow <= MAX_FLOWS; flow++) {
    say(flow, 'x');
    // More at a time would be more than the service's socket has room for.
    if (flow % 64 === 0) await until(() => heard.length === flow + 1);
  }
  assert.equal(flows.size, MAX_FLOWS);
  say(5_000, 'one more');
  await until(() => heard.some(({ flow }) => flow === 5_000));
  assert.equal(flows.size, MAX_FLOWS);
  const before = service.sources.length;
  const [first, second] = service.sources;
  say(1, 'one of the first');
  await until(() => service.sources.length > before);
  assert.equal(service.sources.at(-1), first);
  say(2, 'it has another socket');
  await until(() => service.received.at(-1)?.toString() === 'it has another socket');
  assert.notEqual(service.sources.at(-1), second);
});

test('local flows: an authenticated client keeps its socket when new clients come', async (t) => {
  const service = await echo(t);
  const { flows, time, heard, say } = fixtureOf(t, service.target);
  const packet = Buffer.alloc(32);
  packet[0] = 4;
  flows.toLocal(1, packet, 0, packet.length);
  await until(() => heard.length === 1);
  await time.advance(6_000);
  for (let flow = 2; flow <= MAX_FLOWS + 200; flow++) {
    say(flow, 'forged');
    if (flow % 64 === 0) await until(() => heard.length === flow);
  }
  await until(() => heard.length === MAX_FLOWS + 200);
  assert.equal(flows.size, MAX_FLOWS);
  const [first] = service.sources;
  flows.toLocal(1, packet, 0, packet.length);
  await until(() => heard.at(-1)?.flow === 1);
  assert.equal(service.sources.at(-1), first, 'it was silent for longest, and has the same socket');
});

test('what comes before the socket is open is sent then, up to a bound', async (t) => {
  const service = await echo(t);
  const { flows, heard, say } = fixtureOf(t, service.target);
  for (let i = 0; i < 20; i++) say(1, `number ${i}`);
  flows.toLocal(2, Buffer.alloc(60_000), 0, 60_000);
  flows.toLocal(2, Buffer.alloc(60_000), 0, 60_000);
  await until(() => heard.length === 17);
  assert.deepEqual([flows.lost, heard.filter(({ flow }) => flow === 1).length], [5, 16]);
});

test('a service on the other loopback address is found', async (t) => {
  const six = await bindDatagrams({
    host: '::1',
    port: 0,
    onDatagram: (bytes, start, end, address, port) => void six.send(bytes, start, end, port, address),
    onError: () => {},
  });
  t.after(() => six.close());
  const target = { text: `localhost:${six.port}`, hosts: ['127.0.0.1', '::1'], port: six.port };
  const { heard, faults, say } = fixtureOf(t, target);
  say(1, 'lost');
  await until(() => {
    say(1, 'found');
    return heard.length > 0;
  });
  assert.equal(heard[0]?.text, 'found');
  assert.deepEqual(faults, []);
});

test('local flows: a fault ends when datagrams are not refused any more, even without an answer', async (t) => {
  const gone = await EchoService.listen();
  gone.close();
  const { faults, time, say } = fixtureOf(t, gone.target);
  say(1, 'a');
  await until(() => faults.length === 1);
  assert.equal(faults[0], `nothing listens on UDP ${gone.target.text}`);
  const mute = await bindDatagrams({
    host: '127.0.0.1',
    port: gone.target.port,
    onDatagram: () => {},
    onError: () => {},
  });
  t.after(() => mute.close());
  await time.advance(10_000);
  say(1, 'b');
  await time.advance(10_000);
  assert.deepEqual(faults.slice(1), [undefined]);
});

test('local flows: a name without an address is reported, and looked up again a second later', async (t) => {
  const target = { text: 'vpn.invalid:51820', hosts: ['vpn.invalid'], port: 51_820 };
  const { flows, faults, time, say } = fixtureOf(t, target);
  say(1, 'a');
  await until(() => faults.length === 1);
  assert.deepEqual([faults, flows.size, flows.lost], [["the host name of vpn.invalid:51820 can't be resolved"], 0, 1]);
  say(1, 'b');
  assert.deepEqual([flows.size, flows.lost], [0, 2]);
  await time.advance(1_000);
  say(1, 'c');
  assert.equal(flows.size, 1);
});
