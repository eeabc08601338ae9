import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { test } from 'node:test';
import { SlabPool } from './slab.ts';
import { SocketWriter } from './socket-writer.ts';
import { PairSource } from '../testing.ts';
import { TurnEnd } from '../process/turn.ts';

for (const kind of ['plain', 'tls'] as const) {
  test(`${kind}: a slab that is not held may be overwritten at once, whatever was written from it`, async (t) => {
    const source = await PairSource.listen(kind);
    t.after(() => source.close());
    const pair = await source.pair();
    const pool = new SlabPool();
    const sent = createHash('sha256');
    const got = createHash('sha256');
    let received = 0;
    pair.dialled.on('data', (chunk: Buffer) => {
      got.update(chunk);
      received += chunk.length;
      // A reader that now and then is slow, so that writes are queued, held and copied too.
      if (received % 7 === 0) {
        pair.dialled.pause();
        setImmediate(() => pair.dialled.resume());
      }
    });
    let pushed = 0;
    let credited = 0;
    const writer = new SocketWriter(pair.accepted, {
      tls: kind === 'tls',
      turn: new TurnEnd(),
      slabs: pool,
      onCredit: (bytes) => {
        credited += bytes;
      },
    });
    let slab = pool.take();
    for (let i = 0; pushed < 60 << 20; i++) {
      const length = [300, 16_384, 9_000, 70_000][i % 4] as number;
      if (slab.held) {
        slab.retire();
        slab = pool.take();
      }
      slab.bytes.fill(i & 0xff, 0, length);
      sent.update(slab.bytes.subarray(0, length));
      if (i % 3 === 0) writer.write(slab.bytes, 0, length, length, slab);
      else writer.push(slab.bytes, 0, length, length, slab);
      pushed += length;
      if (!slab.held) slab.bytes.fill(0xee, 0, length);
      if (writer.backlog > 2 << 20) await new Promise((resolve) => setImmediate(resolve));
    }
    writer.end();
    await once(pair.dialled, 'end');
    assert.equal(received, pushed);
    assert.equal(got.digest('hex'), sent.digest('hex'));
    assert.equal(credited, pushed);
    pair.close();
  });
}

for (const kind of ['plain', 'tls'] as const) {
  test(`${kind}: thousands of single bytes of one turn are few writes, and all arrive`, async (t) => {
    const source = await PairSource.listen(kind);
    t.after(() => source.close());
    const pair = await source.pair();
    const pool = new SlabPool();
    let text = '';
    pair.dialled.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    let credited = 0;
    const options = { turn: new TurnEnd(), slabs: pool, onCredit: (bytes: number) => void (credited += bytes) };
    const writer = new SocketWriter(pair.accepted, { tls: kind === 'tls', ...options });
    const write = t.mock.method(pair.accepted, 'write');
    const slab = pool.take();
    let sent = '';
    const turnOf = (pieces: number): void => {
      for (let i = 0; i < pieces; i++) {
        // Apart from each other, as frames are, and here and there side by side.
        const at = 13 * i + (i % 5 === 0 ? 12 : 0);
        slab.bytes[at] = 97 + (i % 26);
        sent += String.fromCharCode(97 + (i % 26));
        writer.push(slab.bytes, at, at + 1, 3, slab);
      }
    };
    for (const pieces of [1, 20_000, 5, 20_000]) {
      turnOf(pieces);
      await new Promise((resolve) => setImmediate(resolve));
      await until(() => writer.backlog === 0);
    }
    const views = write.mock.calls.filter(({ arguments: [bytes] }) => (bytes as Buffer).length > 0);
    assert.ok(views.length < 60, `${views.length} writes`);
    writer.end();
    await once(pair.dialled, 'end');
    assert.equal(text, sent);
    assert.equal(credited, 3 * sent.length);
    assert.equal(slab.held, false);
    pair.close();
  });
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
