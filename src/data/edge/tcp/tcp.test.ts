import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { before, test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { freePort } from '../../../../test/harness/config.ts';
import { silentLog } from '../../../base/log.ts';
import type { MuxStream } from '../../../mux/stream.ts';
import { CONNECTED_REPLY, decodePreamble, encodeReply, type Preamble, REPLY } from '../../../wire/preamble.ts';
import { TestAgent } from '../../fixtures/agent.ts';
import { testCertificate, type TestCertificate } from '../../fixtures/certificate.ts';
import { until } from '../../fixtures/gateway.ts';
import { FakeLink, idOf, testGrant, testRoute } from '../../fixtures/link.ts';
import { type DataNode, startNode } from '../../node.ts';
import { testSettings } from '../../fixtures/settings.ts';

let tls: TestCertificate;
before(async () => {
  tls = await testCertificate();
});

async function nodeOf(
  t: TestContext,
  link: FakeLink,
  over: Parameters<typeof testSettings>[1] = {},
): Promise<DataNode> {
  link.grants.set('good', testGrant('token-1'));
  const node = await startNode(testSettings(tls, over), { link, log: silentLog });
  t.after(() => node.close());
  return node;
}

/** Answers each stream by `serve` once its preamble is there; gives the bytes behind the preamble to `onBytes`. */
function serveStreams(agent: TestAgent, serve: (stream: MuxStream, preamble: Preamble, first: Buffer) => void): void {
  agent.onStream = (stream) => {
    let held = Buffer.alloc(0);
    stream.sink = {
      onData: (of, bytes, start, end) => {
        held = Buffer.concat([held, bytes.subarray(start, end)]);
        of.consumed(end - start);
        const preamble = decodePreamble(held, 0, held.length);
        if (preamble === 'more') return;
        assert.notEqual(preamble, 'bad');
        if (preamble !== 'bad') serve(stream, preamble, held.subarray(preamble.size));
      },
      onEnd: () => stream.end(),
      onReset: () => {},
      onDrain: () => {},
    };
  };
}

/**
 * Sends back whatever comes, as a local echo service: reads nothing more while its answer waits. What the window has let through until then is kept
 * here, for a stream takes no more than 1 MB beyond its window.
 */
function echo(stream: MuxStream, _preamble: Preamble, first: Buffer): void {
  const kept: Buffer[] = [];
  let isFull = false;
  let isEnding = false;
  const send = (bytes: Buffer): void => {
    isFull = !stream.write(bytes);
    stream.consumed(bytes.length);
  };
  stream.sink = {
    onData: (_of, bytes, start, end) => {
      if (isFull) kept.push(Buffer.from(bytes.subarray(start, end)));
      else send(bytes.subarray(start, end));
    },
    onEnd: () => {
      isEnding = true;
      if (kept.length === 0) stream.end();
    },
    onReset: () => {},
    onDrain: () => {
      isFull = false;
      for (let next = kept.shift(); next !== undefined; next = isFull ? undefined : kept.shift()) send(next);
      if (isEnding && kept.length === 0) stream.end();
    },
  };
  stream.write(CONNECTED_REPLY);
  stream.write(first);
}

async function all(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function closeOf(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let code = 'end';
    socket.on('error', (error: NodeJS.ErrnoException) => (code = error.code ?? 'error'));
    socket.on('close', () => resolve(code));
    socket.resume();
  });
}

test('bytes go both ways with half-close, counted, the visitor named in the preamble', async (t) => {
  const link = new FakeLink();
  const node = await nodeOf(t, link);
  const port = await freePort();
  const agent = await TestAgent.enter(node.addresses().agents.port, 'good');
  const seen: Preamble[] = [];
  serveStreams(agent, (stream, preamble, first) => {
    seen.push(preamble);
    echo(stream, preamble, first);
  });
  const { slot } = await agent.bind('db', { protocol: 'tcp', localPort: port });
  const visitor = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  await once(visitor, 'connect');
  const from = visitor.localPort;
  const body = Buffer.alloc(3_000_000, 'culvert ');
  visitor.end(body);
  assert.deepEqual(await all(visitor), body);
  assert.equal(seen[0]?.slot, slot);
  assert.deepEqual(seen[0]?.visitor, { family: 4, bytes: Uint8Array.of(127, 0, 0, 1), port: from });
  await node.drain(1_000);
  await node.close();
  const usage = link.batches.flatMap((b) => b.events).filter((e) => e.kind === 'usage');
  const sum = (of: 'requests' | 'bytesIn' | 'bytesOut'): number => usage.reduce((n, e) => n + e[of], 0);
  assert.deepEqual([sum('requests'), sum('bytesIn'), sum('bytesOut')], [1, body.length, body.length]);
  assert.ok(usage.every((e) => e.tunnelId === idOf('db') && e.tokenId === 'token-1'));
  agent.destroy();
});

test('the reply may come in pieces and with the first bytes behind it', async (t) => {
  const node = await nodeOf(t, new FakeLink());
  const port = await freePort();
  const agent = await TestAgent.enter(node.addresses().agents.port, 'good');
  await agent.bind('db', { protocol: 'tcp', localPort: port });
  for (const cut of [0, 1, 2, 3]) {
    serveStreams(agent, (stream) => {
      const answer = Buffer.concat([CONNECTED_REPLY, Buffer.from('hello')]);
      stream.write(answer.subarray(0, cut));
      setImmediate(() => {
        stream.write(answer.subarray(cut));
        stream.end();
      });
    });
    const visitor = connect(port, '127.0.0.1');
    assert.equal((await all(visitor)).toString(), 'hello');
  }
  agent.destroy();
});

test('a service that refuses, a stream that is reset and a tunnel without agent close the visitor', async (t) => {
  const link = new FakeLink();
  const port = await freePort();
  link.routes.set(idOf('db'), testRoute('db', { protocol: 'tcp', subdomain: '', tcpPort: port }));
  const node = await nodeOf(t, link);
  assert.equal(await closeOf(connect(port, '127.0.0.1')), 'ECONNRESET', 'no agent');
  const agent = await TestAgent.enter(node.addresses().agents.port, 'good');
  await agent.bind('db', { protocol: 'tcp', localPort: port });
  serveStreams(agent, (stream) => void stream.write(encodeReply(REPLY.refused, 'connection refused')));
  assert.equal(await closeOf(connect(port, '127.0.0.1')), 'ECONNRESET', 'refused');
  agent.onStream = (stream) => stream.reset();
  assert.equal(await closeOf(connect(port, '127.0.0.1')), 'ECONNRESET', 'reset');
  agent.destroy();
});

test('a port in use refuses its tunnel and opens for a later claim', async (t) => {
  const node = await nodeOf(t, new FakeLink());
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const agent = await TestAgent.enter(node.addresses().agents.port, 'good');
  agent.claim('db', { protocol: 'tcp', localPort: port });
  assert.equal((await agent.next('refused')).code, 'no_port_free');
  other.close();
  await once(other, 'close');
  serveStreams(agent, echo);
  await agent.bind('db', { protocol: 'tcp', localPort: port });
  const visitor = connect(port, '127.0.0.1');
  visitor.end('x');
  assert.equal((await all(visitor)).toString(), 'x');
  agent.destroy();
});

test('a deleted tunnel closes its port and cuts its visitors', async (t) => {
  const link = new FakeLink();
  const node = await nodeOf(t, link);
  const port = await freePort();
  const agent = await TestAgent.enter(node.addresses().agents.port, 'good');
  serveStreams(agent, echo);
  await agent.bind('db', { protocol: 'tcp', localPort: port });
  const visitor = connect(port, '127.0.0.1');
  visitor.write('x');
  await once(visitor, 'data');
  const closed = closeOf(visitor);
  link.change({ kind: 'remove', tunnelId: idOf('db'), code: 'tunnel_deleted', message: '' });
  assert.equal(await closed, 'ECONNRESET');
  assert.equal(await closeOf(connect(port, '127.0.0.1')), 'ECONNREFUSED');
  agent.destroy();
});

test('what a superseded agent still carries counts for its own key, and the cap of that key cuts it', async (t) => {
  const link = new FakeLink();
  const node = await nodeOf(t, link);
  const port = await freePort();
  const month = new Date().toISOString().slice(0, 7);
  const keys = ['capped', 'free'].map((id) => ({ accountId: id, month, spentCents: 0, capCents: null }));
  for (const budget of keys) link.grants.set(budget.accountId, testGrant(budget.accountId, { budgets: [budget] }));
  const visitors: Socket[] = [];
  for (const { accountId } of keys) {
    const agent = await TestAgent.enter(node.addresses().agents.port, accountId);
    t.after(() => agent.destroy());
    serveStreams(agent, echo);
    await agent.bind('db', { protocol: 'tcp', localPort: port });
    const visitor = connect(port, '127.0.0.1');
    // Cut at the end, when nothing of the test listens any more.
    visitor.on('error', () => {});
    t.after(() => visitor.destroy());
    visitors.push(visitor);
    visitor.write('first');
    await once(visitor, 'data');
  }
  const [old, young] = visitors as [Socket, Socket];
  old.write('then');
  await once(old, 'data');
  const cut = closeOf(old);
  link.change({ kind: 'budget', budget: { accountId: 'capped', month, spentCents: 0, capCents: 0 } });
  assert.equal(await cut, 'ECONNRESET');
  young.write('on');
  assert.equal(String((await once(young, 'data'))[0]), 'on');
  await node.close();
  const events = link.batches.flatMap((b) => b.events).filter((e) => e.kind === 'usage');
  const sums = keys.map(({ accountId }) => {
    const own = events.filter((e) => e.tokenId === accountId);
    return [own.reduce((n, e) => n + e.requests, 0), own.reduce((n, e) => n + e.bytesIn, 0)];
  });
  assert.deepEqual(sums, [
    [1, 'firstthen'.length],
    [1, 'firston'.length],
  ]);
});

test('a port goes over to another tunnel at once', async (t) => {
  const link = new FakeLink();
  const node = await nodeOf(t, link);
  const port = await freePort();
  const agent = await TestAgent.enter(node.addresses().agents.port, 'good');
  const slots: number[] = [];
  serveStreams(agent, (stream, preamble, first) => {
    slots.push(preamble.slot);
    echo(stream, preamble, first);
  });
  await agent.bind('old', { protocol: 'tcp', localPort: port });
  link.change({ kind: 'remove', tunnelId: idOf('old'), code: 'tunnel_deleted', message: '' });
  link.change({ kind: 'put', route: testRoute('new', { protocol: 'tcp', tcpPort: port }) });
  await agent.next('unbound');
  const { slot } = await agent.bind('new', { protocol: 'tcp', localPort: port });
  const visitor = connect(port, '127.0.0.1');
  visitor.end('x');
  assert.equal((await all(visitor)).toString(), 'x');
  assert.deepEqual(slots, [slot]);
  agent.destroy();
});

test('visitors are bounded per address', async (t) => {
  const node = await nodeOf(t, new FakeLink(), { maxConnectionsPerIp: 2 });
  const port = await freePort();
  const agent = await TestAgent.enter(node.addresses().agents.port, 'good');
  serveStreams(agent, echo);
  await agent.bind('db', { protocol: 'tcp', localPort: port });
  const open = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
  for (const visitor of open) {
    visitor.write('x');
    await once(visitor, 'data');
  }
  assert.equal(await closeOf(connect(port, '127.0.0.1')), 'ECONNRESET');
  open[0]?.destroy();
  for (let tries = 0; ; tries++) {
    const visitor = connect(port, '127.0.0.1');
    visitor.end('x');
    const answer = await all(visitor).catch(() => Buffer.alloc(0));
    if (answer.toString() === 'x') break;
    assert.ok(tries < 100, 'the place of a visitor that left is free again');
    await turn();
  }
  open[1]?.destroy();
  agent.destroy();
});

test('tcp: the policy allows or blocks addresses', async (t) => {
  const link = new FakeLink();
  const node = await nodeOf(t, link);
  const port = await freePort();
  const agent = await TestAgent.enter(node.addresses().agents.port, 'good');
  serveStreams(agent, echo);
  await agent.bind('db', { protocol: 'tcp', localPort: port });
  const under = (kind: 'ip_allow' | 'ip_deny', network: string, enforce = true): void => {
    const policy = { setAt: 0, actions: [{ kind, networks: [network], enforce }] };
    link.change({ kind: 'put', route: testRoute('db', { protocol: 'tcp', tcpPort: port, subdomain: '', policy }) });
  };
  const visit = async (): Promise<string> => {
    const visitor = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const got = all(visitor).then(String, () => 'cut');
    visitor.end('hello');
    return got;
  };
  assert.equal(await visit(), 'hello');
  for (const [kind, network, enforce, expected] of [
    ['ip_allow', '10.0.0.0/8', true, 'cut'],
    ['ip_allow', '10.0.0.0/8', false, 'hello'],
    ['ip_allow', '127.0.0.0/8', true, 'hello'],
    ['ip_deny', '127.0.0.1', true, 'cut'],
    ['ip_deny', '127.0.0.2', true, 'hello'],
  ] as const) {
    under(kind, network, enforce);
    assert.equal(await visit(), expected, `${kind} ${network} ${enforce}`);
  }
  await node.close();
  const told = link.batches.flatMap(({ events }) => events).filter((event) => event.kind === 'dry_run');
  assert.deepEqual(
    told.map(({ action, refused, sample }) => ({ action, refused, sample })),
    [
      {
        action: 'ip_allow',
        refused: 1,
        sample: { method: null, path: null, clientIp: '127.0.0.1', code: 'denied' },
      },
    ],
  );
  agent.destroy();
});

test('a drain waits for visitors and cuts those that stay', async (t) => {
  const node = await nodeOf(t, new FakeLink());
  const port = await freePort();
  const agent = await TestAgent.enter(node.addresses().agents.port, 'good');
  serveStreams(agent, echo);
  await agent.bind('db', { protocol: 'tcp', localPort: port });
  const visitor = connect(port, '127.0.0.1');
  visitor.write('x');
  await once(visitor, 'data');
  const draining = node.drain(60_000);
  await agent.next('drain');
  assert.equal(await closeOf(connect(port, '127.0.0.1')), 'ECONNREFUSED');
  visitor.write('y');
  assert.equal(String((await once(visitor, 'data'))[0]), 'y', 'goes on while the server drains');
  visitor.end();
  await draining;
  await node.close();
  assert.equal((await agent.next('bye')).code, 'server_shutdown');
});

test('hold: a TCP visitor waits for an agent that was lost, with what it has sent, and one that leaves frees its place', async (t) => {
  const link = new FakeLink();
  link.grants.set('good', testGrant('token-1'));
  const port = await freePort();
  const settings = testSettings(tls);
  const node = await startNode({ ...settings, edge: { ...settings.edge, holdSeconds: 60 } }, { link, log: silentLog });
  t.after(() => node.close());
  const agentPort = node.addresses().agents.port;
  const first = await TestAgent.enter(agentPort, 'good');
  await first.bind('db', { protocol: 'tcp', localPort: port });
  first.socket.destroy();
  const waiting = (count: number) => until(() => node.stats().holds.waiting === count);
  await until(() => node.connections().length === 0);
  const visitor = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  visitor.on('error', () => undefined);
  visitor.end('said before');
  await waiting(1);
  const leaver = connect({ port, host: '127.0.0.1' });
  leaver.on('error', () => undefined);
  await waiting(2);
  leaver.destroy();
  await waiting(1);
  const second = await TestAgent.enter(agentPort, 'good');
  serveStreams(second, echo);
  await second.bind('db', { protocol: 'tcp', localPort: port });
  let heard = '';
  visitor.on('data', (chunk: Buffer) => (heard += chunk.toString()));
  await until(() => heard === 'said before');
  // A tunnel that is stopped cuts who waits for it.
  second.socket.destroy();
  await until(() => node.connections().length === 0);
  const late = connect({ port, host: '127.0.0.1' });

  const closed = closeOf(late);
  await waiting(1);
  link.change({ kind: 'put', route: { ...testRoute('db', { protocol: 'tcp', tcpPort: port }), stopped: true } });
  assert.equal(await closed, 'ECONNRESET');
  visitor.destroy();
  second.destroy();
});
