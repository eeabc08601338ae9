/** The agent's end of the handshake, packet by packet: what it answers, and what it takes for the server's. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { bindDatagrams } from '../../base/udp/datagrams.ts';
import { encodeSigned, HELLO_BYTES, hasRelayMac, RELAY_KIND } from '../../wire/relay-packets.ts';
import { until } from './fixtures/until.ts';
import { UdpLeg } from './udp-leg.ts';

const token = randomBytes(7);
const key = randomBytes(32);
const nonce = randomBytes(16);

interface Fixture {
  readonly leg: UdpLeg;
  /** What the leg has sent. */
  readonly sent: Buffer[];
  readonly told: string[];
  mayProve: boolean;
  say(packet: Buffer): void;
  /** The nonce of the leg's hello. */
  hello(): Promise<Buffer>;
}

async function fixtureOf(t: TestContext): Promise<Fixture> {
  const sent: Buffer[] = [];
  const told: string[] = [];
  let legPort = 0;
  const server = await bindDatagrams({
    host: '127.0.0.1',
    port: 0,
    onDatagram: (bytes, start, end, _address, port) => {
      legPort = port;
      sent.push(Buffer.from(bytes.subarray(start, end)));
    },
    onError: () => {},
  });
  const owner = {
    mayProve: () => fixture.mayProve,
    onReady: () => void told.push('ready'),
    onPong: (_leg: UdpLeg, number: number) => void told.push(`pong ${number}`),
    onPacket: (_bytes: Buffer, start: number, end: number) => void told.push(`packet of ${end - start}`),
    onLost: () => {},
    onForeign: () => void told.push('foreign'),
    onTrouble: (error: Error) => void told.push(error.message),
  };
  const leg = new UdpLeg({ address: '127.0.0.1', port: server.port, keys: { token, key }, owner });
  t.after(() => {
    leg.close();
    server.close();
  });
  const fixture: Fixture = {
    leg,
    sent,
    told,
    mayProve: true,
    say: (packet) => void server.send(packet, 0, packet.length, legPort, '127.0.0.1'),
    hello: async () => {
      leg.hello();
      await until(() => sent.length > 0);
      return (sent[0] as Buffer).subarray(8, 24);
    },
  };
  return fixture;
}

const signed = (kind: number, body: Buffer, by = key): Buffer => encodeSigned({ kind, token, key: by, body });

test('says hello, proves what it is challenged with, and is ready', async (t) => {
  const { sent, told, say, hello } = await fixtureOf(t);
  const mine = await hello();
  assert.deepEqual([sent[0]?.length, sent[0]?.[0]], [HELLO_BYTES, RELAY_KIND.hello]);
  assert.ok(hasRelayMac(key, sent[0] as Buffer, 24));
  say(signed(RELAY_KIND.challenge, Buffer.concat([mine, nonce])));
  await until(() => sent.length === 2);
  assert.deepEqual(sent[1], signed(RELAY_KIND.proof, nonce));
  say(signed(RELAY_KIND.ready, nonce));
  await until(() => told.length === 1);
  say(signed(RELAY_KIND.ready, nonce));
  await until(() => told.length === 2);
  assert.deepEqual(told, ['ready', 'foreign'], 'the same word again says nothing');
});

test('proves nothing to a challenge that is not signed, not of its hello, or of another length', async (t) => {
  const { sent, told, say, hello } = await fixtureOf(t);
  const mine = await hello();
  const challenge = signed(RELAY_KIND.challenge, Buffer.concat([mine, nonce]));
  const wrong = [
    signed(RELAY_KIND.challenge, Buffer.concat([mine, nonce]), randomBytes(32)),
    signed(RELAY_KIND.challenge, Buffer.concat([nonce, nonce])),
    Buffer.concat([challenge, Buffer.alloc(1)]),
    challenge.subarray(0, -1),
    signed(RELAY_KIND.challenge, mine),
    signed(RELAY_KIND.proof, nonce),
    signed(RELAY_KIND.hello, nonce),
    signed(RELAY_KIND.ping, Buffer.alloc(4)),
    signed(RELAY_KIND.ready, nonce),
    signed(RELAY_KIND.pong, Buffer.alloc(4), randomBytes(32)),
  ];
  for (const packet of wrong) say(packet);
  await until(() => told.length === wrong.length);
  assert.deepEqual([new Set(told), sent.length], [new Set(['foreign']), 1]);
});

test('waits while another leg proves itself', async (t) => {
  const fixture = await fixtureOf(t);
  const mine = await fixture.hello();
  const challenge = signed(RELAY_KIND.challenge, Buffer.concat([mine, nonce]));
  fixture.mayProve = false;
  fixture.say(challenge);
  fixture.say(signed(RELAY_KIND.pong, Buffer.from([0, 0, 1, 0])));
  await until(() => fixture.told.length === 1);
  assert.deepEqual([fixture.told, fixture.sent.length], [['pong 256'], 1]);
  fixture.mayProve = true;
  fixture.say(challenge);
  await until(() => fixture.sent.length === 2);
});

test('udp leg: a server that does not listen is reported, and a closed leg sends and receives nothing', async (t) => {
  const { leg, told, sent, hello } = await fixtureOf(t);
  await hello();
  leg.close();
  leg.close();
  leg.hello();
  leg.ping(1);
  assert.equal(leg.send(Buffer.alloc(9), 0, 9), false);
  await setImmediate();
  assert.deepEqual([told, sent.length], [[], 1]);
  const gone = await bindDatagrams({ host: '127.0.0.1', port: 0, onDatagram: () => {}, onError: () => {} });
  gone.close();
  const troubles: Error[] = [];
  const owner = {
    mayProve: () => true,
    onReady: () => {},
    onPong: () => {},
    onPacket: () => {},
    onLost: () => {},
    onForeign: () => {},
    onTrouble: (error: Error) => void troubles.push(error),
  };
  const other = new UdpLeg({ address: '127.0.0.1', port: gone.port, keys: { token, key }, owner });
  t.after(() => other.close());
  other.hello();
  await until(() => troubles.length > 0);
  assert.match(troubles[0]?.message ?? '', /ECONNREFUSED/);
});
