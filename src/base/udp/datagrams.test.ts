/** Both kinds of socket, over IPv4 and IPv6: what arrives, its sender, what is refused, and that errors end nothing. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { bindDatagrams, connectDatagrams, type DatagramSocket, type OnDatagram } from './datagrams.ts';

interface Heard {
  readonly text: string;
  readonly length: number;
  readonly address: string;
  readonly port: number;
}

/** Hears datagrams, and lets a test wait for them. */
function newEar() {
  const heard: Heard[] = [];
  const errors: Error[] = [];
  let changed = (): void => undefined;
  const onDatagram: OnDatagram = (bytes, start, end, address, port) => {
    heard.push({ text: bytes.toString('latin1', start, end), length: end - start, address, port });
    changed();
  };
  const onError = (error: Error): void => {
    errors.push(error);
    changed();
  };
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise<void>((resolve) => (changed = resolve));
  };
  return { heard, errors, onDatagram, onError, until };
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');

function say(socket: DatagramSocket, text: string, port?: number, address?: string): boolean {
  const bytes = bytesOf(`<${text}>`);
  return socket.send(bytes, 1, bytes.length - 1, port, address);
}

const CASES = [
  { host: '127.0.0.1', batched: true },
  { host: '::1', batched: true },
  { host: '127.0.0.1', batched: false },
  { host: '::1', batched: false },
];

for (const { host, batched } of CASES) {
  describe(`over ${host}, ${batched ? 'many at a time' : 'one at a time'}`, { timeout: 120_000 }, () => {
    test('goes the way that it should on this machine', async () => {
      const canBatch = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);
      const bound = await bindDatagrams({ host, batched, port: 0, ...newEar() });
      const peer = await connectDatagrams({ host, batched, port: bound.port, ...newEar() });
      assert.deepEqual([bound.isBatched, peer.isBatched], [batched && canBatch, batched && canBatch]);
      bound.close();
      peer.close();
    });

    test('a bound socket receives from any peer and answers to its address', async () => {
      const server = newEar();
      const bound = await bindDatagrams({ host, batched, port: 0, ...server });
      const ears = [newEar(), newEar()];
      const peers = await Promise.all(ears.map((ear) => connectDatagrams({ host, batched, port: bound.port, ...ear })));
      peers.forEach((peer, i) => assert.equal(say(peer, `from ${i}`), true));
      await server.until(() => server.heard.length === 2);
      for (const [i, peer] of peers.entries()) {
        const one = server.heard.find((h) => h.port === peer.port);
        assert.deepEqual(one, { text: `from ${i}`, length: 6, address: host, port: peer.port });
        assert.equal(say(bound, `to ${i}`, one.port, one.address), true);
      }
      for (const [i, ear] of ears.entries()) {
        await ear.until(() => ear.heard.length === 1);
        assert.deepEqual(ear.heard, [{ text: `to ${i}`, length: 4, address: host, port: bound.port }]);
      }
      for (const socket of [bound, ...peers]) socket.close();
    });

    test('boundaries are kept from nothing to the longest', async () => {
      const server = newEar();
      const bound = await bindDatagrams({ host, batched, port: 0, ...server });
      const peer = await connectDatagrams({ host, batched, port: bound.port, ...newEar() });
      const lengths = [0, 1, 2, 1_199, 1_452, 2_047, 2_048, 2_049, 9_000, 60_000, 65_507];
      for (const length of lengths) {
        const bytes = Buffer.alloc(length + 2, length % 251);
        assert.equal(peer.send(bytes, 1, length + 1), true);
        await server.until(() => server.heard.length > lengths.indexOf(length));
        const last = server.heard.at(-1);
        assert.equal(last?.length, length);
        assert.equal(last.text, bytes.toString('latin1', 1, length + 1));
      }
      bound.close();
      peer.close();
    });

    test('the bytes may be reused as soon as they were sent', async () => {
      const server = newEar();
      const bound = await bindDatagrams({ host, batched, port: 0, ...server });
      const peer = await connectDatagrams({ host, batched, port: bound.port, ...newEar() });
      const bytes = Buffer.alloc(100);
      for (let i = 0; i < 200; i++) {
        bytes.fill(i);
        assert.equal(peer.send(bytes, 0, 100), true);
      }
      await server.until(() => server.heard.length === 200);
      server.heard.forEach((one, i) => assert.equal(one.text, Buffer.alloc(100, i).toString('latin1')));
      bound.close();
      peer.close();
    });

    test('to port 0 nothing can be sent, and that is said as of anything else', async () => {
      const ear = newEar();
      const bound = await bindDatagrams({ host, batched, port: 0, ...ear });
      assert.equal(say(bound, 'to nowhere', 0, host), false);
      assert.equal(say(bound, 'to nowhere', undefined, host), false);
      assert.equal(say(bound, 'to itself', bound.port, host), true);
      await ear.until(() => ear.heard.length === 1);
      assert.deepEqual(ear.errors, []);
      bound.close();
    });

    test('a connected socket hears its peer alone', async () => {
      const server = newEar();
      const bound = await bindDatagrams({ host, batched, port: 0, ...server });
      const stranger = await bindDatagrams({ host, batched, port: 0, ...newEar() });
      const ear = newEar();
      const peer = await connectDatagrams({ host, batched, port: bound.port, ...ear });
      assert.equal(say(stranger, 'let me in', peer.port, host), true);
      assert.equal(say(bound, 'it is me', peer.port, host), true);
      await ear.until(() => ear.heard.length === 1);
      assert.equal(ear.heard[0]?.text, 'it is me');
      for (const socket of [bound, stranger, peer]) socket.close();
    });

    test('a peer that refuses is reported, and received from once it is there', async () => {
      const gone = createSocket(host === '::1' ? 'udp6' : 'udp4').bind(0, host);
      await once(gone, 'listening');
      const { port } = gone.address();
      await new Promise<void>((resolve) => gone.close(resolve));
      const ear = newEar();
      const peer = await connectDatagrams({ host, batched, port, ...ear });
      say(peer, 'are you there?');
      await ear.until(() => ear.errors.length > 0);
      assert.equal((ear.errors[0] as NodeJS.ErrnoException).code, 'ECONNREFUSED');
      const server = newEar();
      const bound = await bindDatagrams({ host, batched, port, ...server });
      while (!say(peer, 'now?')) await new Promise(setImmediate);
      await server.until(() => server.heard.length > 0);
      say(bound, 'yes', peer.port, host);
      await ear.until(() => ear.heard.length === 1);
      bound.close();
      peer.close();
    });

    test('a port in use is refused with its code', async () => {
      const bound = await bindDatagrams({ host, batched, port: 0, ...newEar() });
      await assert.rejects(bindDatagrams({ host, batched, port: bound.port, ...newEar() }), { code: 'EADDRINUSE' });
      bound.close();
      const again = await bindDatagrams({ host, batched, port: bound.port, ...newEar() });
      assert.equal(again.port, bound.port);
      again.close();
    });

    test('closed, it sends nothing, hears nothing, and may be closed again, also while it hears', async () => {
      const heard: string[] = [];
      const errors: Error[] = [];
      const done = Promise.withResolvers<void>();
      const bound: DatagramSocket = await bindDatagrams({
        host,
        batched,
        port: 0,
        onDatagram: (bytes, start, end) => {
          heard.push(bytes.toString('latin1', start, end));
          bound.close();
          bound.close();
          done.resolve();
        },
        onError: (error) => errors.push(error),
      });
      const peer = await connectDatagrams({ host, batched, port: bound.port, ...newEar() });
      for (let i = 0; i < 5; i++) say(peer, `${i}`);
      await done.promise;
      assert.equal(say(bound, 'too late', peer.port, host), false);
      for (let i = 0; i < 5; i++) await new Promise(setImmediate);
      assert.deepEqual(heard, ['0']);
      assert.deepEqual(errors, []);
      peer.close();
      assert.equal(say(peer, 'too late'), false);
    });

    test('an exception of the receiver is reported, and the next datagram arrives', async () => {
      const server = newEar();
      let first = true;
      const bound = await bindDatagrams({
        host,
        batched,
        port: 0,
        onError: server.onError,
        onDatagram: (...datagram) => {
          if (first) {
            first = false;
            throw new Error('not this one');
          }
          server.onDatagram(...datagram);
        },
      });
      const peer = await connectDatagrams({ host, batched, port: bound.port, ...newEar() });
      say(peer, 'one');
      say(peer, 'two');
      await server.until(() => server.heard.length === 1);
      assert.equal(server.heard[0]?.text, 'two');
      assert.deepEqual(
        server.errors.map((e) => e.message),
        ['not this one'],
      );
      bound.close();
      peer.close();
    });
  });
}

describe('addresses', { timeout: 120_000 }, () => {
  test('a name is looked up, once, and IPv4 is taken first', async () => {
    const server = newEar();
    const bound = await bindDatagrams({ host: '127.0.0.1', port: 0, ...server });
    const peer = await connectDatagrams({ host: 'localhost', port: bound.port, ...newEar() });
    say(peer, 'hello');
    await server.until(() => server.heard.length === 1);
    bound.close();
    peer.close();
  });

  test('a name that does not resolve rejects', async () => {
    await assert.rejects(connectDatagrams({ host: 'none.invalid', port: 9, ...newEar() }));
  });

  test('on :: both families are heard and answered', async () => {
    const server = newEar();
    const bound = await bindDatagrams({ host: '::', port: 0, ...server });
    for (const [host, as] of [
      ['127.0.0.1', '::ffff:127.0.0.1'],
      ['::1', '::1'],
    ] as const) {
      const ear = newEar();
      const peer = await connectDatagrams({ host, port: bound.port, ...ear });
      say(peer, 'hello');
      await server.until(() => server.heard.some((h) => h.port === peer.port));
      const from = server.heard.find((h) => h.port === peer.port);
      assert.equal(from?.address, as);
      assert.equal(say(bound, 'and you', from.port, from.address), true);
      await ear.until(() => ear.heard.length === 1);
      peer.close();
    }
    bound.close();
  });
});
