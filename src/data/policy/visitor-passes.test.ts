import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PASS_MS, sealPass, sealTicket, TICKET_MS, type VisitorTicket } from '../../plane/visitor-words.ts';
import { UsedTickets } from './used-tickets.ts';
import { VisitorPasses } from './visitor-passes.ts';

const KEY = Buffer.alloc(32, 1);
const PLACE = { tunnelId: 'shop', version: '1', host: 'shop.test' };
const START = 1_000_000;

function opened() {
  const clock = { ms: START, now: () => clock.ms, monotonic: () => clock.ms };
  const passes = new VisitorPasses(clock);
  passes.useKey(KEY.toString('base64url'));
  return { passes, clock };
}
const ticketOf = (over: Partial<VisitorTicket> = {}) =>
  sealTicket(KEY, {
    ...PLACE,
    email: 'ann@example.test',
    expiresAt: START + TICKET_MS,
    id: 'one',
    nonceHash: '',
    again: false,
    path: '/',
    ...over,
  });
const passOf = (over: object = {}, key = KEY) =>
  sealPass(key, { ...PLACE, email: 'ann@example.test', expiresAt: START + 1_000, ...over });

test('a pass names its visitor, and tells the service', () => {
  const { passes } = opened();
  for (let i = 0; i < 2; i++) {
    const visitor = passes.find(['junk', passOf()], PLACE);
    assert.ok(visitor !== null && visitor !== 'several');
    assert.equal(visitor.line.toString(), 'Culvert-Visitor-Email: ann@example.test\r\n');
  }
});

test('a pass of another tunnel, host, version or key, and one that has run out, is none, also once it is known', () => {
  const { passes, clock } = opened();
  const pass = passOf();
  assert.ok(passes.find([pass], PLACE) !== null);
  for (const over of [{ tunnelId: 'shed' }, { host: 'shed.test' }, { version: '2' }]) {
    assert.equal(passes.find([pass], { ...PLACE, ...over }), null, JSON.stringify(over));
    assert.equal(passes.find([passOf(over)], PLACE), null, JSON.stringify(over));
  }
  assert.equal(passes.find([passOf({}, Buffer.alloc(32, 2))], PLACE), null);
  assert.equal(passes.find([ticketOf()], PLACE), null);
  clock.ms += 1_000;
  assert.equal(passes.find([pass], PLACE), null);
  clock.ms = START;
  passes.useKey(Buffer.alloc(32, 2).toString('base64url'));
  assert.equal(passes.find([pass], PLACE), null);
});

test('without a key nobody is known', () => {
  const { clock } = opened();
  assert.equal(new VisitorPasses(clock).find([passOf()], PLACE), null);
  assert.equal(new VisitorPasses(clock).ticket(ticketOf(), PLACE), null);
});

test('passes of two people are nobody; two of the same are one', () => {
  const { passes } = opened();
  assert.equal(passes.find([passOf(), passOf({ email: 'eve@example.test' })], PLACE), 'several');
  assert.notEqual(passes.find([passOf(), passOf({ expiresAt: START + 500 })], PLACE), 'several');
});

test('a ticket is good once, for a minute', () => {
  const { passes, clock } = opened();
  for (const over of [{ tunnelId: 'shed' }, { host: 'shed.test' }, { version: '2' }, { expiresAt: START }])
    assert.equal(passes.ticket(ticketOf(over), PLACE), null, JSON.stringify(over));
  const ticket = passes.ticket(ticketOf(), PLACE);
  assert.ok(ticket !== null);
  assert.ok(typeof passes.exchange(ticket) === 'object');
  assert.equal(passes.exchange(ticket), 'used');
  clock.ms += TICKET_MS;
  assert.equal(passes.ticket(ticketOf(), PLACE), null);
});

test('a pass lives for eight hours', () => {
  const { passes, clock } = opened();
  const ticket = passes.ticket(ticketOf(), PLACE);
  assert.ok(ticket !== null);
  const done = passes.exchange(ticket);
  assert.ok(typeof done === 'object');
  assert.equal(PASS_MS, 8 * 3_600_000);
  clock.ms += PASS_MS - 1;
  assert.ok(passes.find([done.pass], PLACE) !== null);
  clock.ms += 1;
  assert.equal(passes.find([done.pass], PLACE), null);
});

test('used tickets are remembered until they run out, ten thousand at once; beyond that none is taken', () => {
  const used = new UsedTickets();
  for (let i = 0; i < 10_000; i++) assert.equal(used.take(`t${i}`, 100 + i, 0), 'taken');
  assert.equal(used.take('late', 20_000, 0), 'full');
  assert.equal(used.take('t0', 100, 0), 'used');
  assert.equal(used.take('late', 20_000, 100), 'taken');
  assert.equal(used.size, 10_000);
});
