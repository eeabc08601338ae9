/** What others got wrong about pages and feeds that show requests, tried on the inspector of the server and on the page of the agent. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { WebSocket } from 'ws';
import { getHead, OK, startPageFixture } from '../../src/agent/inspect/testing.ts';
import type { Account } from '../harness.ts';
import { request, serverFixture } from './fixture.ts';

const WITHIN = { timeout: 120_000 };
const fixture = serverFixture(async () => '[inspector]\nreplay = true');
const sockets: WebSocket[] = [];
after(() => {
  for (const socket of sockets) socket.terminate();
});

type Item = Readonly<Record<string, unknown>>;

/** What an account hears while it listens. */
async function listen(account: Account, query = ''): Promise<Item[]> {
  const url = account.apiUrl.replace('http', 'ws');
  const socket = new WebSocket(`${url}/inspector/ws${query}`, ['culvert.inspector', `bearer.${account.bearer}`]);
  sockets.push(socket);
  const heard: Item[] = [];
  socket.on('message', (data: Buffer) => heard.push(JSON.parse(data.toString())));
  await once(socket, 'open');
  return heard;
}

/** The status of a handshake that is refused. */
async function refusal(socket: WebSocket): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  socket.once('open', () => reject(new Error('was accepted')));
  socket.once('unexpected-response', (_request, response) => resolve(response.resume().statusCode));
  return promise;
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!isSo()) {
    assert.ok(Date.now() < deadline, isSo.toString());
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function recordsOf(account: Account, query = ''): Promise<readonly Item[]> {
  const { status, body } = await account.call('GET', `/inspector${query}`);
  assert.equal(status, 200);
  return body as unknown as readonly Item[];
}

test('ngrok agent 3.1.1: the page of an agent answers no name that was made to point at it', WITHIN, async (t) => {
  const { ask, pass, port } = await startPageFixture(t);
  pass(getHead('/secret'), OK);
  assert.ok((await ask('/api/requests/http')).text.includes('/secret'));
  for (const host of ['evil.test', `evil.test:${port}`, `127.0.0.1.nip.io:${port}`, `localhost.evil.test:${port}`])
    for (const path of ['/', '/api/requests/http', '/api/tunnels', '/metrics'])
      assert.doesNotMatch((await ask(path, { headers: { host } })).text, /secret|tunnels|culvert_/, `${host} ${path}`);
});

test(
  'ngrok agent 3.1.1: the live feed of the server answers no page of another origin, whatever name led there',
  WITHIN,
  async () => {
    const { ann } = fixture();
    const url = `${ann.apiUrl.replace('http', 'ws')}/inspector/ws`;
    const protocols = ['culvert.inspector', `bearer.${ann.bearer}`];
    const { port } = new URL(ann.apiUrl);
    for (const headers of [
      { origin: 'http://evil.test' },
      { origin: 'null' },
      { origin: `http://evil.test:${port}` },
      { origin: `http://shop.localhost:${port}` },
    ]) {
      assert.equal(await refusal(new WebSocket(url, protocols, { headers })), 403, JSON.stringify(headers));
    }
  },
);

test('wg-portal 316f389: the live feed has the requests of one’s own tunnels, and no other', WITHIN, async () => {
  const { ann, eve, say } = fixture();
  const [hers, theirs] = [await listen(eve), await listen(ann)];
  await say(request('GET /of-ann', 'Host: shop.localhost'));
  await say(request('GET /of-eve', 'Host: shed.localhost'));
  await until(() => hers.length > 0 && theirs.length > 0);
  await until(() => theirs.some(({ path }) => path === '/of-ann') && hers.some(({ path }) => path === '/of-eve'));
  assert.ok(!JSON.stringify(hers).includes('of-ann') && !JSON.stringify(theirs).includes('of-eve'));
});

test(
  'class 10 tenant isolation: requests, exports, feeds and replays of another organization are not found',
  WITHIN,
  async () => {
    const { ann, eve, say, take, tunnelOf, ask } = fixture();
    await say(request('POST /mark-of-ann', 'Host: shop.localhost', 'Content-Length: 2') + '{}');
    const tunnel = await tunnelOf(ann, 'shop');
    const [mine] = await recordsOf(ann, `?tunnel_id=${tunnel}&path=mark-of-ann`);
    const id = String(mine?.['id']);
    take();
    const tries: ReadonlyArray<readonly [string, string]> = [
      ['GET', `/inspector?tunnel_id=${tunnel}`],
      ['GET', `/inspector/har?tunnel_id=${tunnel}`],
      ['GET', `/inspector/unrecorded?tunnel_id=${tunnel}`],
      ['GET', `/inspector/${id}`],
      ['GET', `/inspector/${id}/har`],
      ['GET', `/inspector/${id}/curl`],
      ['POST', `/inspector/${id}/replay`],
      ['DELETE', `/inspector?tunnel_id=${tunnel}`],
    ];
    const as = (account: Account) => ({ authorization: `Bearer ${account.bearer}` });
    for (const [method, path] of tries) {
      const answer = await ask(method, path, undefined, as(eve));
      assert.equal(answer.status, 404, `${method} ${path}`);
      assert.ok(!(await answer.text()).includes('mark-of-ann'));
    }
    assert.deepEqual(take(), [], 'nothing was sent again');
    assert.ok(!JSON.stringify(await recordsOf(eve)).includes('mark-of-ann'));
    assert.ok(!JSON.stringify((await eve.call('GET', '/inspector/har')).body).includes('mark-of-ann'));
    const url = `${eve.apiUrl.replace('http', 'ws')}/inspector/ws?tunnel_id=${tunnel}`;
    const socket = new WebSocket(url, ['culvert.inspector', `bearer.${eve.bearer}`]);
    assert.equal(await refusal(socket), 404);
    for (const [method, path] of tries) assert.equal((await ask(method, path, undefined, as(ann))).status, 200, path);
  },
);

test('class 8 tokens: no record holds what opens a gate, whether it was right or wrong', WITHIN, async () => {
  const { ann, eve, say, ask, tunnelOf, culvert } = fixture();
  const tunnel = await tunnelOf(eve, 'shed');
  const gate = await eve.call('PUT', `/tunnels/${tunnel}/auth`, { username: 'preview', password: 'right-password-1' });
  assert.equal(gate.status, 200);
  const basic = (password: string) => `Authorization: Basic ${Buffer.from(`preview:${password}`).toString('base64')}`;
  const visits = [
    basic('right-password-1'),
    basic('wrong-password-2'),
    'Cookie: culvert_visitor=stolen-pass-3; theme=dark',
  ];
  for (const field of visits) await say(request('GET /gated', 'Host: shed.localhost', field, 'Connection: close'));
  const found = await recordsOf(eve, `?tunnel_id=${tunnel}&path=gated`);
  assert.deepEqual(found.map(({ status }) => status).sort(), [200, 401, 401]);
  const secrets = [...visits.slice(0, 2).map((field) => field.split(' ')[2] ?? ''), 'stolen-pass-3'];
  for (const { id } of found) {
    for (const path of [`/inspector/${String(id)}`, `/inspector/${String(id)}/har?secrets=true`]) {
      const text = JSON.stringify((await eve.call('GET', path)).body);
      for (const secret of secrets) assert.ok(!text.includes(secret), `${path} has ${secret}`);
    }
  }
  assert.equal((await eve.call('DELETE', `/tunnels/${tunnel}/auth`)).status, 200);
  // And an access token, as a visitor or a listener shows it, stands in none of one's own.
  await listen(ann);
  await culvert.get('http://shop.localhost/own', ann.bearer);
  const [own] = await recordsOf(ann, '?path=/own');
  const bearer = { authorization: `Bearer ${ann.bearer}` };
  const command = await ask('GET', `/inspector/${String(own?.['id'])}/curl`, undefined, bearer);
  const text = await command.text();
  assert.ok(text.startsWith("curl 'http://shop.localhost/own'") && !text.includes(ann.bearer), text);
});
