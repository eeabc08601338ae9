/** Where an agent is sent to, and what it does not follow. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type TestContext, test } from 'node:test';
import { agentAddress, discover } from './discovery.ts';

const DOCUMENT = { version: '1', agent_address: 'agents.example:7443', edge_domain: 'example' };

async function serving(t: TestContext, listener: RequestListener): Promise<URL> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return new URL(`http://127.0.0.1:${address.port}`);
}

test('asks below the path of the server URL, and follows redirects', async (t) => {
  const asked: Array<string | undefined> = [];
  const url = await serving(t, (request, response) => {
    asked.push(request.url);
    if (request.url === '/api/.well-known/culvert') response.writeHead(308, { location: '/moved' }).end();
    else response.end(JSON.stringify(DOCUMENT));
  });
  const found = await discover(new URL('/api/', url));
  assert.equal(found.agent_address, 'agents.example:7443');
  assert.deepEqual(asked, ['/api/.well-known/culvert', '/moved']);
});

test('does not go round in circles, and reads no endless document', async (t) => {
  const circle = await serving(t, (_request, response) => response.writeHead(302, { location: '/' }).end());
  await assert.rejects(discover(circle), /too many redirects/);
  const endless = await serving(t, (_request, response) => {
    const more = (): void => {
      while (response.write(Buffer.alloc(65_536, ' ')));
    };
    response.on('drain', more);
    more();
  });
  await assert.rejects(discover(endless), /too long/);
});

test('says what is wrong with an answer', async (t) => {
  for (const [status, body, message] of [
    [404, 'x', /responded with 404 .*Is this a Culvert server\?/],
    [200, '<html>', /is not JSON/],
    [200, '{"agent_address": 7}', /can't read/],
    [200, JSON.stringify({ ...DOCUMENT, agent_fingerprint: 'md5:00' }), /can't read/],
  ] as const) {
    const url = await serving(t, (_request, response) => response.writeHead(status).end(body));
    await assert.rejects(discover(url), { message });
  }
});

test('gives up when told to', async (t) => {
  const url = await serving(t, () => {});
  const abort = new AbortController();
  const asked = discover(url, abort.signal);
  abort.abort();
  await assert.rejects(asked);
});

test('an address that means any interface is the host of the server URL', () => {
  const server = new URL('https://tunnel.example.com');
  const at = (agent_address: string): string => {
    const { host, port } = agentAddress({ ...DOCUMENT, agent_address }, server);
    return `${host} ${port}`;
  };
  assert.equal(at('0.0.0.0:7443'), 'tunnel.example.com 7443');
  assert.equal(at('[::]:7443'), 'tunnel.example.com 7443');
  assert.equal(at('[fd00::1]:7443'), 'fd00::1 7443');
  assert.equal(at('10.0.0.1:1'), '10.0.0.1 1');
  for (const bad of ['nowhere', 'x:0', 'x:70000', 'a:b:1', ':1']) assert.throws(() => at(bad), /invalid agent address/);
});
