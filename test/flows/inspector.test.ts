/**
 * Requests of visitors on the whole product: recorded at the edge, listed and shown by the API, told live to a program, to a browser and to the
 * command line, and sent again by the command that the inspector makes of them.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { test } from 'node:test';
import { text } from 'node:stream/consumers';
import { WebSocket } from 'ws';
import { type Culvert, startCulvert, startOrigin } from '../harness.ts';
import { NO_CHROMIUM, startChromium } from '../harness/chromium.ts';
import type { Ends } from '../harness/ends.ts';
import { run } from '../harness/tools.ts';

type Item = Readonly<Record<string, unknown>>;

interface Shop {
  readonly culvert: Culvert;
  /** What the service was sent. */
  readonly asked: Array<{
    readonly line: string;
    readonly headers: NodeJS.Dict<string | string[]>;
    readonly body: string;
  }>;
  readonly tunnelId: string;
  visit(method: string, path: string, options?: { headers?: Record<string, string>; body?: string }): Promise<number>;
}

async function startShop(t: Ends): Promise<Shop> {
  const culvert = await startCulvert(t);
  const asked: Shop['asked'] = [];
  const origin = await startOrigin(t, (incoming, response) => {
    void text(incoming).then((body) => {
      asked.push({ line: `${incoming.method} ${incoming.url}`, headers: incoming.headers, body });
      response.writeHead(incoming.url === '/missing' ? 404 : 200, {
        'content-type': 'application/json',
        'set-cookie': ['a=1', 'b=2'],
      });
      response.end('{"ok":true}');
    });
  });
  await culvert.publish('http', origin.port, { subdomain: 'shop' });
  const [tunnel] = (await culvert.account.call('GET', '/tunnels')).body as unknown as Array<{ id: string }>;
  const visit: Shop['visit'] = async (method, path, { headers = {}, body } = {}) => {
    const outgoing = request({
      host: '127.0.0.1',
      port: culvert.httpPort,
      method,
      path,
      headers: { host: `shop.localhost:${culvert.httpPort}`, ...headers },
      agent: false,
    });
    outgoing.end(body);
    const [response] = await once(outgoing, 'response');
    await text(response);
    return response.statusCode;
  };
  return { culvert, asked, tunnelId: tunnel?.id ?? '', visit };
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!isSo()) {
    assert.ok(Date.now() < deadline, isSo.toString());
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const HOOK = {
  headers: { 'content-type': 'application/json', 'x-signature': "it's 'signed'" },
  body: '{"paid": "5 €"}',
};

test('a request is in the list as soon as it was answered, with all that was said; and a refused one says why', async (t) => {
  const { culvert, tunnelId, visit } = await startShop(t);
  const { account } = culvert;
  assert.equal(await visit('POST', '/hook?x=1', HOOK), 200);
  const [item] = (await account.call('GET', `/inspector?tunnel_id=${tunnelId}`)).body as unknown as Item[];
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
  const [refused] = (await account.call('GET', '/inspector?status=403')).body as unknown as Item[];
  const why = await account.call('GET', `/inspector/${String(refused?.['id'])}`);
  const said = why.body['trace'] as Item;
  assert.deepEqual([said['outcome'], said['code'], said['agent_id']], ['refused', 'denied', null]);
  const step = { step: 'deny', index: 1, rule: '/admin', verdict: 'refused', code: 'denied' };
  assert.deepEqual((said['steps'] as Item[]).at(-1), step);
  assert.ok(!JSON.stringify(why.body).includes('visitors-own'));

  assert.equal((await account.call('DELETE', `/inspector?tunnel_id=${tunnelId}`)).status, 200);
  assert.deepEqual((await account.call('GET', '/inspector')).body, []);
});

test('the command that is made of a request sends the same one once more', async (t) => {
  const { culvert, asked, visit } = await startShop(t);
  await visit('PUT', '/hook?x=1', HOOK);
  const [item] = (await culvert.account.call('GET', '/inspector')).body as unknown as Item[];
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
  const { culvert, visit } = await startShop(t);
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
  const listed = (await account.call('GET', '/inspector')).body as unknown as Item[];
  assert.deepEqual(heard, listed.toReversed());
  const closed = once(socket, 'close');
  const begun = Date.now();
  await server.drain();
  assert.equal((await closed)[0], 1001);
  assert.ok(Date.now() - begun < 15_000);
});

/** Opens a WebSocket in a page and tells how that ended; messages become the title. */
const HEAR = `([url, protocols]) => new Promise((resolve) => {
  const socket = new WebSocket(url, protocols);
  socket.onopen = () => resolve('open ' + socket.protocol);
  socket.onmessage = ({ data }) => { document.title = data; };
  socket.onclose = ({ code }) => resolve('closed ' + code);
})`;

test('Chromium listens by the protocol that has no token in it, on a page of the API and not on one of a tunnel', {
  skip: NO_CHROMIUM,
}, async (t) => {
  const { culvert, visit } = await startShop(t);
  const { apiUrl, bearer } = culvert.account;
  const browser = await startChromium(t);
  const page = await browser.newPage();
  const hear = (...protocols: string[]) =>
    page.evaluate(`(${HEAR})(${JSON.stringify([`${apiUrl.replace('http', 'ws')}/inspector/ws`, protocols])})`);
  await page.goto(`${apiUrl}/health`);
  // Which it must select one of: here the only one that was offered.
  assert.equal(await hear(`bearer.${bearer}`), `open bearer.${bearer}`);
  assert.equal(await hear('culvert.inspector', `bearer.${bearer}`), 'open culvert.inspector');
  await visit('GET', '/from-a-visitor');
  await page.waitForFunction(`document.title.includes('/from-a-visitor')`);
  assert.equal(await hear('culvert.inspector'), 'closed 1006');

  await page.goto(`http://shop.localhost:${culvert.httpPort}/`);
  assert.equal(await hear('culvert.inspector', `bearer.${bearer}`), 'closed 1006');
});
