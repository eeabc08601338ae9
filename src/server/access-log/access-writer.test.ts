import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../base/log.ts';
import { AccessWriter } from './access-writer.ts';
import { ENTRY } from './testing.ts';

class Sink {
  texts: string[] = [];
  reopened = 0;
  failedRotations = 0;
  isFull = false;
  gate: Promise<void> = Promise.resolve();

  async append(bytes: Buffer): Promise<void> {
    await this.gate;
    if (this.isFull) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    this.texts.push(bytes.toString());
  }

  reopen(): void {
    this.reopened++;
  }

  async close(): Promise<void> {}
}

const lineOf = ({ id }: { id: string }): string => `${id}\n`;
const entry = (id: string, isSampled = true) => ({ ...ENTRY, id, isSampled });

test('access log: sampled entries become lines, in their order', async () => {
  const sink = new Sink();
  const writer = new AccessWriter(sink, lineOf, { log: silentLog });
  writer.take([entry('a'), entry('b', false), entry('c')]);
  writer.take([entry('d')]);
  await writer.close();
  assert.equal(sink.texts.join(''), 'a\nc\nd\n');
  assert.deepEqual(writer.stats(), { written: 3, dropped: 0, isFailing: false, failedRotations: 0 });
});

test('access log: a slow disk costs lines beyond the bound, and no memory', async () => {
  const sink = new Sink();
  const gate = Promise.withResolvers<void>();
  sink.gate = gate.promise;
  const writer = new AccessWriter(sink, lineOf, { log: silentLog, maxBytes: 4 });
  writer.take([entry('a'), entry('b'), entry('c')]);
  writer.take([entry('d')]);
  assert.equal(writer.stats().dropped, 2);
  gate.resolve();
  await writer.close();
  assert.equal(sink.texts.join(''), 'a\nb\n');
});

test('access log: a full disk loses lines, counts them, and is written again when there is room', async () => {
  const sink = new Sink();
  sink.isFull = true;
  const writer = new AccessWriter(sink, lineOf, { log: silentLog });
  writer.take([entry('a'), entry('b')]);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(writer.stats(), { written: 0, dropped: 2, isFailing: true, failedRotations: 0 });
  sink.isFull = false;
  writer.reopen();
  assert.equal(sink.reopened, 1);
  writer.take([entry('c')]);
  await writer.close();
  assert.equal(sink.texts.join(''), 'c\n');
  assert.deepEqual(writer.stats(), { written: 1, dropped: 2, isFailing: false, failedRotations: 0 });
});
