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
class Fixture {
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
  const fixture = new Fixture();
  assert.equal(fixture.isAt(['', 0]), false);
  assert.equal(fixture.handshake.isOpen(fixture.nowMs), false);
  const nonce = fixture.hello(HOME);
  assert.equal(fixture.isAt(HOME), false);
  const { answer, moved } = fixture.proof(nonce, HOME);
  assert.equal(moved, true);
  assert.ok(answer !== undefined && hasRelayMac(fixture.key, answer, answer.length - MAC_BYTES));
  assert.deepEqual(answer.subarray(RELAY_HEAD_BYTES, RELAY_HEAD_BYTES + NONCE_BYTES), nonce);
  assert.deepEqual([fixture.isAt(HOME), fixture.isAt(ELSEWHERE), fixture.isAt(STRANGER)], [true, false, false]);
  assert.deepEqual([fixture.handshake.address, fixture.handshake.port], HOME);
});

test('a proof that comes twice, because `ready` was lost, is answered again and moves nothing', () => {
  const fixture = new Fixture();
  const nonce = fixture.hello(HOME);
  fixture.proof(nonce, HOME);
  const again = fixture.proof(nonce, HOME);
  assert.equal(again.answer?.[0], RELAY_KIND.ready);
  assert.equal(again.moved, undefined);
});

test('handshake: a hello or proof repeated by another peer attaches no agent', () => {
  const fixture = new Fixture();
  const hello = fixture.packet(RELAY_KIND.hello, randomBytes(NONCE_BYTES));
  const nonce = fixture.hello(HOME);
  const proof = fixture.packet(RELAY_KIND.proof, nonce);
  assert.deepEqual(fixture.arrive(proof, STRANGER), { drop: 'wrong_source' });
  // It was overheard: it is spent, also where it belongs.
  assert.deepEqual(fixture.arrive(proof, HOME), { drop: 'wrong_source' });
  fixture.attach(HOME);
  // To a repeated hello the challenge goes where it came from; a proof for another address is none.
  const { answer } = fixture.arrive(hello, STRANGER);
  assert.equal(answer?.[0], RELAY_KIND.challenge);
  assert.deepEqual(fixture.arrive(proof, STRANGER), { drop: 'wrong_source' });
  assert.deepEqual([fixture.isAt(HOME), fixture.isAt(STRANGER)], [true, false]);
});

test('an agent that moves takes its relay along, and its old proof does not bring it back', () => {
  const fixture = new Fixture();
  const first = fixture.hello(HOME);
  fixture.proof(first, HOME);
  const late = fixture.hello(HOME);
  fixture.nowMs += 1_000;
  fixture.attach(ELSEWHERE);
  assert.deepEqual([fixture.isAt(HOME), fixture.isAt(ELSEWHERE)], [false, true]);
  assert.deepEqual(fixture.proof(first, HOME), { drop: 'wrong_source' });
  assert.deepEqual(fixture.proof(late, HOME), { drop: 'wrong_source' });
  assert.equal(fixture.isAt(ELSEWHERE), true);
});

test('of many hellos in the same millisecond each has a challenge of its own', () => {
  const fixture = new Fixture();
  const nonces = Array.from({ length: 20 }, () => fixture.hello(HOME).toString('hex'));
  assert.equal(new Set(nonces).size, 20);
  assert.equal(fixture.proof(Buffer.from(nonces[19] as string, 'hex'), HOME).moved, true);
});

test('handshake: a challenge is good for ten seconds, and only at the attachment that made it', () => {
  const fixture = new Fixture();
  const old = fixture.hello(HOME);
  fixture.nowMs += 10_002;
  assert.deepEqual(fixture.proof(old, HOME), { drop: 'wrong_source' });
  const { token, key, nowMs } = fixture;
  const other = new Handshake({ token, key, nowMs });
  const proof = fixture.packet(RELAY_KIND.proof, fixture.hello(HOME));
  assert.deepEqual(other.onPacket(proof, 0, proof.length, ...HOME, nowMs), { drop: 'wrong_source' });
  // The agent itself, which has the key, can't make a challenge for an address that it does not hear at.
  const forged = fixture.hello(HOME);
  forged.writeUInt8((forged[15] as number) ^ 1, 15);
  assert.deepEqual(fixture.proof(forged, HOME), { drop: 'wrong_source' });
  fixture.attach(HOME);
});

test('handshake: a packet with another token is not its own', () => {
  const fixture = new Fixture();
  const hello = fixture.packet(RELAY_KIND.hello, randomBytes(NONCE_BYTES));
  for (let at = 1; at < RELAY_HEAD_BYTES; at++) {
    const other = Buffer.from(hello);
    other.writeUInt8((other[at] as number) ^ 0x40, at);
    assert.equal(fixture.handshake.kindOf(other, 0, other.length), 0);
  }
  for (const kind of [0, 4, 0xcf, 0xd8, 0xff]) {
    hello.writeUInt8(kind, 0);
    assert.equal(fixture.handshake.kindOf(hello, 0, hello.length), 0);
  }
  hello.writeUInt8(RELAY_KIND.data, 0);
  assert.equal(fixture.handshake.kindOf(hello, 0, hello.length), RELAY_KIND.data);
  assert.equal(fixture.handshake.kindOf(hello, 0, RELAY_HEAD_BYTES - 1), 0);
});

test('a packet that was changed anywhere, cut, or made with another key is dropped', () => {
  for (const kind of [RELAY_KIND.hello, RELAY_KIND.proof, RELAY_KIND.ping]) {
    const fixture = new Fixture();
    fixture.attach(HOME);
    const body =
      kind === RELAY_KIND.ping
        ? Buffer.of(0, 0, 0, 1)
        : kind === RELAY_KIND.proof
          ? fixture.hello(HOME)
          : randomBytes(16);
    const packet = fixture.packet(kind, body);
    const macEnd = RELAY_HEAD_BYTES + body.length + MAC_BYTES;
    const wrong = [fixture.packet(kind, body, randomBytes(32))];
    for (let at = RELAY_HEAD_BYTES; at < macEnd; at++) {
      const changed = Buffer.from(packet);
      changed.writeUInt8((changed[at] as number) ^ 1, at);
      wrong.push(changed);
    }
    for (let end = RELAY_HEAD_BYTES; end < packet.length; end++) wrong.push(packet.subarray(0, end));
    wrong.push(Buffer.concat([packet, Buffer.of(0)]));
    for (const each of wrong) {
      fixture.nowMs += 50;
      assert.deepEqual(fixture.arrive(each, HOME), { drop: 'malformed' });
    }
  }
});

test('what only the server says is dropped', () => {
  const fixture = new Fixture();
  fixture.attach(HOME);
  for (const [kind, bytes] of [
    [RELAY_KIND.challenge, 2 * NONCE_BYTES],
    [RELAY_KIND.ready, NONCE_BYTES],
    [RELAY_KIND.pong, 4],
  ] as const)
    assert.deepEqual(fixture.arrive(fixture.packet(kind, randomBytes(bytes)), HOME), { drop: 'malformed' });
});

test('pings keep the way open; silence, and the word that UDP was lost, close it', () => {
  const fixture = new Fixture();
  const isOpen = (): boolean => fixture.handshake.isOpen(fixture.nowMs);
  fixture.attach(HOME);
  fixture.nowMs += RELAY_SILENT_MS - 1;
  assert.equal(isOpen(), true);
  assert.equal(fixture.ping(1, HOME).answer?.[0], RELAY_KIND.pong);
  fixture.nowMs += RELAY_SILENT_MS - 1;
  assert.equal(isOpen(), true);
  fixture.nowMs += 1;
  assert.equal(isOpen(), false);
  // The agent is still heard, and hears the pong: both directions are well.
  assert.equal(fixture.ping(2, HOME).answer?.[0], RELAY_KIND.pong);
  assert.equal(isOpen(), true);
  fixture.handshake.agentLost(fixture.nowMs);
  assert.equal(isOpen(), false);
  fixture.ping(3, HOME);
  assert.equal(isOpen(), false, 'a ping that was under way says nothing of the other direction');
  assert.equal(fixture.isAt(HOME), true, 'what comes from there is still taken');
  fixture.proof(fixture.hello(HOME), HOME);
  assert.equal(isOpen(), true);
});

test('the word that UDP was lost, when it comes behind the proof that made it obsolete, holds for one ping', () => {
  const fixture = new Fixture();
  fixture.attach(HOME);
  fixture.handshake.agentLost(fixture.nowMs);
  fixture.nowMs += RELAY_PING_MS;
  fixture.ping(1, HOME);
  assert.equal(fixture.handshake.isOpen(fixture.nowMs), true);
});

test('handshake: a ping from elsewhere, or a repeated one, keeps no agent alive', () => {
  const fixture = new Fixture();
  fixture.attach(HOME);
  fixture.ping(7, HOME);
  fixture.nowMs += RELAY_SILENT_MS;
  assert.deepEqual(fixture.ping(8, ELSEWHERE), { drop: 'wrong_source' });
  assert.deepEqual(fixture.ping(7, HOME), { drop: 'malformed' });
  assert.deepEqual(fixture.ping(6, HOME), { drop: 'malformed' });
  assert.equal(fixture.handshake.isOpen(fixture.nowMs), false);
});

test('handshake: an overheard token causes a bounded number of MACs, and blocks no attached agent', () => {
  const fixture = new Fixture();
  fixture.attach(HOME);
  // A hello is answered: so its MAC was looked at.
  const hello = fixture.packet(RELAY_KIND.hello, randomBytes(NONCE_BYTES));
  let answered = 0;
  for (let i = 0; i < 10_000; i++) if (fixture.arrive(hello, ['198.51.100.1', i]).answer !== undefined) answered++;
  assert.ok(answered > 0 && answered <= 40, `${answered} in one moment`);
  fixture.nowMs += 1_000;
  for (let i = 0; i < 10_000; i++) if (fixture.arrive(hello, ['198.51.100.1', i]).answer !== undefined) answered++;
  assert.ok(answered <= 61, `${answered} within a second`);
  assert.equal(fixture.ping(1, HOME).answer?.[0], RELAY_KIND.pong);
});

test('handshake: an agent that moves attaches during a flood of repeated packets', () => {
  let out = 0;
  for (let i = 0; i < 50; i++) {
    const fixture = new Fixture();
    fixture.attach(HOME);
    const hello = fixture.packet(RELAY_KIND.hello, randomBytes(NONCE_BYTES));
    for (let j = 0; j < 200; j++) fixture.arrive(hello, STRANGER);
    const { answer } = fixture.arrive(fixture.packet(RELAY_KIND.hello, randomBytes(NONCE_BYTES)), ELSEWHERE);
    if (answer === undefined) out++;
  }
  // Both places of an address are the flooder's once in a thousand times.
  assert.ok(out <= 2, `${out} of 50`);
});

test('many addresses make no more than a bounded number of MACs, and those of one IPv6 network count as one', () => {
  const fixture = new Fixture();
  const hello = fixture.packet(RELAY_KIND.hello, randomBytes(NONCE_BYTES));
  const answeredFrom = (addressOf: (i: number) => string): number => {
    let answered = 0;
    for (let i = 0; i < 10_000; i++) if (fixture.arrive(hello, [addressOf(i), 7]).answer !== undefined) answered++;
    return answered;
  };
  assert.ok(answeredFrom((i) => `2001:db8:0:1::${i.toString(16)}`) <= 40);
  const all = answeredFrom((i) => `198.51.${i >> 8}.${i & 255}`);
  assert.ok(all > 600 && all <= 1_280, `${all}`);
});
