import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { test, type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import { type Logger, silentLog } from '../base/log.ts';
import type { NodeAccess } from '../plane/link.ts';
import { startDataThread } from './data-thread.ts';
import { TestAgent } from './fixtures/agent.ts';
import { testCertificate } from './fixtures/certificate.ts';
import { FakeLink, idOf, testGrant, testRoute } from './fixtures/link.ts';
import { testSettings } from './fixtures/settings.ts';

const tls = await testCertificate();

async function start(t: TestContext, link = new FakeLink(), log: Logger = silentLog) {
  const started = await startDataThread(testSettings(tls), { link, log });
  t.after(() => started.node.close());
  return { link, ...started };
}

/** A thread that runs this, with `data` and a cell to say that it is done. */
function thread(t: TestContext, code: string, data: object): Int32Array {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(code, { eval: true, workerData: { cell, ...data } });
  t.after(() => worker.terminate());
  return cell;
}

const VISITOR = `
  const { workerData: { cell, port, host } } = require('node:worker_threads');
  require('node:http').get({ port, headers: { host } }, (answer) => {
    answer.resume().on('end', () => { Atomics.store(cell, 0, answer.statusCode); Atomics.notify(cell, 0); });
  });`;

test('a visitor is answered while the control plane stands still', async (t) => {
  const link = new FakeLink();
  link.routes.set(idOf('shop'), testRoute('shop', { maintenance: 'back soon' }));
  const { node } = await start(t, link);
  const cell = thread(t, VISITOR, { port: node.addresses.http?.port, host: 'shop.example.test' });
  // This thread does nothing at all until the answer is there.
  Atomics.wait(cell, 0, 0, 60_000);
  assert.equal(cell[0], 503);
});

/** The error code that a visitor of `shop` gets. */
async function visit(node: NodeAccess): Promise<unknown> {
  const { port } = node.addresses.http ?? {};
  const asked = get({ port, headers: { host: 'shop.example.test' } });
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.headers['culvert-error'];
}

test('changes of the control plane reach the thread, and are taken in order', async (t) => {
  const { node, link } = await start(t);
  for (let n = 0; n < 1_000; n++) link.change({ kind: 'put', route: testRoute(`n${n}`) });
  link.change({ kind: 'put', route: testRoute('shop') });
  // Asked behind the changes, and answered behind them.
  await node.stats();
  const answer = await visit(node);
  assert.equal(answer, 'tunnel_offline', 'the name is known');
  assert.equal(link.snapshots, 1, 'no change was missed');
});

test('a listener that can not bind is an error with the code of the system, and no thread is left', async (t) => {
  const squatter = createServer().listen(0, '127.0.0.1');
  await once(squatter, 'listening');
  t.after(() => squatter.close());
  const settings = testSettings(tls);
  const { port } = squatter.address() as { port: number };
  const taken = { ...settings, edge: { ...settings.edge, http: { host: '127.0.0.1', port } } };
  await assert.rejects(startDataThread(taken, { link: new FakeLink(), log: silentLog }), { code: 'EADDRINUSE' });
});

test('a control plane without routes is an error of the start', async () => {
  const link = new FakeLink();
  link.snapshot = () => Promise.reject(new Error('the database is away'));
  await assert.rejects(startDataThread(testSettings(tls), { link, log: silentLog }), /the database is away/);
});

/** Says that it runs, and throws when it is asked for its figures. */
const FAULTY = `
  const { parentPort } = require('node:worker_threads');
  const at = { address: '', family: 'IPv4', port: 1 };
  parentPort.postMessage({ items: [{ tell: 'started', arg: { ok: true, addresses: { http: at, https: null, agents: at } } }] });
  parentPort.on('message', ({ items = [] }) => { if (items.some(({ ask }) => ask === 'stats')) throw new Error('a fault of the thread'); });`;

test('data thread: a thread that ends by a fault is reported, and later calls fail', async () => {
  const startThread = (): Worker => new Worker(FAULTY, { eval: true });
  const { node, failed } = await startDataThread(testSettings(tls), {
    link: new FakeLink(),
    log: silentLog,
    startThread,
  });
  assert.equal(await node.stats(), undefined);
  assert.equal((await failed).message, 'a fault of the thread');
  assert.deepEqual(await node.send({} as never), { ok: false, code: 'overloaded' });
  await assert.rejects(node.setChallenges([]), { name: 'NoAnswer' });
  await node.close();
});

/** Says that it runs, sends a pulse a second for four, then does nothing at all. */
const STUCK = `
  const { parentPort } = require('node:worker_threads');
  const at = { address: '', family: 'IPv4', port: 1 };
  const tell = (tell, arg) => parentPort.postMessage({ items: [{ tell, arg }] });
  tell('started', { ok: true, addresses: { http: at, https: null, agents: at } });
  let pulses = 0;
  setInterval(() => {
    tell('pulse', null);
    if (++pulses === 4) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }, 1_000);`;

test('data thread: a thread that stands still is ended when its time is over', { timeout: 60_000 }, async () => {
  const pulses: unknown[] = [];
  const startThread = (): Worker => new Worker(STUCK, { eval: true }).on('message', (said) => void pulses.push(said));
  const of = { link: new FakeLink(), log: silentLog, startThread, silentMs: 2_500 };
  const { node, failed } = await startDataThread(testSettings(tls), of);
  assert.equal((await failed).message, 'the data thread has not responded for 3 s');
  assert.equal(pulses.length, 5, 'not before its last pulse');
  await node.close();
});

test('a thread that ends before its node runs is an error of the start', async () => {
  const startThread = (): Worker => new Worker('process.exit(3)', { eval: true });
  await assert.rejects(
    startDataThread(testSettings(tls), { link: new FakeLink(), log: silentLog, startThread }),
    /ended with code 3/,
  );
});

test('who is online is known from what the thread tells', async (t) => {
  const link = new FakeLink();
  link.grants.set('key', testGrant('key'));
  const { node } = await start(t, link);
  const agent = await TestAgent.enter(node.addresses.agents.port, 'key');
  // The agent may get its welcome before this thread has read the news of it; an answer of the node comes behind them.
  await node.stats();
  assert.deepEqual(
    node.connections().map(({ hostname, tunnelIds }) => ({ hostname, tunnelIds })),
    [{ hostname: 'box', tunnelIds: [] }],
  );
  await agent.bind('shop');
  await node.stats();
  assert.ok(node.isOnline(idOf('shop')) && node.isTaken(idOf('shop')));
  const [{ agentId } = { agentId: '' }] = node.connections();
  assert.equal(node.disconnect('another'), false);
  assert.equal(node.disconnect(agentId, 'enough'), true);
  assert.match((await agent.next('bye')).message, /enough/);
  while (node.connections().length > 0) await node.stats();
  assert.ok(!node.isOnline(idOf('shop')));
});

test('log lines of the thread come to the log of the server', async (t) => {
  const said: string[] = [];
  const say = (_fields: object, message: string): void => void said.push(message);
  const log: Logger = { error: say, warn: say, info: say, debug: say, child: () => log };
  const link = new FakeLink();
  const { node } = await start(t, link, log);
  // A gap in the numbers is said.
  link.change({ kind: 'put', route: testRoute('lost') }, true);
  link.change({ kind: 'put', route: testRoute('shop') });
  await node.stats();
  // The line and the question go by different ways: either may come first.
  while (link.snapshots < 2) await new Promise((r) => setImmediate(r));
  while (!said.some((line) => line.includes('requesting a snapshot'))) await new Promise((r) => setImmediate(r));
  assert.equal(link.snapshots, 2);
});
