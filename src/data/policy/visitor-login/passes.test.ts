import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  nonceHashOf,
  PASS_MS,
  sealPass,
  sealTicket,
  TICKET_MS,
  type VisitorTicket,
} from '../../../plane/visitor-tokens.ts';
import { RecentReturns } from './recent-returns.ts';
import { UsedTickets } from './used-tickets.ts';
import { VisitorPasses } from './passes.ts';

const KEY = Buffer.alloc(32, 1);
const PLACE = { tunnelId: 'shop', version: '1', host: 'shop.test' };
const START = 1_000_000;
const NONCE = 'n'.repeat(22);
const BROWSER = 'b'.repeat(22);
/** A copy of the pass is all that it has. */
const PROGRAM = { browsers: [], isBrowser: false };

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
  sealPass(key, {
    ...PLACE,
    email: 'ann@example.test',
    expiresAt: START + 1_000,
    browserHash: nonceHashOf(BROWSER),
    ...over,
  });

test('a pass names its visitor, and tells the service', () => {
  const { passes } = opened();
  for (let i = 0; i < 2; i++) {
    const visitor = passes.find(['junk', passOf()], PLACE, PROGRAM);
    assert.ok(visitor !== null && visitor !== 'several');
    assert.equal(visitor.line.toString(), 'Culvert-Visitor-Email: ann@example.test\r\n');
  }
});

test('a pass of another tunnel, host, version or key, and one that has run out, is none, also once it is known', () => {
  const { passes, clock } = opened();
  const pass = passOf();
  assert.ok(passes.find([pass], PLACE, PROGRAM) !== null);
  for (const over of [{ tunnelId: 'shed' }, { host: 'shed.test' }, { version: '2' }]) {
    assert.equal(passes.find([pass], { ...PLACE, ...over }, PROGRAM), null, JSON.stringify(over));
    assert.equal(passes.find([passOf(over)], PLACE, PROGRAM), null, JSON.stringify(over));
  }
  assert.equal(passes.find([passOf({}, Buffer.alloc(32, 2))], PLACE, PROGRAM), null);
  assert.equal(passes.find([ticketOf()], PLACE, PROGRAM), null);
  clock.ms += 1_000;
  assert.equal(passes.find([pass], PLACE, PROGRAM), null);
  clock.ms = START;
  passes.useKey(Buffer.alloc(32, 2).toString('base64url'));
  assert.equal(passes.find([pass], PLACE, PROGRAM), null);
});

test('passes: no visitor is known without a key', () => {
  const { clock } = opened();
  assert.equal(new VisitorPasses(clock).find([passOf()], PLACE, PROGRAM), null);
  assert.equal(new VisitorPasses(clock).ticket(ticketOf(), PLACE), null);
});

test('of several passes the one that was made for this browser counts, and for a browser no other', () => {
  const { passes } = opened();
  const eves = passOf({ email: 'eve@example.test', browserHash: nonceHashOf('e'.repeat(22)) });
  const emailBy = (words: string[], browsers: string[], isBrowser: boolean): string | null => {
    const found = passes.find(words, PLACE, { browsers, isBrowser });
    return found === null || found === 'several' ? found : found.email;
  };
  for (const isBrowser of [true, false])
    for (const words of [
      [passOf(), eves],
      [eves, passOf()],
    ]) {
      assert.equal(emailBy(words, [BROWSER], isBrowser), 'ann@example.test');
      assert.equal(emailBy(words, [BROWSER, 'e'.repeat(22)], isBrowser), 'several');
    }
  assert.equal(emailBy([eves], [BROWSER], true), null);
  assert.equal(emailBy([eves], [], true), null);
  assert.equal(emailBy([eves], [], false), 'eve@example.test');
  assert.equal(emailBy([passOf({ browserHash: '' })], [''], true), null);
});

test('the good pass counts behind all that a head can hold', () => {
  const { passes } = opened();
  const like = passOf({}, Buffer.alloc(32, 2));
  for (const planted of [
    Array.from({ length: 2_000 }, (_, i) => `junk${i}`),
    Array.from({ length: 2_000 }, (_, i) => `${'x'.repeat(300)}${i}`),
    Array.from({ length: 255 }, () => like),
  ]) {
    const visitor = passes.find([...planted, passOf()], PLACE, PROGRAM);
    assert.ok(visitor !== null && visitor !== 'several', `${planted.length} ${planted[0]}`);
  }
  // Beyond that no more is computed.
  assert.equal(passes.find([...Array.from({ length: 256 }, () => like), passOf()], PLACE, PROGRAM), null);
});

test('who has just got a pass and shows none is known by its nonce, for half a minute', () => {
  const { passes, clock } = opened();
  const ticket = passes.ticket(ticketOf(), PLACE);
  assert.ok(ticket !== null);
  assert.equal(passes.haveJustReturned([NONCE], PLACE), false);
  passes.exchange(ticket, NONCE);
  assert.equal(passes.haveJustReturned(['m'.repeat(22), NONCE], PLACE), true);
  assert.equal(passes.haveJustReturned(['m'.repeat(22)], PLACE), false);
  for (const over of [{ tunnelId: 'shed' }, { host: 'shed.test' }, { version: '2' }])
    assert.equal(passes.haveJustReturned([NONCE], { ...PLACE, ...over }), false, JSON.stringify(over));
  clock.ms += 29_999;
  assert.equal(passes.haveJustReturned([NONCE], PLACE), true);
  clock.ms += 1;
  assert.equal(passes.haveJustReturned([NONCE], PLACE), false);
});

test('passes: a new key ends every pass, and visitors log in again', () => {
  const { passes } = opened();
  const ticket = passes.ticket(ticketOf(), PLACE);
  assert.ok(ticket !== null);
  passes.exchange(ticket, NONCE);
  passes.useKey(Buffer.alloc(32, 2).toString('base64url'));
  assert.equal(passes.haveJustReturned([NONCE], PLACE), false);
});

test('ten thousand that have just returned are remembered; the oldest gives way', () => {
  const returns = new RecentReturns();
  for (let i = 0; i <= 10_000; i++) returns.add(PLACE, `n${i}`, START);
  assert.equal(returns.size, 10_000);
  assert.deepEqual([returns.has(PLACE, 'n0', START), returns.has(PLACE, 'n1', START)], [false, true]);
  returns.add(PLACE, 'late', START + 30_000);
  assert.equal(returns.size, 1);
});

test('passes: those of two people count as none, two of the same as one', () => {
  const { passes } = opened();
  assert.equal(passes.find([passOf(), passOf({ email: 'eve@example.test' })], PLACE, PROGRAM), 'several');
  assert.notEqual(passes.find([passOf(), passOf({ expiresAt: START + 500 })], PLACE, PROGRAM), 'several');
});

test('a ticket is good once, for a minute', () => {
  const { passes, clock } = opened();
  for (const over of [{ tunnelId: 'shed' }, { host: 'shed.test' }, { version: '2' }, { expiresAt: START }])
    assert.equal(passes.ticket(ticketOf(over), PLACE), null, JSON.stringify(over));
  const ticket = passes.ticket(ticketOf(), PLACE);
  assert.ok(ticket !== null);
  assert.ok(typeof passes.exchange(ticket, NONCE) === 'object');
  assert.equal(passes.exchange(ticket, NONCE), 'used');
  clock.ms += TICKET_MS;
  assert.equal(passes.ticket(ticketOf(), PLACE), null);
});

test('a pass lives for eight hours', () => {
  const { passes, clock } = opened();
  const ticket = passes.ticket(ticketOf(), PLACE);
  assert.ok(ticket !== null);
  const done = passes.exchange(ticket, NONCE);
  assert.ok(typeof done === 'object');
  assert.equal(PASS_MS, 8 * 3_600_000);
  clock.ms += PASS_MS - 1;
  assert.ok(passes.find([done.pass], PLACE, PROGRAM) !== null);
  clock.ms += 1;
  assert.equal(passes.find([done.pass], PLACE, PROGRAM), null);
});

test('used tickets are remembered until they run out, ten thousand at once; beyond that none is taken', () => {
  const used = new UsedTickets();
  for (let i = 0; i < 10_000; i++) assert.equal(used.take(`t${i}`, 100 + i, 0), 'taken');
  assert.equal(used.take('late', 20_000, 0), 'full');
  assert.equal(used.take('t0', 100, 0), 'used');
  assert.equal(used.take('late', 20_000, 100), 'taken');
  assert.equal(used.size, 10_000);
});
