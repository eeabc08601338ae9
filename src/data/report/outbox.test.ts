import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../base/log.ts';
import type { DryRunEvent, EventBatch, UsageEvent } from '../../plane/events.ts';
import { FakeLink } from '../fixtures/link.ts';
import { Outbox, type OutboxOptions } from './outbox.ts';

function outboxOf(link: FakeLink, options: Partial<OutboxOptions> = {}): Outbox {
  return new Outbox({ node: 'edge-1/x', retryMs: 1, maxRetryMs: 2, ...options }, { link, log: silentLog });
}

const usage = (tunnelId: string, requests = 1): Omit<UsageEvent, 'kind'> => ({
  tunnelId,
  tokenId: 'token',
  requests,
  bytesIn: 10 * requests,
  bytesOut: 100 * requests,
});

test('what happens in one turn goes as one batch, agents first, merged per tunnel', async () => {
  const link = new FakeLink();
  const outbox = outboxOf(link);
  outbox.addUsage(usage('a'));
  outbox.addUsage(usage('a', 2));
  outbox.addUsage({ ...usage('a'), tokenId: 'other' });
  outbox.addAgent({ kind: 'agent', agentId: 'x', tunnelId: 'a', online: true, at: 1 });
  assert.equal(await outbox.flush(1_000), true);
  assert.equal(link.batches.length, 1);
  assert.deepEqual(link.batches[0], {
    node: 'edge-1/x',
    sequence: 1,
    events: [
      { kind: 'agent', agentId: 'x', tunnelId: 'a', online: true, at: 1 },
      { kind: 'usage', tunnelId: 'a', tokenId: 'token', requests: 3, bytesIn: 30, bytesOut: 300 },
      { kind: 'usage', tunnelId: 'a', tokenId: 'other', requests: 1, bytesIn: 10, bytesOut: 100 },
    ],
  });
});

test('the last word of an agent stays behind the words that others said before it', async () => {
  const link = new FakeLink();
  const outbox = outboxOf(link);
  outbox.addAgent({ kind: 'agent', agentId: 'old', tunnelId: 'a', online: true, at: 1 });
  outbox.addAgent({ kind: 'agent', agentId: 'new', tunnelId: 'a', online: true, at: 2 });
  outbox.addAgent({ kind: 'agent', agentId: 'new', tunnelId: 'a', online: false, at: 3 });
  outbox.addAgent({ kind: 'agent', agentId: 'old', tunnelId: 'a', online: false, at: 4 });
  await outbox.flush(1_000);
  const said = link.batches.flatMap((b) => b.events).map((e) => (e.kind === 'agent' ? `${e.agentId} ${e.online}` : ''));
  assert.deepEqual(said, ['new false', 'old false']);
});

test('the same batch is sent until it is stored, and what comes meanwhile is merged', async () => {
  const link = new FakeLink();
  const sent: EventBatch[] = [];
  const outbox = outboxOf(link);
  let failures = 3;
  link.onReport = async (batch) => {
    sent.push(batch);
    for (let i = 0; i < 100; i++) outbox.addUsage(usage('b'));
    if (failures-- > 0) throw new Error('away');
    link.onReport = async (later) => void sent.push(later);
  };
  outbox.addUsage(usage('a'));
  assert.equal(await outbox.flush(5_000), true);
  assert.deepEqual(
    sent.map((b) => b.sequence),
    [1, 1, 1, 1, 2],
  );
  assert.equal(new Set(sent.slice(0, 4)).size, 1, 'the repeats are the same batch');
  assert.deepEqual(sent[4]?.events, [{ kind: 'usage', ...usage('b', 400) }]);
});

test('memory is bounded while the control plane is away: known pairs go on, new ones are dropped and counted', async () => {
  const link = new FakeLink();
  link.onReport = () => new Promise(() => {});
  const outbox = outboxOf(link, { maxWaiting: 10, maxBatch: 5 });
  outbox.addUsage(usage('first'));
  assert.equal(await outbox.flush(5), false, 'the first batch is under way for ever');
  for (let i = 0; i < 1_000; i++) outbox.addUsage(usage(`t${i}`));
  outbox.addUsage(usage('t3', 5));
  assert.equal(outbox.waiting, 10);
  assert.equal(outbox.dropped, 990);
  outbox.close();
});

test('a report without an answer is sent again', async () => {
  const link = new FakeLink();
  const sent: number[] = [];
  link.onReport = (batch) => {
    sent.push(batch.sequence);
    return sent.length === 1 ? new Promise(() => {}) : Promise.resolve();
  };
  const outbox = outboxOf(link, { answerMs: 5 });
  outbox.addUsage(usage('a'));
  assert.equal(await outbox.flush(5_000), true);
  assert.deepEqual(sent, [1, 1]);
});

test('batches are cut at their bound', async () => {
  const link = new FakeLink();
  const outbox = outboxOf(link, { maxBatch: 4 });
  for (let i = 0; i < 10; i++) outbox.addUsage(usage(`t${i}`));
  await outbox.flush(1_000);
  assert.deepEqual(
    link.batches.map((b) => [b.sequence, b.events.length]),
    [
      [1, 4],
      [2, 4],
      [3, 2],
    ],
  );
});

test('a batch holds at most 100 histograms, whatever else it has', async () => {
  const link = new FakeLink();
  const outbox = outboxOf(link);
  outbox.addUsage(usage('a'));
  for (let i = 0; i < 250; i++) {
    const counted = { firstByte: [], total: [], status: [], bytesIn: 0, bytesOut: 0, connections: 0 };
    outbox.addLatency({ kind: 'latency', tunnelId: `t${i}`, ...counted });
  }
  assert.deepEqual([outbox.hasLatency('t249'), outbox.hasLatency('t250')], [true, false]);
  await outbox.flush(1_000);
  assert.deepEqual(
    link.batches.map(({ events }) => events.length),
    [101, 100, 50],
  );
  assert.equal(outbox.hasLatency('t249'), false);
});

test('what a tried action would refuse is added up; of two policies of a tunnel the newer one counts', async () => {
  const link = new FakeLink();
  const outbox = outboxOf(link);
  const event = (setAt: number, index: number, refused: number): DryRunEvent => {
    const sample = { method: 'GET', path: `/${refused}`, clientIp: '192.0.2.7', code: 'denied' };
    return { kind: 'dry_run', tunnelId: 'a', setAt, index, action: 'deny', refused, lastAt: refused, sample };
  };
  for (const one of [event(1, 0, 5), event(2, 0, 6), event(2, 0, 7), event(1, 0, 8), event(2, 1, 9)])
    outbox.addDryRun(one);
  assert.equal(outbox.waiting, 2);
  await outbox.flush(1_000);
  const events = link.batches.flatMap((batch) => batch.events);
  assert.deepEqual(events, [{ ...event(2, 0, 7), refused: 13 }, event(2, 1, 9)]);
});
