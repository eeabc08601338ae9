/** The live list: the events that a watcher receives, and the end of a watcher that does not read. */
import assert from 'node:assert/strict';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { getHead, OK, type PageFixture, startPageFixture } from './testing.ts';

interface Told {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** Opens the feed; `until` resolves with all events once the last one fits. */
async function follow(
  t: TestContext,
  { port }: PageFixture,
): Promise<{ until(fits: (told: Told) => boolean): Promise<Told[]> }> {
  const asked = get({ host: '127.0.0.1', port, path: '/api/events', agent: false });
  t.after(() => asked.destroy());
  asked.on('error', () => undefined);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  assert.equal(answer.statusCode, 200);
  assert.match(answer.headers['content-type'] ?? '', /^text\/event-stream/);
  let text = '';
  answer.setEncoding('utf8').on('error', () => undefined);
  answer.on('data', (part: string) => {
    text += part;
  });
  const told = (): Told[] =>
    [...text.matchAll(/event: (\w+)\ndata: (.*)\n\n/g)].map(([, event = '', data = '']) => {
      return { event, data: JSON.parse(data) as Record<string, unknown> };
    });
  return {
    until: async (fits) => {
      while (!told().some(fits)) await once(answer, 'data');
      return told();
    },
  };
}

test('a watcher gets the facts, the list, and then each change', async (t) => {
  const fixture = await startPageFixture(t);
  fixture.pass(getHead('/before'), OK);
  const feed = await follow(t, fixture);
  await feed.until(({ event }) => event === 'list');
  fixture.pass(getHead('/after'), OK);
  await feed.until(({ event, data }) => event === 'request' && data['state'] === 'done');
  fixture.page.onEvent({ kind: 'offline', cause: 'x' });
  await fixture.ask('/api/requests/http', { method: 'DELETE' });
  const told = await feed.until(({ event }) => event === 'cleared');
  assert.deepEqual(
    told.map(({ event }) => event),
    ['facts', 'list', 'request', 'request', 'request', 'facts', 'cleared'],
  );
  const [facts, list, begun, , done] = told;
  assert.equal(facts?.data['state'], 'online');
  assert.deepEqual(
    ((list?.data ?? []) as unknown as Record<string, unknown>[]).map(({ path }) => path),
    ['/before'],
  );
  assert.deepEqual([begun?.data['path'], begun?.data['state'], begun?.data['status']], ['/after', 'open', 0]);
  assert.deepEqual([done?.data['status'], done?.data['response_size']], [200, 5]);
});

test('hostile words in a path end no event and begin none', async (t) => {
  const fixture = await startPageFixture(t);
  const feed = await follow(t, fixture);
  await feed.until(({ event }) => event === 'list');
  const target = '/%0a%0aevent:%20cleared\xe2\x80\xa8data:x';
  fixture.pass(getHead(target), OK);
  const told = await feed.until(({ event, data }) => event === 'request' && data['state'] === 'done');
  assert.ok(told.every(({ event }) => event !== 'cleared'));
  assert.equal(told.at(-1)?.data['path'], target);
});

test('at most sixteen watch at once, and a place is free again when one leaves', async (t) => {
  const fixture = await startPageFixture(t);
  for (let n = 0; n < 15; n++) await (await follow(t, fixture)).until(({ event }) => event === 'list');
  const last = connect({ host: '127.0.0.1', port: fixture.port });
  last.write(`GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:${fixture.port}\r\n\r\n`);
  await once(last, 'data');
  assert.equal((await fixture.ask('/api/events')).status, 503);
  last.destroy();
  while (!/^culvert_agent_page_watchers 15$/m.test((await fixture.ask('/metrics')).text))
    await new Promise((resolve) => setTimeout(resolve, 5));
  await (await follow(t, fixture)).until(({ event }) => event === 'list');
});

test('live list: a watcher that does not read is cut and counted, and nothing waits for it', {
  timeout: 30_000,
}, async (t) => {
  const fixture = await startPageFixture(t);
  const slow = connect({ host: '127.0.0.1', port: fixture.port });
  t.after(() => slow.destroy());
  slow.on('error', () => undefined);
  slow.write(`GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:${fixture.port}\r\n\r\n`);
  await once(slow, 'data');
  slow.pause();
  const closed = once(slow, 'close');
  const long = { id: 'x'.repeat(400) };
  // Facts are sent at each event: what the kernel takes is some MB, and then the rest waits here.
  const tunnels = Array.from({ length: 100 }, (_, n) => {
    return { ...fixture.view.tunnels[0], name: `${n}-${long.id}` } as (typeof fixture.view.tunnels)[number];
  });
  fixture.view = { ...fixture.view, tunnels };
  for (let n = 0; n < 2_000; n++) {
    fixture.page.onEvent({ kind: 'draining', inFlight: n });
    if (n % 100 === 0) {
      const { text } = await fixture.ask('/metrics');
      if (/^culvert_agent_page_watchers_cut_total 1$/m.test(text)) break;
    }
  }
  assert.match((await fixture.ask('/metrics')).text, /^culvert_agent_page_watchers_cut_total 1$/m);
  slow.resume();
  await closed;
  assert.match((await fixture.ask('/metrics')).text, /^culvert_agent_page_watchers 0$/m);
});
