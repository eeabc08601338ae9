import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../base/log.ts';
import { FakeLink, idOf, testRoute } from '../fixtures/link.ts';
import type { Payer, RouteEntry } from '../routing/entry.ts';
import { RouteTable } from '../routing/table.ts';
import { UsageMeter } from './meter.ts';
import { Outbox } from './outbox.ts';

function setUp(): { link: FakeLink; table: RouteTable; meter: UsageMeter; outbox: Outbox; entry: RouteEntry } {
  const link = new FakeLink();
  const table = new RouteTable('example.test');
  table.load({ version: 1, routes: [testRoute('shop')] });
  const outbox = new Outbox({ node: 'n' }, { link, log: silentLog });
  const meter = new UsageMeter(table, outbox);
  const entry = table.findById(idOf('shop'));
  assert.ok(entry);
  return { link, table, meter, outbox, entry };
}

/** A payer, and what it was charged: bytes and requests. */
function payer(tokenId: string): Payer & { readonly charged: string[] } {
  const charged: string[] = [];
  return { tokenId, exhausted: false, charged, charge: (bytes, requests) => void charged.push(`${bytes} ${requests}`) };
}

function count(entry: RouteEntry, requests: number): void {
  entry.meter.requests += requests;
  entry.meter.bytesIn += requests * 2;
  entry.meter.bytesOut += requests * 3;
}

async function reported(link: FakeLink, outbox: Outbox): Promise<string[]> {
  await outbox.flush(1_000);
  return link.batches.flatMap((batch) =>
    batch.events.map((e) => (e.kind === 'usage' ? `${e.tokenId} ${e.requests} ${e.bytesIn} ${e.bytesOut}` : e.kind)),
  );
}

test('counters become usage, are charged once, and start again from nothing', async () => {
  const { link, meter, outbox, entry } = setUp();
  const one = payer('one');
  entry.payer = one;
  count(entry, 5);
  meter.collect();
  meter.collect();
  assert.deepEqual(one.charged, ['25 5']);
  assert.deepEqual(await reported(link, outbox), ['one 5 10 15']);
  assert.equal(entry.meter.requests, 0);
  meter.close();
});

test('traffic is told for the token that served it, also when it is counted later', async () => {
  const { link, meter, outbox, entry } = setUp();
  entry.payer = payer('one');
  count(entry, 1);
  meter.settle(entry);
  count(entry, 2);
  meter.settle(entry);
  entry.payer = payer('two');
  count(entry, 4);
  meter.collect();
  assert.deepEqual(await reported(link, outbox), ['one 3 6 9', 'two 4 8 12']);
  meter.close();
});

test('a removed tunnel is told of at once, and its last streams once more', async () => {
  const { link, table, meter, outbox, entry } = setUp();
  entry.payer = payer('one');
  count(entry, 1);
  table.apply({ version: 2, kind: 'remove', tunnelId: idOf('shop'), code: 'tunnel_deleted', message: '' });
  assert.deepEqual(await reported(link, outbox), ['one 1 2 3']);
  count(entry, 7);
  meter.collect();
  assert.deepEqual(await reported(link, outbox), ['one 1 2 3', 'one 7 14 21']);
  meter.close();
});

test('counters are walked every two seconds, and at the close', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { link, meter, outbox, entry } = setUp();
  count(entry, 1);
  t.mock.timers.tick(2_000);
  assert.deepEqual(await reported(link, outbox), ['null 1 2 3']);
  count(entry, 2);
  meter.close();
  assert.deepEqual((await reported(link, outbox)).at(-1), 'null 2 4 6');
});
