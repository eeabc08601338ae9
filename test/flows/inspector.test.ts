/**
 * Requests of visitors on the whole product: recorded at the edge, listed and shown by the API, told live to a program and to the
 * command line, and sent again by the command that the inspector makes of them.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import type { Culvert } from '../harness.ts';
import { missing, run } from '../harness/tools.ts';
import { startInspectedService } from './inspected-service.ts';

type Item = Readonly<Record<string, unknown>>;

async function until(isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!isSo()) {
    assert.ok(Date.now() < deadline, isSo.toString());
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** What the list has. A server whose records can't be read in 2 s, as on a machine that is very busy, asks to be asked again. */
async function listed({ account }: Culvert, path = '/inspector'): Promise<Item[]> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const { status, body } = await account.call('GET', path);
    if (status === 200) return body as unknown as Item[];
    assert.ok(status === 503 && Date.now() < deadline, `${status} ${JSON.stringify(body)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const HOOK = {
  headers: { 'content-type': 'application/json', 'x-signature': "it's 'signed'" },
  body: '{"paid": "5 €"}',
};

test('a request is in the list as soon as it was answered, with all that was said; and a refused one says why', async (t) => {
  const { culvert, tunnelId, visit } = await startInspectedService(t);
  const { account } = culvert;
  assert.equal(await visit('POST', '/hook?x=1', HOOK), 200);
  const [item] = await listed(culvert, `/inspector?tunnel_id=${tunnelId}`);
  assert.deepEqual(
    [item?.['method'], item?.['path'], item?.['status'], item?.['request_size']],
    ['POST', '/hook?x=1', 200, 17],
  );
  const { body: shown } = await account.call('GET', `/inspector/${String(item?.['id'])}`);
  const decoded = (field: string) => Buffer.from(String(shown[field]), 'base64').toString();
  assert.deepEqual([decoded('request_body'), decoded('response_body')], [HOOK.body, '{"ok":true}']);
  const headers = shown['request_headers'] as Record<string, string>;
  assert.deepEqual([headers['x-signature'], headers['x-forwarded-proto']], [HOOK.headers['x-signature'], 'http']);
  assert.equal((shown['response_headers'] as Record<string, string>)['set-cookie'], 'a=1\nb=2');
  const trace = shown['trace'] as Item;
  assert.deepEqual([trace['outcome'], trace['code'], shown['http_version']], ['forwarded', null, '1.1']);
  assert.ok(Number(trace['first_byte_ms']) <= Number(shown['latency_ms']));
  const [agent] = (await account.call('GET', '/connections')).body as unknown as Array<{ agent_id: string }>;
  assert.equal(trace['agent_id'], agent?.agent_id);

  const policy = {
    actions: [
      { kind: 'ip_deny', networks: ['192.0.2.0/24'] },
      { kind: 'deny', path_prefix: '/admin' },
    ],
  };
  assert.equal((await account.call('PUT', `/tunnels/${tunnelId}/policy`, policy)).status, 200);
  assert.equal(await visit('GET', '/admin', { headers: { authorization: 'Bearer visitors-own' } }), 403);
  const [refused] = await listed(culvert, '/inspector?status=403');
  const why = await account.call('GET', `/inspector/${String(refused?.['id'])}`);
  const said = why.body['trace'] as Item;
  assert.deepEqual([said['outcome'], said['code'], said['agent_id']], ['refused', 'denied', null]);
  const step = { step: 'deny', index: 1, rule: '/admin', verdict: 'refused', code: 'denied' };
  assert.deepEqual((said['steps'] as Item[]).at(-1), step);
  assert.ok(!JSON.stringify(why.body).includes('visitors-own'));

  assert.equal((await account.call('DELETE', `/inspector?tunnel_id=${tunnelId}`)).status, 200);
  assert.deepEqual(await listed(culvert), []);
});

test('the command that is made of a request sends the same one once more', { skip: missing('curl') }, async (t) => {
  const { culvert, asked, visit } = await startInspectedService(t);
  await visit('PUT', '/hook?x=1', HOOK);
  const [item] = await listed(culvert);
  const answer = await fetch(`${culvert.account.apiUrl}/inspector/${String(item?.['id'])}/curl`, {
    headers: { authorization: `Bearer ${culvert.account.bearer}` },
  });
  const command = (await answer.text()).replace(
    'curl ',
    `curl -fsS --resolve 'shop.localhost:${culvert.httpPort}:127.0.0.1' `,
  );
  const { code, stdout, stderr } = await run(['sh', '-c', command]);
  assert.deepEqual([code, stdout], [0, '{"ok":true}'], stderr);
  const [first, second] = asked;
  assert.equal(second?.line, 'PUT /hook?x=1');
  assert.deepEqual([second?.body, second?.headers], [first?.body, first?.headers]);
});

test('the live feed tells of each request, once, within moments; and the server does not wait for it when it stops', async (t) => {
  const { culvert, visit } = await startInspectedService(t);
  const { account, server } = culvert;
  const socket = new WebSocket(`${account.apiUrl.replace('http', 'ws')}/inspector/ws`, [
    'culvert.inspector',
    `bearer.${account.bearer}`,
  ]);
  const heard: Item[] = [];
  socket.on('message', (data: Buffer) => heard.push(JSON.parse(data.toString())));
  await once(socket, 'open');
  for (let i = 0; i < 20; i++) await visit('GET', `/${i}`);
  await until(() => heard.length >= 20);
  assert.deepEqual(
    heard.map(({ path }) => path),
    Array.from({ length: 20 }, (_, i) => `/${i}`),
  );
  const all = await listed(culvert);
  assert.deepEqual(heard, all.toReversed());
  const closed = once(socket, 'close');
  const begun = Date.now();
  await server.drain();
  assert.equal((await closed)[0], 1001);
  assert.ok(Date.now() - begun < 15_000);
});
