/** Requests to providers whose addresses were typed into the dashboard. */
import assert from 'node:assert/strict';
import dns from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import * as client from 'openid-client';
import { OIDC_CLIENT, startOidc } from '../../../test/harness/oidc.ts';
import { anyLookup } from '../../base/net/outbound/name-lookup.ts';
import { fetchFor, lookedUpFetch } from './bounded-fetch.ts';

/** A server on loopback, by name. */
async function serve(t: TestContext, answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

test('a provider that was typed in: what was checked is what is connected to', async (t) => {
  let asked = 0;
  const url = await serve(t, (_, response) => {
    asked += 1;
    response.end('secret of the network');
  });
  // The name server says one thing to the check, and another to the connection.
  t.mock.method(dns, 'lookup', async () => [{ address: '1.1.1.1', family: 4 }]);
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  await assert.rejects(fetchFor({ isPublic: true })(url, { method: 'GET' }), /localhost is not a public address/);
  await assert.rejects(
    fetchFor({ isPublic: true })(url.replace('localhost', '127.0.0.1'), { method: 'GET' }),
    /127\.0\.0\.1 has a private address/,
  );
  assert.equal(asked, 0);
});

test('a provider that was typed in: a request and its response are those of fetch', async (t) => {
  const url = await serve(t, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (request.url === '/large') response.end(Buffer.alloc(600_000));
      else if (request.url === '/moved') response.writeHead(302, { location: '/large' }).end();
      else if (request.url === '/token')
        response
          .writeHead(401, { 'content-type': 'application/json', 'www-authenticate': 'Basic' })
          .end(JSON.stringify([request.method, request.headers['content-type'], Buffer.concat(parts).toString()]));
    });
  });
  const post = { method: 'POST', body: new URLSearchParams({ code: 'a b' }) };
  const told = await lookedUpFetch(`${url}/token`, post, anyLookup);
  assert.deepEqual([told.status, told.headers.get('www-authenticate')], [401, 'Basic']);
  assert.deepEqual(await told.json(), ['POST', 'application/x-www-form-urlencoded;charset=UTF-8', 'code=a+b']);
  const moved = await lookedUpFetch(`${url}/moved`, { method: 'GET' }, anyLookup);
  assert.deepEqual([moved.status, await moved.text()], [302, '']);
  await assert.rejects(lookedUpFetch(`${url}/large`, { method: 'GET' }, anyLookup), /larger than 512 KB/);
  const signal = AbortSignal.timeout(50);
  await assert.rejects(lookedUpFetch(`${url}/hangs`, { method: 'GET', signal }, anyLookup), /aborted/);
});

test('a provider that was typed in: the library finds an issuer and asks it about a code', async (t) => {
  const oidc = await startOidc(t);
  oidc.register('http://127.0.0.1/callback');
  const config = await client.discovery(new URL(oidc.issuer), OIDC_CLIENT.id, OIDC_CLIENT.secret, undefined, {
    execute: [client.allowInsecureRequests],
    [client.customFetch]: (url, options) => lookedUpFetch(url, options, anyLookup),
  });
  assert.equal(config.serverMetadata().issuer, oidc.issuer);
  const asked = { code: 'none', redirect_uri: 'http://127.0.0.1/callback', code_verifier: 'x'.repeat(43) };
  await assert.rejects(client.genericGrantRequest(config, 'authorization_code', asked), { error: 'invalid_grant' });
});
