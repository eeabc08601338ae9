/** The relay handshake attaches only an agent that holds the key and receives at its source address. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import {
  encodeSigned,
  HELLO_BYTES,
  hasRelayMac,
  MAC_BYTES,
  NONCE_BYTES,
  RELAY_HEAD_BYTES,
  RELAY_KIND,
  RELAY_PING_MS,
  RELAY_SILENT_MS,
} from '../../../wire/relay-packets.ts';
import { Handshake, type HandshakeVerdict } from './handshake.ts';

const HOME = ['192.0.2.7', 40_000] as const;
const ELSEWHERE = ['192.0.2.7', 40_001] as const;
const STRANGER = ['203.0.113.9', 40_000] as const;
type From = readonly [string, number];

/** A handshake and an agent that knows its key. */
class World {
  readonly token = randomBytes(7);
  readonly key = randomBytes(32);
  nowMs = 5_000.5;
  readonly handshake = new Handshake({ token: this.token, key: this.key, nowMs: this.nowMs });

  packet(kind: number, body: Uint8Array, key: Uint8Array = this.key): Buffer {
    const size = kind === RELAY_KIND.hello ? { size: HELLO_BYTES } : {};
    return encodeSigned({ kind, token: this.token, key, body, ...size });
  }

  /** Arrives somewhere in a read buffer. */
  arrive(packet: Buffer, [address, port]: From): HandshakeVerdict {
    const bytes = Buffer.concat([randomBytes(5), packet, randomBytes(3)]);
    assert.equal(this.handshake.kindOf(bytes, 5, 5 + packet.length), packet[0]);
    const verdict = this.handshake.onPacket(bytes, 5, 5 + packet.length, address, port, this.nowMs);
    assert.ok((verdict.answer?.length ?? 0) <= packet.length, 'an answer is never longer than what it answers');
    return verdict;
  }

  /** Says hello; the nonce of the challenge. */
  hello(from: From): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const { answer, moved } = this.arrive(this.packet(RELAY_KIND.hello, nonce), from);
    assert.ok(answer !== undefined && moved === undefined);
    assert.equal(answer[0], RELAY_KIND.challenge);
    assert.ok(hasRelayMac(this.key, answer, answer.length - MAC_BYTES));
    assert.deepEqual(answer.subarray(RELAY_HEAD_BYTES, RELAY_HEAD_BYTES + NONCE_BYTES), nonce);
    return answer.subarray(RELAY_HEAD_BYTES + NONCE_BYTES, RELAY_HEAD_BYTES + 2 * NONCE_BYTES);
  }

  proof(nonce: Uint8Array, from: From): HandshakeVerdict {
    return this.arrive(this.packet(RELAY_KIND.proof, nonce), from);
  }

  ping(number: number, from: From): HandshakeVerdict {
    const body = Buffer.alloc(4);
    body.writeUInt32BE(number);
    return this.arrive(this.packet(RELAY_KIND.ping, body), from);
  }

  attach(from: From): void {
    const { answer, moved } = this.proof(this.hello(from), from);
    assert.equal(answer?.[0], RELAY_KIND.ready);
    assert.equal(moved, true);
  }

  isAt(from: From): boolean {
    return this.handshake.isAgent(from[0], from[1]);
  }
}

test('an agent that answers its challenge is in, at that address and port alone', () => {
  const world = new World();
  assert.equal(world.isAt(['', 0]), false);
  assert.equal(world.handshake.isOpen(world.nowMs), false);
  const nonce = world.hello(HOME);
  assert.equal(world.isAt(HOME), false);
  const { answer, moved } = world.proof(nonce, HOME);
  assert.equal(moved, true);
  assert.ok(answer !== undefined && hasRelayMac(world.key, answer, answer.length - MAC_BYTES));
  assert.deepEqual(answer.subarray(RELAY_HEAD_BYTES, RELAY_HEAD_BYTES + NONCE_BYTES), nonce);
  assert.deepEqual([world.isAt(HOME), world.isAt(ELSEWHERE), world.isAt(STRANGER)], [true, false, false]);
  assert.deepEqual([world.handshake.address, world.handshake.port], HOME);
});

test('a proof that comes twice, because `ready` was lost, is answered again and moves nothing', () => {
  const world = new World();
  const nonce = world.hello(HOME);
  world.proof(nonce, HOME);
  const again = world.proof(nonce, HOME);
  assert.equal(again.answer?.[0], RELAY_KIND.ready);
  assert.equal(again.moved, undefined);
});

test('handshake: a hello or proof repeated by another peer attaches no agent', () => {
  const world = new World();
  const hello = world.packet(RELAY_KIND.hello, randomBytes(NONCE_BYTES));
  const nonce = world.hello(HOME);
  const proof = world.packet(RELAY_KIND.proof, nonce);
  assert.deepEqual(world.arrive(proof, STRANGER), { drop: 'wrong_source' });
  // It was overheard: it is spent, also where it belongs.
  assert.deepEqual(world.arrive(proof, HOME), { drop: 'wrong_source' });
  world.attach(HOME);
  // To a repeated hello the challenge goes where it came from; a proof for another address is none.
  const { answer } = world.arrive(hello, STRANGER);
  assert.equal(answer?.[0], RELAY_KIND.challenge);
  assert.deepEqual(world.arrive(proof, STRANGER), { drop: 'wrong_source' });
  assert.deepEqual([world.isAt(HOME), world.isAt(STRANGER)], [true, false]);
});

test('an agent that moves takes its relay along, and its old proof does not bring it back', () => {
  const world = new World();
  const first = world.hello(HOME);
  world.proof(first, HOME);
  const late = world.hello(HOME);
  world.nowMs += 1_000;
  world.attach(ELSEWHERE);
  assert.deepEqual([world.isAt(HOME), world.isAt(ELSEWHERE)], [false, true]);
  assert.deepEqual(world.proof(first, HOME), { drop: 'wrong_source' });
  assert.deepEqual(world.proof(late, HOME), { drop: 'wrong_source' });
  assert.equal(world.isAt(ELSEWHERE), true);
});

test('of many hellos in the same millisecond each has a challenge of its own', () => {
  const world = new World();
  const nonces = Array.from({ length: 20 }, () => world.hello(HOME).toString('hex'));
  assert.equal(new Set(nonces).size, 20);
  assert.equal(world.proof(Buffer.from(nonces[19] as string, 'hex'), HOME).moved, true);
});

test('handshake: a challenge is good for ten seconds, and only at the attachment that made it', () => {
  const world = new World();
  const old = world.hello(HOME);
  world.nowMs += 10_002;
  assert.deepEqual(world.proof(old, HOME), { drop: 'wrong_source' });
  const { token, key, nowMs } = world;
  const other = new Handshake({ token, key, nowMs });
  const proof = world.packet(RELAY_KIND.proof, world.hello(HOME));
  assert.deepEqual(other.onPacket(proof, 0, proof.length, ...HOME, nowMs), { drop: 'wrong_source' });
  // The agent itself, which has the key, can't make a challenge for an address that it does not hear at.
  const forged = world.hello(HOME);
  forged.writeUInt8((forged[15] as number) ^ 1, 15);
  assert.deepEqual(world.proof(forged, HOME), { drop: 'wrong_source' });
  world.attach(HOME);
});

test('handshake: a packet with another token is not its own', () => {
  const world = new World();
  const hello = world.packet(RELAY_KIND.hello, randomBytes(NONCE_BYTES));
  for (let at = 1; at < RELAY_HEAD_BYTES; at++) {
    const other = Buffer.from(hello);
    other.writeUInt8((other[at] as number) ^ 0x40, at);
    assert.equal(world.handshake.kindOf(other, 0, other.length), 0);
  }
  for (const kind of [0, 4, 0xcf, 0xd8, 0xff]) {
    hello.writeUInt8(kind, 0);
    assert.equal(world.handshake.kindOf(hello, 0, hello.length), 0);
  }
  hello.writeUInt8(RELAY_KIND.data, 0);
  assert.equal(world.handshake.kindOf(hello, 0, hello.length), RELAY_KIND.data);
  assert.equal(world.handshake.kindOf(hello, 0, RELAY_HEAD_BYTES - 1), 0);
});

test('a packet that was changed anywhere, cut, or made with another key is dropped', () => {
  for (const kind of [RELAY_KIND.hello, RELAY_KIND.proof, RELAY_KIND.ping]) {
    const world = new World();
    world.attach(HOME);
    const body =
      kind === RELAY_KIND.ping
        ? Buffer.of(0, 0, 0, 1)
        : kind === RELAY_KIND.proof
          ? world.hello(HOME)
          : randomBytes(16);
    const packet = world.packet(kind, body);
    const macEnd = RELAY_HEAD_BYTES + body.length + MAC_BYTES;
    const wrong = [world.packet(kind, body, randomBytes(32))];
    for (let at = RELAY_HEAD_BYTES; at < macEnd; at++) {
      const changed = Buffer.from(packet);
      changed.writeUInt8((changed[at] as number) ^ 1, at);
      wrong.push(changed);
    }
    for (let end = RELAY_HEAD_BYTES; end < packet.length; end++) wrong.push(packet.subarray(0, end));
    wrong.push(Buffer.concat([packet, Buffer.of(0)]));
    for (const each of wrong) {
      world.nowMs += 50;
      assert.deepEqual(world.arrive(each, HOME), { drop: 'malformed' });
    }
  }
});

test('what only the server says is dropped', () => {
  const world = new World();
  world.attach(HOME);
  for (const [kind, bytes] of [
    [RELAY_KIND.challenge, 2 * NONCE_BYTES],
    [RELAY_KIND.ready, NONCE_BYTES],
    [RELAY_KIND.pong, 4],
  ] as const)
    assert.deepEqual(world.arrive(world.packet(kind, randomBytes(bytes)), HOME), { drop: 'malformed' });
});

test('pings keep the way open; silence, and the word that UDP was lost, close it', () => {
  const world = new World();
  const isOpen = (): boolean => world.handshake.isOpen(world.nowMs);
  world.attach(HOME);
  world.nowMs += RELAY_SILENT_MS - 1;
  assert.equal(isOpen(), true);
  assert.equal(world.ping(1, HOME).answer?.[0], RELAY_KIND.pong);
  world.nowMs += RELAY_SILENT_MS - 1;
  assert.equal(isOpen(), true);
  world.nowMs += 1;
  assert.equal(isOpen(), false);
  // The agent is still heard, and hears the pong: both directions are well.
  assert.equal(world.ping(2, HOME).answer?.[0], RELAY_KIND.pong);
  assert.equal(isOpen(), true);
  world.handshake.agentLost(world.nowMs);
  assert.equal(isOpen(), false);
  world.ping(3, HOME);
  assert.equal(isOpen(), false, 'a ping that was under way says nothing of the other direction');
  assert.equal(world.isAt(HOME), true, 'what comes from there is still taken');
  world.proof(world.hello(HOME), HOME);
  assert.equal(isOpen(), true);
});

test('the word that UDP was lost, when it comes behind the proof that made it obsolete, holds for one ping', () => {
  const world = new World();
  world.attach(HOME);
  world.handshake.agentLost(world.nowMs);
  world.nowMs += RELAY_PING_MS;
  world.ping(1, HOME);
  assert.equal(world.handshake.isOpen(world.nowMs), true);
});

test('handshake: a ping from elsewhere, or a repeated one, keeps no agent alive', () => {
  const world = new World();
  world.attach(HOME);
  world.ping(7, HOME);
  world.nowMs += RELAY_SILENT_MS;
  assert.deepEqual(world.ping(8, ELSEWHERE), { drop: 'wrong_source' });
  assert.deepEqual(world.ping(7, HOME), { drop: 'malformed' });
  assert.deepEqual(world.ping(6, HOME), { drop: 'malformed' });
  assert.equal(world.handshake.isOpen(world.nowMs), false);
});

test('handshake: an overheard token causes a bounded number of MACs, and blocks no attached agent', () => {
  const world = new World();
  world.attach(HOME);
  // A hello is answered: so its MAC was looked at.
  const hello = world.packet(RELAY_KIND.hello, randomBytes(NONCE_BYTES));
  let answered = 0;
  for (let i = 0; i < 10_000; i++) if (world.arrive(hello, ['198.51.100.1', i]).answer !== undefined) answered++;
  assert.ok(answered > 0 && answered <= 40, `${answered} in one moment`);
  world.nowMs += 1_000;
  for (let i = 0; i < 10_000; i++) if (world.arrive(hello, ['198.51.100.1', i]).answer !== undefined) answered++;
  assert.ok(answered <= 61, `${answered} within a second`);
  assert.equal(world.ping(1, HOME).answer?.[0], RELAY_KIND.pong);
});

test('handshake: an agent that moves attaches during a flood of repeated packets', () => {
  let out = 0;
  for (let i = 0; i < 50; i++) {
    const world = new World();
    world.attach(HOME);
    const hello = world.packet(RELAY_KIND.hello, randomBytes(NONCE_BYTES));
    for (let j = 0; j < 200; j++) world.arrive(hello, STRANGER);
    const { answer } = world.arrive(world.packet(RELAY_KIND.hello, randomBytes(NONCE_BYTES)), ELSEWHERE);
    if (answer === undefined) out++;
  }
  // Both places of an address are the flooder's once in a thousand times.
  assert.ok(out <= 2, `${out} of 50`);
});

test('many addresses make no more than a bounded number of MACs, and those of one IPv6 network count as one', () => {
  const world = new World();
  const hello = world.packet(RELAY_KIND.hello, randomBytes(NONCE_BYTES));
  const answeredFrom = (addressOf: (i: number) => string): number => {
    let answered = 0;
    for (let i = 0; i < 10_000; i++) if (world.arrive(hello, [addressOf(i), 7]).answer !== undefined) answered++;
    return answered;
  };
  assert.ok(answeredFrom((i) => `2001:db8:0:1::${i.toString(16)}`) <= 40);
  const all = answeredFrom((i) => `198.51.${i >> 8}.${i & 255}`);
  assert.ok(all > 600 && all <= 1_280, `${all}`);
});
