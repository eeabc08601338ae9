import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { before, test } from 'node:test';
import { CONNECTED_REPLY } from '../wire/preamble.ts';
import { silentLog } from '../base/log.ts';
import { testCertificate, type TestCertificate } from './fixtures/certificate.ts';
import { TestAgent } from './fixtures/agent.ts';
import { FakeLink, idOf, testGrant, testRoute } from './fixtures/link.ts';
import { testSettings } from './fixtures/settings.ts';
import { startNode } from './node.ts';

let tls: TestCertificate;
before(async () => {
  tls = await testCertificate();
});

test('a start that fails half way closes what it opened', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const tcpPort = (free.address() as AddressInfo).port;
  free.close();
  await once(free, 'close');
  const link = new FakeLink();
  link.routes.set(idOf('db'), testRoute('db', { protocol: 'tcp', subdomain: '', tcpPort }));
  const settings = testSettings(tls);
  const { port } = taken.address() as AddressInfo;
  const failing = { ...settings, agents: { ...settings.agents, listen: { host: '127.0.0.1', port } } };
  await assert.rejects(startNode(failing, { link, log: silentLog }), { code: 'EADDRINUSE' });
  const again = createServer().listen(tcpPort, '127.0.0.1');
  await once(again, 'listening');
  again.close();
  taken.close();
});

test('a node without routes does not start', async () => {
  const link = new FakeLink();
  link.snapshot = () => Promise.reject(new Error('not ready'));
  await assert.rejects(startNode(testSettings(tls), { link, log: silentLog }), /not ready/);
});

test('it answers the control plane, and its batches name the start', async () => {
  const link = new FakeLink();
  link.grants.set('good', testGrant('token-1'));
  const node = await startNode(testSettings(tls), { link, log: silentLog });
  const agent = await TestAgent.enter(node.addresses().agents.port, 'good');
  await agent.bind('shop');
  assert.equal(node.isOnline(idOf('shop')), true);
  assert.equal(node.isOnline(idOf('none')), false);
  const [connection] = node.connections();
  assert.deepEqual(connection?.tunnelIds, [idOf('shop')]);
  assert.equal(node.disconnect(connection?.agentId ?? ''), true);
  await agent.next('bye');
  await node.close();
  await node.close();
  assert.deepEqual(link.agentEvents(), ['online shop', 'offline shop']);
  assert.match(link.batches[0]?.node ?? '', /^edge-1\/[0-9a-f-]{36}$/);
});

test('a visitor reaches the service of an agent by HTTP and HTTPS, and is counted', async () => {
  const link = new FakeLink();
  link.grants.set('good', testGrant('token-1'));
  const settings = testSettings(tls);
  const https = { ...settings, edge: { ...settings.edge, https: { host: '127.0.0.1', port: 0 }, tls } };
  const node = await startNode(https, { link, log: silentLog });
  const agent = await TestAgent.enter(node.addresses().agents.port, 'good');
  await agent.bind('shop');
  answerEach(agent, 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello');
  const headers = { host: 'shop.example.test' };
  const { http, https: secure } = node.addresses();
  const plain = await fetched(request({ host: '127.0.0.1', port: http?.port, headers }));
  assert.equal(plain, '200 hello');
  const to = { host: '127.0.0.1', port: secure?.port, rejectUnauthorized: false, headers };
  assert.equal(await fetched(secureRequest(to)), '200 hello');
  const unknown = await fetched(
    request({ host: '127.0.0.1', port: http?.port, headers: { host: 'none.example.test' } }),
  );
  assert.match(unknown, /^404 /);
  await node.drain(1_000);
  await node.close();
  const requests = link.batches
    .flatMap((batch) => batch.events)
    .reduce((sum, event) => sum + (event.kind === 'usage' ? event.requests : 0), 0);
  assert.equal(requests, 2);
});

/** Answers whatever comes on a stream by one response per request head. */
function answerEach(agent: TestAgent, response: string): void {
  agent.onStream = (stream) => {
    let greeted = false;
    let text = '';
    stream.sink = {
      onData: (of, bytes, start, end) => {
        text += bytes.toString('latin1', start, end);
        of.consumed(end - start);
        if (!greeted) of.write(CONNECTED_REPLY);
        greeted = true;
        for (let at = text.indexOf('\r\n\r\n'); at >= 0; at = text.indexOf('\r\n\r\n')) {
          text = text.slice(at + 4);
          of.write(Buffer.from(response));
        }
      },
      onEnd: (of) => of.end(),
      onReset: () => {},
      onDrain: () => {},
    };
  };
}

/** Status and body of the response, as text. */
async function fetched(sent: ClientRequest): Promise<string> {
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let body = '';
  for await (const chunk of response) body += String(chunk);
  return `${response.statusCode} ${body}`;
}
