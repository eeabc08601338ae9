import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { before, test } from 'node:test';
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
