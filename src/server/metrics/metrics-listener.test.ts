/** The metrics listener: what it serves, its clients, and what it refuses. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { AppError } from '../../base/errors.ts';
import { silentLog } from '../../base/log.ts';
import { type MetricsListener, openMetricsListener } from './metrics-listener.ts';

const TOKEN = 'a-token-of-more-than-16-characters';
const PAGE = { contentType: 'text/plain; version=0.0.4; charset=utf-8', text: 'culvert_agent_sessions 3\n' };

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
}

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), 'culvert-metrics-'));
  t.after(() => rmSync(made, { recursive: true }));
  return made;
}

async function open(t: TestContext, tokenFile: string | null, page = async () => PAGE): Promise<MetricsListener> {
  const listener = await openMetricsListener({
    listen: { host: '127.0.0.1', port: 0 },
    tokenFile,
    page,
    log: silentLog,
  });
  t.after(() => listener.close());
  return listener;
}

async function ask({ address }: MetricsListener, { method = 'GET', path = '/metrics', headers = {} }: Asked = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number | undefined;
    type: string | undefined;
    body: string;
  }>();
  const outgoing = request({ host: '127.0.0.1', port: address.port, method, path, headers, agent: false });
  outgoing.on('error', reject);
  outgoing.on('response', (response) => {
    const { statusCode: status, headers: fields } = response;
    text(response).then((body) => resolve({ status, type: fields['content-type'], body }), reject);
  });
  outgoing.end();
  return promise;
}

const bearer = (token: string): Asked => ({ headers: { authorization: `Bearer ${token}` } });

test('metrics listener: on loopback a client that uses an address of this machine may read /metrics alone', async (t) => {
  const listener = await open(t, null);
  assert.deepEqual(await ask(listener), { status: 200, type: PAGE.contentType, body: PAGE.text });
  assert.deepEqual((await ask(listener, { path: '/metrics?x=1' })).status, 200);
  assert.deepEqual(await ask(listener, { method: 'HEAD' }), { status: 200, type: PAGE.contentType, body: '' });
  assert.equal((await ask(listener, { method: 'POST' })).status, 405);
  for (const path of ['/', '/metrics/', '/metricsx', '/superadmin/metrics'])
    assert.equal((await ask(listener, { path })).status, 404, path);
  for (const host of ['localhost', 'localhost:9464', '127.0.0.1', '127.0.0.9:1', '[::1]', '[::1]:9464'])
    assert.equal((await ask(listener, { headers: { host } })).status, 200, host);
  for (const host of [
    'evil.example',
    'evil.example:9464',
    '127.0.0.1.evil.example',
    '203.0.113.5',
    '127.0.0.1@evil.example',
  ])
    assert.equal((await ask(listener, { headers: { host } })).status, 403, host);
});

test('with a token file its content is wanted, as it is now', async (t) => {
  const file = join(folder(t), 'token');
  writeFileSync(file, `${TOKEN}\n`);
  const listener = await open(t, file);
  assert.equal((await ask(listener, bearer(TOKEN))).status, 200);
  assert.equal(
    (await ask(listener, { headers: { authorization: `bearer  ${TOKEN}`, host: 'culvert.example' } })).status,
    200,
  );
  const refused = [{}, bearer(''), bearer(`${TOKEN}x`), bearer(TOKEN.slice(1)), { headers: { authorization: TOKEN } }];
  for (const asked of refused) {
    const { status, body } = await ask(listener, asked);
    assert.equal(status, 401);
    assert.doesNotMatch(body, /culvert_/);
  }
  assert.equal((await ask(listener, { path: '/nothing' })).status, 401, 'nor is it told what there is');
  writeFileSync(file, 'another-token-of-this-size');
  assert.equal((await ask(listener, bearer(TOKEN))).status, 401);
  assert.equal((await ask(listener, bearer('another-token-of-this-size'))).status, 200);
  for (const useless of ['', 'short', 'two words that are long enough']) {
    writeFileSync(file, useless);
    assert.equal((await ask(listener, bearer(useless))).status, 500, useless);
  }
  rmSync(file);
  assert.equal((await ask(listener, bearer('another-token-of-this-size'))).status, 500);
});

test('a token file that is missing or holds nothing of use stops the start', async (t) => {
  const dir = folder(t);
  await assert.rejects(open(t, join(dir, 'none')), /ENOENT/);
  for (const useless of ['', '  \n', 'short', 'two words that are long enough']) {
    writeFileSync(join(dir, 'token'), useless);
    await assert.rejects(open(t, join(dir, 'token')), /must contain one token of at least 16 characters/, useless);
  }
});

test('metrics listener: a failed scrape is logged, and the next one is served', async (t) => {
  const faults: Error[] = [new AppError('unavailable', 'Not now.'), new Error('a secret of the inside')];
  const listener = await open(t, null, async () => {
    const fault = faults.shift();
    if (fault !== undefined) throw fault;
    return PAGE;
  });
  const first = await ask(listener);
  assert.deepEqual([first.status, first.body], [503, 'Not now.\n']);
  const second = await ask(listener);
  assert.equal(second.status, 500);
  assert.doesNotMatch(second.body, /inside/);
  assert.equal((await ask(listener)).status, 200);
});

test('connections are bounded, and a close cuts them', async (t) => {
  const listener = await open(t, null);
  const sockets = Array.from({ length: 60 }, () => connect(listener.address.port, '127.0.0.1'));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  let over = 0;
  await new Promise<void>((resolve) => {
    for (const socket of sockets) {
      socket.on('error', () => {});
      socket.on('close', () => {
        if (++over === 10) resolve();
      });
    }
  });
  await listener.close();
  await listener.close();
  await Promise.all(
    sockets.map((socket) => new Promise((resolve) => (socket.closed ? resolve(0) : socket.on('close', resolve)))),
  );
  assert.equal(over, 60);
});
