/** The fast way of reading: that this Node has it for every kind of socket, and that it reads, pauses and ends as it should. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { cutSocket, readInto, resumeReading, sharedTarget } from './socket.ts';
import { type Kind, PairSource } from '../testing.ts';

const WITHIN = { timeout: 20_000 };

for (const kind of ['plain', 'tls'] as const satisfies Kind[]) {
  describe(`a ${kind} socket`, { timeout: 120_000 }, () => {
    let source: PairSource;
    before(async () => {
      source = await PairSource.listen(kind);
    });
    after(() => source.close());

    for (const side of ['dialled', 'accepted'] as const) {
      const other = side === 'dialled' ? 'accepted' : 'dialled';

      test(`${side}: is read the fast way on this Node, into the buffer given`, async () => {
        const pair = await source.pair();
        const buffer = Buffer.alloc(65_536);
        const seen: Array<{ bytes: Buffer; text: string }> = [];
        const fast = readInto(
          pair[side],
          sharedTarget(buffer, (bytes, start, count) => {
            seen.push({ bytes, text: bytes.toString('latin1', start, start + count) });
            return true;
          }),
        );
        assert.equal(fast, true);
        pair[other].end('hello');
        await once(pair[side], 'end');
        assert.equal(seen.map((s) => s.text).join(''), 'hello');
        assert.ok(seen.every((s) => s.bytes === buffer));
        pair.close();
      });

      test(`${side}: stops when told to, and goes on without a loss`, async () => {
        const pair = await source.pair();
        const total = 8 << 20;
        const sent = Buffer.alloc(total);
        for (let i = 0; i < total; i += 4) sent.writeUInt32LE((i * 2_654_435_761) >>> 0, i);
        const got: Buffer[] = [];
        let pauses = 0;
        let late = 0;
        let paused = false;
        readInto(
          pair[side],
          sharedTarget(Buffer.alloc(65_536), (bytes, start, count) => {
            got.push(Buffer.from(bytes.subarray(start, start + count)));
            if (paused) late++;
            if (got.length % 7 !== 0) return true;
            pauses++;
            paused = true;
            setImmediate(() => {
              paused = false;
              resumeReading(pair[side]);
            });
            return false;
          }),
        );
        pair[other].end(sent);
        await once(pair[side], 'end');
        assert.equal(Buffer.compare(Buffer.concat(got), sent), 0);
        assert.ok(pauses > 3, `${pauses} pauses`);
        // TLS hands on what it has decrypted already, a record or a few.
        assert.ok(late <= (kind === 'plain' ? 0 : pauses * 8), `${late} reads while paused`);
        pair.close();
      });

      test(`${side}: that is cut is a reset to its peer, not an end`, async () => {
        const pair = await source.pair();
        let ended = false;
        pair[other].on('end', () => (ended = true));
        pair[other].resume();
        pair[side].write('half of it');
        await once(pair[other], 'data');
        const failed = once(pair[other], 'error');
        cutSocket(pair[side]);
        const [error] = (await failed) as [NodeJS.ErrnoException];
        assert.equal(error.code, 'ECONNRESET');
        assert.equal(ended, false);
        assert.equal(pair[side].destroyed, true);
        cutSocket(pair[side]);
        pair.close();
      });
    }
  });
}

test('a socket that is cut while its end is on the way is closed: what comes then is refused', WITHIN, async (t) => {
  const server = createServer({ allowHalfOpen: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  // The kernel is asked for the end some steps later, and answers in the next turn.
  for (let steps = 0; steps < 8; steps++) {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [peer] = (await once(server, 'connection')) as [Socket];
    t.after(() => peer.destroy());
    socket.on('error', () => undefined).write('hello');
    await pause(5);
    socket.end();
    for (let step = 0; step < steps; step++) await new Promise<void>((resolve) => process.nextTick(resolve));
    cutSocket(socket);
    peer.resume();
    const writes = setInterval(() => peer.write('still here'), 5);
    const [error] = (await once(peer, 'error')) as [NodeJS.ErrnoException];
    clearInterval(writes);
    assert.match(error.code ?? '', /EPIPE|ECONNRESET/);
  }
});

test('falls back to data events where Node has no such fields', () => {
  const listeners: Array<(chunk: Buffer) => void> = [];
  let pauses = 0;
  const strange = {
    _handle: null,
    on: (_event: string, listener: (chunk: Buffer) => void) => listeners.push(listener),
    pause: () => pauses++,
  };
  const seen: string[] = [];
  const target = sharedTarget(Buffer.alloc(10), (bytes, start, count) => {
    seen.push(bytes.toString('latin1', start, start + count));
    return false;
  });
  assert.equal(readInto(strange as unknown as Parameters<typeof readInto>[0], target), false);
  for (const listener of listeners) listener(Buffer.from('chunk'));
  assert.deepEqual(seen, ['chunk']);
  assert.equal(pauses, 1);
});
