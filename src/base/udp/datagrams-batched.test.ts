/** Batches of datagrams where this machine has them: order, bounds per turn, what is lost, and that addresses read as Node writes them. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { Addresses } from './addresses.ts';
import { type DatagramCalls, findCalls, handleOf, type UdpHandle } from './calls.ts';
import { NAME_WORDS } from './envelopes.ts';
import { DatagramLine, Outlet } from './out.ts';
import { codeOf } from '../errors.ts';
import { bindDatagrams, connectDatagrams, type DatagramSocket, type OnDatagram } from './datagrams.ts';

const found = findCalls();
const host = '127.0.0.1';
const ignore = (): void => undefined;

/** A socket, what it heard as numbers, and a way to wait for so many. */
async function listen(onError: (error: Error) => void = assert.ifError) {
  const heard: number[] = [];
  let wanted = Number.POSITIVE_INFINITY;
  let come = ignore;
  const onDatagram: OnDatagram = (bytes, start) => {
    heard.push(bytes.readUInt32BE(start));
    if (heard.length >= wanted) come();
  };
  const socket = await bindDatagrams({ host, port: 0, onDatagram, onError });
  const until = (count: number): Promise<void> =>
    new Promise((resolve) => {
      wanted = count;
      come = resolve;
      if (heard.length >= count) resolve();
    });
  return { socket, heard, until };
}

function say(socket: DatagramSocket, number: number, port?: number): void {
  const bytes = Buffer.alloc(100);
  bytes.writeUInt32BE(number);
  assert.equal(socket.send(bytes, 0, bytes.length, port, port === undefined ? undefined : host), true);
}

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe('batches', { timeout: 120_000, skip: found === undefined && 'this machine has no recvmmsg' }, () => {
  const calls = found as DatagramCalls;

  test('keep the order of a turn, however many there are and whatever lies between', async () => {
    const [a, b, c] = [await listen(), await listen(), await listen()];
    const one = await connectDatagrams({ host, port: a.socket.port, onDatagram: ignore, onError: assert.ifError });
    const any = await bindDatagrams({ host, port: 0, onDatagram: ignore, onError: assert.ifError });
    // What the least room that a system gives, 208 KB, holds of them.
    for (let i = 0; i < 300; i++) {
      say(one, i);
      if (i % 3 === 0) say(any, i, b.socket.port);
      if (i % 3 === 1) say(any, i, c.socket.port);
    }
    for (let i = 0; i < 100; i++) {
      say(any, i, b.socket.port);
      say(any, i, c.socket.port);
    }
    await Promise.all([a.until(300), b.until(200), c.until(200)]);
    assert.deepEqual(a.heard, range(300));
    for (const [one, count, first] of [
      [b, 100, 0],
      [c, 100, 1],
    ] as const) {
      assert.deepEqual(one.heard, [...range(count).map((i) => 3 * i + first), ...range(100)]);
    }
    for (const socket of [a.socket, b.socket, c.socket, one, any]) socket.close();
  });

  test('what was taken before a close still leaves, and nothing goes to a later socket of the same number', async () => {
    const a = await listen();
    for (let i = 0; i < 5; i++) {
      const one = await connectDatagrams({ host, port: a.socket.port, onDatagram: ignore, onError: assert.ifError });
      say(one, i);
      one.close();
    }
    await a.until(5);
    assert.deepEqual(a.heard, range(5));
    a.socket.close();
  });

  test('a flood takes a bounded number per turn of the loop, and all of it is heard', async () => {
    const a = await listen();
    const turns: number[] = [];
    let spins = true;
    let before = 0;
    const spin = (): void => {
      turns.push(a.heard.length - before);
      before = a.heard.length;
      if (spins) setImmediate(spin);
    };
    setImmediate(spin);
    const one = await connectDatagrams({ host, port: a.socket.port, onDatagram: ignore, onError: assert.ifError });
    // As many as the least room that a system gives, 208 KB, holds: nothing is read in between.
    for (let i = 0; i < 130; i++) say(one, i);
    const two = await connectDatagrams({ host, port: a.socket.port, onDatagram: ignore, onError: assert.ifError });
    for (let i = 130; i < 300; i++) say(two, i);
    await a.until(300);
    // The turn that heard the last of them is counted at its end.
    for (let i = 0; i < 2; i++) await new Promise(setImmediate);
    spins = false;
    assert.ok(Math.max(...turns) <= 129, `${Math.max(...turns)} in one turn`);
    // It goes on by itself, and after it as before.
    await new Promise(setImmediate);
    const known = a.heard.length;
    say(one, 7_777);
    await a.until(known + 1);
    assert.equal(a.heard.at(-1), 7_777);
    for (const socket of [a.socket, one, two]) socket.close();
  });

  test('floods of many sockets share what there is of a turn, and none waits for another to end', async () => {
    const ends = await Promise.all(range(12).map(() => listen()));
    const any = await bindDatagrams({ host, port: 0, onDatagram: ignore, onError: assert.ifError });
    const count = (): number => ends.reduce((sum, { heard }) => sum + heard.length, 0);
    const turns: number[] = [];
    let least = 0;
    let before = 0;
    const spin = (): void => {
      turns.push(count() - before);
      before = count();
      // When the first has all, what has the last?
      if (least === 0 && ends.some(({ heard }) => heard.length === 260)) {
        least = Math.min(...ends.map(({ heard }) => heard.length));
      }
      if (before < 12 * 260) setImmediate(spin);
    };
    for (const { socket } of ends) for (let i = 0; i < 260; i++) say(any, i, socket.port);
    spin();
    await Promise.all(ends.map(({ until }) => until(260)));
    for (let i = 0; i < 2; i++) await new Promise(setImmediate);
    for (const { heard } of ends) assert.deepEqual(heard, range(260));
    assert.ok(Math.max(...turns) <= 512 + 128 + 12, `${Math.max(...turns)} in one turn`);
    assert.ok(least > 0, 'one was not heard until another had all');
    for (const { socket } of [...ends, { socket: any }]) socket.close();
  });

  test('datagrams: those without room in the system are reported as lost, once per turn, and the rest goes', async () => {
    const sent: Array<[number, number, number]> = [];
    const answers = [3, 0, 2, -111, 61];
    const some = stub(calls, (fd, from, to) => {
      sent.push([fd, from, to]);
      return answers[sent.length - 1] as number;
    });
    const { outlet, told, port } = await outletOf(some);
    const bytes = Buffer.alloc(10);
    for (let i = 0; i < 10; i++) assert.equal(outlet.send(bytes, 0, 10, 0, undefined), true);
    await new Promise(setImmediate);
    assert.deepEqual(
      sent.map(([, from, to]) => [from, to]),
      [
        [0, 10],
        [3, 10],
      ],
    );
    assert.deepEqual(told, [[7, null]]);
    // The third call sends two, the fourth gets an error, the fifth sends the rest.
    for (let i = 0; i < 64; i++) outlet.send(bytes, 0, 10, 0, undefined);
    assert.deepEqual(
      sent.slice(2).map(([, from, to]) => [from, to]),
      [
        [0, 64],
        [2, 64],
        [3, 64],
      ],
    );
    assert.deepEqual(told.slice(1), [[1, 'ECONNREFUSED']]);
    port.close();
  });

  test('datagrams: a sender that sends inside onLost disturbs nothing on its way', async () => {
    const lengths: number[] = [];
    const some = stub(calls, (_fd, from, to, length) => {
      for (let i = from; i < to; i++) lengths.push(length(i));
      return lengths.length === 2 ? 0 : to - from;
    });
    const first = await outletOf(some, (outlet) => outlet.send(Buffer.alloc(9), 0, 9, 0, undefined));
    const second = await outletOf(some, ignore, first.line);
    for (const length of [1, 2]) first.outlet.send(Buffer.alloc(length), 0, length, 0, undefined);
    for (const length of [3, 4]) second.outlet.send(Buffer.alloc(length), 0, length, 0, undefined);
    await new Promise(setImmediate);
    assert.deepEqual(lengths, [1, 2, 3, 4, 9]);
    first.port.close();
    second.port.close();
  });

  test('any lengths one after the other arrive as they were sent, joined or not', async () => {
    const got: string[] = [];
    const errors: Error[] = [];
    let come = ignore;
    const a = await bindDatagrams({
      host,
      port: 0,
      onError: (error) => errors.push(error),
      onDatagram: (bytes, start, end) => {
        got.push(bytes.toString('latin1', start, end));
        come();
      },
    });
    const any = await bindDatagrams({ host, port: 0, onDatagram: ignore, onError: (error) => errors.push(error) });
    const lengths = [
      [7, 7, 7, 7],
      [7, 7, 3, 3, 3, 9, 9, 1, 0, 0, 4],
      new Array<number>(70).fill(1_452),
      [...new Array<number>(45).fill(2_048), 5, 2_049, 2_049, 1_000, 1_000],
      [0, 0, 1, 0, 1, 1, 2, 2],
      Array.from({ length: 130 }, (_, i) => 100 + ((i * 7_919) % 5)),
    ];
    const said: string[] = [];
    for (const turn of lengths) {
      for (const length of turn) {
        const text = String.fromCharCode(65 + (said.length % 50)).repeat(length);
        said.push(text);
        assert.equal(any.send(Buffer.from(text, 'latin1'), 0, length, a.port, host), true);
      }
      while (got.length < said.length) await new Promise<void>((resolve) => (come = resolve));
    }
    assert.deepEqual(got, said);
    assert.deepEqual(errors, []);
    a.close();
    any.close();
  });

  test('go one by one where the network below refuses joined ones, and none is lost for it', async () => {
    const sent: string[] = [];
    const answers = new Map([
      ['joined 0-4 of 1400', -90],
      ['joined 0-4 of 900', -5],
    ]);
    const some: DatagramCalls = {
      ...calls,
      joins: true,
      send: (_fd, envelopes, from, to) => {
        sent.push(`${from}-${to} of ${envelopes.lengthOf(from)}`);
        return to - from;
      },
      sendJoined: (_fd, _envelopes, from, to, bytes) => {
        sent.push(`joined ${from}-${to} of ${bytes}`);
        return answers.get(sent.at(-1) as string) ?? 1;
      },
    };
    const { outlet, told, port } = await outletOf(some);
    for (const length of [1_400, 1_400, 1_399, 900, 900, 900]) {
      for (let i = 0; i < 4; i++) outlet.send(Buffer.alloc(length), 0, length, 0, undefined);
      await new Promise(setImmediate);
    }
    assert.deepEqual(sent, [
      'joined 0-4 of 1400',
      '0-4 of 1400',
      '0-4 of 1400',
      'joined 0-4 of 1399',
      'joined 0-4 of 900',
      '0-4 of 900',
      '0-4 of 900',
      '0-4 of 900',
    ]);
    assert.deepEqual(told, []);
    port.close();
  });

  test('addresses are written as node:dgram writes them, and read back to the same bytes', () => {
    const addresses = new Addresses(calls);
    const names = new Int32Array(2 * NAME_WORDS);
    const texts = [
      '127.0.0.1',
      '255.255.255.255',
      '0.0.0.0',
      '::',
      '::1',
      '::ffff:10.1.2.3',
      '2001:db8::ff:0:1',
      'fe80::1',
    ];
    // More than there are places for, so that some take those of others.
    for (let i = 0; i < 5_000; i++) texts.push(`10.7.${i >> 8}.${i & 255}`, `2001:db8:0:1::${(i + 1).toString(16)}`);
    for (const text of [...texts, ...texts]) {
      const port = (text.length * 4_099) & 0xffff;
      const size = addresses.write(names, NAME_WORDS, text, port);
      assert.equal(size, text.includes(':') ? 28 : 16);
      assert.equal(addresses.textAt(names, NAME_WORDS), text);
      const bytes = Buffer.from(names.buffer, NAME_WORDS * 4);
      assert.equal(bytes.readUInt16BE(2), port);
    }
    for (const text of ['', 'localhost', '1.2.3', '1.2.3.4.5', ':::', '2001:db8::g']) {
      assert.equal(addresses.write(names, 0, text, 1), 0);
    }
  });

  test('a datagram that is longer than any is refused', async () => {
    const any = await bindDatagrams({ host, port: 0, onDatagram: ignore, onError: ignore });
    assert.equal(any.send(Buffer.alloc(65_508), 0, 65_508, any.port, host), false);
    assert.equal(any.send(Buffer.alloc(70_000), 0, 70_000, any.port, host), false);
    assert.equal(any.send(Buffer.alloc(7), 0, 7, any.port, 'localhost'), false);
    any.close();
  });
});

type Send = (fd: number, from: number, to: number, length: (i: number) => number) => number;

/** The calls of this machine, except for what becomes of what is sent. */
function stub(calls: DatagramCalls, send: Send): DatagramCalls {
  const lengths = new Map<number, number>();
  return {
    ...calls,
    joins: false,
    envelopes: (count, slotBytes) => {
      const made = calls.envelopes(count, slotBytes);
      const { address } = made;
      made.address = (i, length, nameBytes) => {
        lengths.set(i, length);
        address.call(made, i, length, nameBytes);
      };
      return made;
    },
    send: (fd, _envelopes, from, to) => send(fd, from, to, (i) => lengths.get(i) as number),
  };
}

async function outletOf(
  calls: DatagramCalls,
  onLost: (outlet: Outlet) => void = ignore,
  line = new DatagramLine(calls),
) {
  const port = createSocket('udp4').bind(0, host);
  await once(port, 'listening');
  const told: Array<[number, string | null]> = [];
  const outlet: Outlet = new Outlet(line, (handleOf(port) as UdpHandle).fd, {
    isOpen: true,
    take: ignore,
    lost: (count, error) => {
      told.push([count, codeOf(error) ?? null]);
      onLost(outlet);
    },
  });
  return { outlet, told, port, line };
}
