import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { type CallsOptions, NoAnswer, PortCalls } from './calls.ts';

const LONG = { timeoutMs: 60_000 };

interface Ends {
  readonly here: PortCalls;
  readonly there: PortCalls;
  readonly faults: string[];
}

function pair(t: { after(work: () => void): void }, options: Partial<CallsOptions> = {}): Ends {
  const { port1, port2 } = new MessageChannel();
  const faults: string[] = [];
  const onFault = (what: string): void => void faults.push(what);
  const here = new PortCalls(port1, { onFault, ...options });
  const there = new PortCalls(port2, { onFault });
  t.after(() => {
    port1.close();
    port2.close();
  });
  return { here, there, faults };
}

test('a question is answered, also by a promise, and what was thrown comes back with its code', async (t) => {
  const { here, there } = pair(t);
  there.answer('double', (n: number) => n * 2);
  there.answer('later', async (n: number) => n + 1);
  there.answer('fail', () => {
    throw Object.assign(new Error('no room'), { code: 'ENOSPC' });
  });
  assert.equal(await here.ask('double', 21, LONG), 42);
  assert.equal(await here.ask('later', 1, LONG), 2);
  await assert.rejects(here.ask('fail', null, LONG), { message: 'no room', code: 'ENOSPC' });
  await assert.rejects(here.ask('unheard of', null, LONG), /not handled here/);
});

test('port calls: events arrive in the order of sending, and before a later answer', async (t) => {
  const { here, there } = pair(t);
  const heard: number[] = [];
  here.hear('n', (n: number) => heard.push(n));
  there.answer('tell', (count: number) => {
    for (let n = 0; n < count; n++) there.tell('n', n);
    return heard.length;
  });
  // More than one message holds, and more than one slice works off.
  assert.equal(await here.ask('tell', 5_000, LONG), 0);
  assert.deepEqual(heard, [...Array(5_000).keys()]);
});

test('what was said counts as unread until it is worked off', async (t) => {
  const { here, there } = pair(t);
  const done = Promise.withResolvers<void>();
  there.hear('n', (n: number) => {
    if (n === 599) done.resolve();
  });
  for (let n = 0; n < 600; n++) here.tell('n', n);
  await Promise.resolve();
  assert.equal(here.unread, 600);
  await done.promise;
  while (here.unread > 0) await new Promise((resolve) => setImmediate(resolve));
});

test('a long line of news leaves turns of the loop to others', async (t) => {
  const { here, there } = pair(t);
  const done = Promise.withResolvers<number>();
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  there.hear('work', (n: number) => {
    const end = performance.now() + 1;
    while (performance.now() < end);
    if (n === 199) done.resolve(turns);
  });
  for (let n = 0; n < 200; n++) here.tell('work', n);
  setImmediate(turn);
  assert.ok((await done.promise) >= 20, 'some milliseconds a turn, and not all in one');
  isOver = true;
});

test('more questions than the bound are refused at once, and there is room again behind an answer', async (t) => {
  const { here, there } = pair(t, { maxAsks: 2 });
  const held: Array<() => void> = [];
  there.answer('hold', () => new Promise<void>((resolve) => held.push(resolve)));
  const first = here.ask('hold', null, LONG);
  const second = here.ask('hold', null, LONG);
  await assert.rejects(here.ask('hold', null, LONG), NoAnswer);
  while (held.length < 2) await new Promise((resolve) => setImmediate(resolve));
  for (const release of held) release();
  await Promise.all([first, second]);
  const third = here.ask('hold', null, LONG);
  while (held.length < 3) await new Promise((resolve) => setImmediate(resolve));
  held[2]?.();
  await third;
});

test('no answer in time is an error, and a late one changes nothing', async (t) => {
  const { here, there } = pair(t);
  const late = Promise.withResolvers<string>();
  there.answer('late', () => late.promise);
  there.answer('now', () => 'now');
  await assert.rejects(here.ask('late', null, { timeoutMs: 1 }), /no response to late within 1 ms/);
  late.resolve('too late');
  assert.equal(await here.ask('now', null, LONG), 'now');
});

test('a buffer that is transferred arrives whole and is gone here', async (t) => {
  const { here, there } = pair(t);
  there.answer('sum', (bytes: Uint8Array) => bytes.reduce((sum, byte) => sum + byte, 0));
  const bytes = new Uint8Array([1, 2, 3]);
  assert.equal(await here.ask('sum', bytes, { ...LONG, transfer: [bytes.buffer] }), 6);
  assert.equal(bytes.byteLength, 0);
});

test('one item that can not be copied takes no other with it', async (t) => {
  const { here, there, faults } = pair(t);
  const heard: unknown[] = [];
  there.hear('n', (n: unknown) => heard.push(n));
  there.answer('echo', (value: unknown) => value);
  there.answer('function', () => () => undefined);
  here.tell('n', 1);
  here.tell('n', () => undefined);
  const bad = here.ask('echo', () => undefined, LONG);
  here.tell('n', 2);
  await assert.rejects(bad, { name: 'DataCloneError' });
  await assert.rejects(here.ask('function', null, LONG), /could not be cloned/);
  assert.deepEqual(heard, [1, 2]);
  assert.deepEqual(faults, ['n']);
});

test('a listener that throws is a fault of its own, and the next one is called', async (t) => {
  const { here, there, faults } = pair(t);
  there.hear('bad', () => {
    throw new Error('no');
  });
  there.answer('good', () => true);
  here.tell('bad', null);
  assert.equal(await here.ask('good', null, LONG), true);
  assert.deepEqual(faults, ['bad']);
});

test('a close gives up what is under way, and everything after it', async (t) => {
  const { here, there } = pair(t);
  there.answer('hold', () => new Promise(() => undefined));
  const held = here.ask('hold', null, LONG);
  here.close('the thread has gone');
  here.close('twice');
  await assert.rejects(held, { name: 'NoAnswer', message: 'the thread has gone' });
  await assert.rejects(here.ask('hold', null, LONG), { message: 'the thread has gone' });
});
