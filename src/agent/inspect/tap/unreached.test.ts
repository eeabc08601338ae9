/** Requests whose service could not be reached: it is then that a developer looks at the page. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REPLY } from '../../../wire/preamble.ts';
import { getHead, startPageFixture } from '../testing.ts';

const REFUSED = { code: REPLY.refused, text: '127.0.0.1:9 refused the connection' };
const SILENT = { code: REPLY.timeout, text: '127.0.0.1:9 did not respond within 10 s' };
const POST = 'POST /hook HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 5\r\n\r\n';

type Shown = Record<string, unknown>;

test('each is shown with the status that its visitor got, the reason, and the time that it took', async (t) => {
  const { ask, miss } = await startPageFixture(t);
  miss(getHead('/'), REFUSED);
  miss(`${POST}hello`, SILENT);
  const { body } = await ask('/api/requests/http');
  const [second, first] = body['requests'] as [Shown, Shown];
  const status = (shown: Shown): unknown => (shown['response'] as Shown)['status'];
  assert.deepEqual([status(first), first['fault']], ['502 Bad Gateway', REFUSED.text]);
  assert.deepEqual([status(second), second['fault']], ['504 Gateway Timeout', SILENT.text]);
  const shown = (await ask(String(second['uri']))).body;
  assert.deepEqual([shown['status'], shown['state'], shown['fault']], [504, 'done', SILENT.text]);
  assert.ok(Number(shown['duration_ms']) >= 2_000, 'from the moment at which it was dialled');
  assert.equal(Buffer.from(String((shown['request_body'] as Shown)['base64']), 'base64').toString(), 'hello');
  assert.equal(shown['can_replay'], true, 'it can be sent once the service is up');
});

test('they are counted, of a tunnel that is looked at', async (t) => {
  const { ask, miss } = await startPageFixture(t);
  for (let n = 0; n < 700; n++) miss(getHead('/'), REFUSED);
  miss(getHead('/'), REFUSED, 'quiet');
  miss('\x16\x03\x01 hello', REFUSED, 'db');
  const { text } = await ask('/metrics');
  assert.match(text, /^culvert_agent_requests_total\{tunnel="shop",status="5xx"\} 700$/m);
  assert.match(text, /^culvert_agent_page_records 500$/m);
  const { metrics } = (await ask('/api/tunnels/shop')).body as { metrics: Record<string, { count: number }> };
  assert.deepEqual([metrics['http']?.count, metrics['conns']?.count], [700, 0]);
});

test('of a body that had not come to its end nothing more is awaited', async (t) => {
  const { page, ask, miss } = await startPageFixture(t);
  miss(`${POST}hel`, REFUSED);
  const [record] = page.watch.ring.list(1);
  const shown = (await ask(`/api/requests/http/${record?.id}`)).body;
  assert.deepEqual([shown['state'], shown['can_replay']], ['done', false]);
});

test('what came is no request, or not a whole head: nothing is shown', async (t) => {
  const { page, miss } = await startPageFixture(t);
  miss('nonsense\r\n\r\n', REFUSED);
  miss('GET / HTTP/1.1\r\nHost: a\r\n', REFUSED);
  miss('', REFUSED);
  assert.equal(page.watch.ring.size, 0);
});
