import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { TestIssuer } from '../../fixtures/issuer.ts';
import { fetchJson } from './key-fetch.ts';

/** A plain server on loopback: its port. */
async function plain(t: TestContext, answer: RequestListener): Promise<number> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test('nothing is sent to an address that is not public, by number or by name', async (t) => {
  const issuer = await TestIssuer.start(t);
  const { port } = new URL(issuer.url);
  const rules = { allowPrivate: false, ca: issuer.ca };
  for (const host of [
    '127.0.0.1',
    'localhost',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '2130706433',
    '0x7f.1',
    '10.0.0.1',
    '169.254.169.254',
  ])
    await assert.rejects(fetchJson(`https://${host}:${port}/keys`, rules), /not a public address/, host);
  assert.deepEqual(issuer.asked, []);
  assert.deepEqual(await fetchJson(issuer.jwksUrl, { ...rules, allowPrivate: true }), { keys: issuer.keys });
});

test('https alone, but for this very machine when private addresses are allowed', async (t) => {
  const port = await plain(t, (_request, response) => response.end('{"keys":[]}'));
  const url = `http://127.0.0.1:${port}/`;
  await assert.rejects(fetchJson(url, { allowPrivate: false }), /over HTTPS only/);
  await assert.rejects(fetchJson(`http://10.0.0.1:${port}/`, { allowPrivate: true }), /over HTTPS only/);
  assert.deepEqual(await fetchJson(url, { allowPrivate: true }), { keys: [] });
});

test('key fetch: an untrusted certificate is refused', async (t) => {
  const issuer = await TestIssuer.start(t);
  await assert.rejects(fetchJson(issuer.jwksUrl, { allowPrivate: true }), /self-signed/);
});

test('no redirect is followed, and no more than 256 KB are read', async (t) => {
  const asked: string[] = [];
  const port = await plain(t, (request, response) => {
    asked.push(request.url ?? '');
    if (request.url === '/away') response.writeHead(302, { Location: '/keys' }).end();
    else if (request.url === '/endless') {
      const more = (): void => {
        while (response.write(' '.repeat(16_384)));
        response.once('drain', more);
      };
      more();
    } else response.end('<html>');
  });
  const at = (path: string): Promise<unknown> => fetchJson(`http://127.0.0.1:${port}${path}`, { allowPrivate: true });
  await assert.rejects(at('/away'), /302/);
  await assert.rejects(at('/endless'), /256 KB/);
  await assert.rejects(at('/page'), SyntaxError);
  assert.deepEqual(asked, ['/away', '/endless', '/page']);
});

test('key set: JSON that is nested too deep is refused before it is parsed', async (t) => {
  for (const body of ['['.repeat(120_000) + ']'.repeat(120_000), `{"keys":${'['.repeat(32)}${']'.repeat(32)}}`]) {
    const port = await plain(t, (_request, response) => response.end(body));
    await assert.rejects(fetchJson(`http://127.0.0.1:${port}/`, { allowPrivate: true }), /nested too deeply/);
  }
});
