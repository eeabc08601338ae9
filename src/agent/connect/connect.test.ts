/** The agent against a server on real TLS and a real multiplexer: discovery, pinning, claims, and streams to services. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTls } from 'node:tls';
import { after, before, test, type TestContext } from 'node:test';
import { silentLog } from '../../base/log.ts';
import { testCertificate } from '../../data/fixtures/certificate.ts';
import { REPLY } from '../../wire/preamble.ts';
import { type Agent, type AgentOptions, startAgent } from '../agent.ts';
import { makeConnector } from './connect.ts';
import type { AgentEvent } from '../events.ts';
import { FakeServer } from '../fixtures/fake-server.ts';
import { proxyHeader } from '../local/proxy-header.ts';
import { parseTarget } from '../local/target.ts';

let server: FakeServer;
before(async () => {
  server = await FakeServer.start();
});
after(() => server.close());

interface Running {
  readonly agent: Agent;
  /** Resolves with the next event of the kind, seen or to come; each is given once. */
  event<K extends AgentEvent['kind']>(kind: K): Promise<Extract<AgentEvent, { kind: K }>>;
}

function run(
  t: TestContext,
  target: string,
  options: Partial<AgentOptions> & { on?: FakeServer; protocol?: 'https' } = {},
): Running {
  const connector = makeConnector({ server: (options.on ?? server).url, log: silentLog });
  const events: AgentEvent[] = [];
  const waiting: Array<{ kind: string; resolve: (event: AgentEvent) => void }> = [];
  const agent = startAgent({
    server: (options.on ?? server).url.href,
    tunnels: [{ name: 'web', ...parseTarget(target, options.protocol ?? 'http') }],
    identity: { version: '1', os: 'test', hostname: 'test' },
    token: () => Promise.resolve('mtk_test'),
    open: connector.open,
    log: silentLog,
    onEvent: (event) => {
      const at = waiting.findIndex(({ kind }) => kind === event.kind);
      if (at < 0) events.push(event);
      else waiting.splice(at, 1)[0]?.resolve(event);
    },
    random: () => 0,
    ...options,
  });
  t.after(async () => {
    agent.destroy();
    await agent.done;
    connector.close();
  });
  return {
    agent,
    async event(kind) {
      const at = events.findIndex((event) => event.kind === kind);
      const event =
        at < 0 ? await new Promise<AgentEvent>((resolve) => waiting.push({ kind, resolve })) : events.splice(at, 1)[0];
      return event as Extract<AgentEvent, { kind: typeof kind }>;
    },
  };
}

async function listen(
  t: TestContext,
  onSocket: (socket: Socket) => void,
  make: () => Server = () => createServer({ allowHalfOpen: true }),
): Promise<number> {
  const origin = make();
  const sockets = new Set<Socket>();
  origin.on(
    origin.listenerCount('secureConnection') >= 0 && 'setSecureContext' in origin ? 'secureConnection' : 'connection',
    (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      onSocket(socket);
    },
  );
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    origin.close();
  });
  const address = origin.address();
  assert.ok(typeof address === 'object' && address !== null);
  return address.port;
}

const echo = (socket: Socket): void => {
  socket.on('data', (chunk) => socket.write(chunk));
  socket.on('end', () => socket.end());
};

test('finds the server by discovery, pins its key, claims, and is live', async (t) => {
  const { agent, event } = run(t, '3000');
  const peer = await server.peer();
  const claim = await peer.serve();
  assert.equal(claim.localPort, 3000);
  const { tunnel } = await event('tunnel_online');
  assert.equal(tunnel.url, 'http://calm-otter.localhost:8080');
  assert.equal(agent.view().account, 'a@example.com');
});

test('carries bytes both ways, with the reply first and half-close kept', async (t) => {
  const port = await listen(t, echo);
  const { event } = run(t, `127.0.0.1:${port}`);
  const peer = await server.peer();
  await peer.serve();
  await event('tunnel_online');
  const wire = peer.open(1, Buffer.from('early '));
  wire.stream.write(Buffer.from('and late'));
  wire.stream.end();
  assert.deepEqual(await wire.ended, Buffer.concat([Buffer.from([REPLY.connected, 0]), Buffer.from('early and late')]));
});

test('a preamble cut at every byte is put together', async (t) => {
  const port = await listen(t, echo);
  const { event } = run(t, `127.0.0.1:${port}`);
  const peer = await server.peer();
  await peer.serve();
  await event('tunnel_online');
  const stream = peer.session.open();
  assert.ok(stream !== null);
  const got = Promise.withResolvers<Buffer>();
  stream.sink = {
    onData: (_stream, bytes, start, end) => {
      stream.consumed(end - start);
      if (end - start > 2 || bytes[end - 1] === 0x78) got.resolve(Buffer.from(bytes.subarray(start, end)));
    },
    onEnd: () => {},
    onReset: () => got.reject(new Error('reset')),
    onDrain: () => {},
  };
  for (const byte of [0xc7, 1, 0, 1, 0, 0x78]) {
    stream.write(Buffer.from([byte]));
    await peer.session.ping(); // each byte travels in a frame and a read of its own
  }
  assert.equal((await got.promise).at(-1), 0x78);
  stream.reset();
});

test('a target that asked for it gets the address of each visitor, of those that come side by side too', async (t) => {
  const port = await listen(t, echo);
  const { target } = parseTarget(`127.0.0.1:${port}`, 'tcp', { proxyProtocol: true });
  const { event } = run(t, target.text, { tunnels: [{ name: 'db', protocol: 'tcp', target }] });
  const peer = await server.peer();
  await peer.serve();
  await event('tunnel_online');
  const visitors = [1, 2, 3].map((n) => ({ family: 6, bytes: new Uint8Array(16).fill(n), port: n }) as const);
  const wires = visitors.map((visitor) => peer.open(1, Buffer.from('hello'), visitor));
  for (const [at, wire] of wires.entries()) {
    wire.stream.end();
    const header = proxyHeader(visitors[at], { remoteAddress: '127.0.0.1', remotePort: port });
    assert.deepEqual((await wire.ended).subarray(2), Buffer.concat([header, Buffer.from('hello')]));
  }
});

test('64 MB arrive unchanged in both directions at once', async (t) => {
  const port = await listen(t, echo);
  const { event } = run(t, `127.0.0.1:${port}`);
  const peer = await server.peer();
  await peer.serve();
  await event('tunnel_online');
  const block = Buffer.alloc(65_536, 'culvert!');
  const total = 64 << 20;
  const wire = peer.open(1);
  let sent = 0;
  const pump = (): void => {
    while (sent < total) {
      sent += block.length;
      if (!wire.stream.write(block)) return;
    }
    wire.stream.end();
  };
  const { sink } = wire.stream;
  wire.stream.sink = {
    onData: (stream, bytes, start, end) => sink.onData(stream, bytes, start, end),
    onEnd: (stream) => sink.onEnd(stream),
    onReset: (stream) => sink.onReset(stream),
    onDrain: pump,
  };
  pump();
  const all = await wire.ended;
  assert.equal(all.length, total + 2);
  for (let at = 2; at < all.length; at += block.length) {
    assert.ok(all.compare(block, 0, block.length, at, at + block.length) === 0, `differs in the block at ${at}`);
  }
});

test('a reader that stops makes the service stop: memory stays bounded', async (t) => {
  let written = 0;
  const paused = Promise.withResolvers<void>();
  const port = await listen(t, (socket) => {
    const chunk = Buffer.alloc(65_536);
    const fill = (): void => {
      while (socket.write(chunk)) written += chunk.length;
      written += chunk.length;
      if (written > 1 << 20) paused.resolve();
    };
    socket.on('drain', fill);
    fill();
  });
  const { event } = run(t, `127.0.0.1:${port}`);
  const peer = await server.peer();
  await peer.serve();
  await event('tunnel_online');
  const wire = peer.open(1);
  wire.stalled = true;
  await wire.atLeast(262_144 - 65_536);
  await peer.session.ping();
  assert.ok(wire.received <= 262_144, `${wire.received} bytes came, the window is 262144`);
  wire.stream.reset();
});

test('says why a service can not be reached, to the visitor and once to the user', async (t) => {
  const port = await listen(t, () => {});
  const gone = createServer().listen(0, '127.0.0.1');
  await once(gone, 'listening');
  const address = gone.address();
  assert.ok(typeof address === 'object' && address !== null);
  gone.close();
  await once(gone, 'close');
  assert.notEqual(address.port, port);
  const { agent, event } = run(t, `localhost:${address.port}`);
  const peer = await server.peer();
  await peer.serve();
  await event('tunnel_online');
  for (let i = 0; i < 2; i++) {
    const answer = await peer.open(1, Buffer.from('GET / HTTP/1.1\r\n\r\n')).ended;
    assert.equal(answer[0], REPLY.refused);
    assert.equal(answer.toString('utf8', 2), `localhost:${address.port} refused the connection`);
  }
  assert.match((await event('target')).tunnel.fault ?? '', /refused the connection/);
  const revived = createServer(echo).listen(address.port, '127.0.0.1');
  await once(revived, 'listening');
  t.after(() => revived.close());
  const wire = peer.open(1, Buffer.from('x'));
  assert.equal((await wire.atLeast(3))[0], REPLY.connected);
  assert.equal((await event('target')).tunnel.fault, undefined, 'the second refusal was no news');
  assert.equal(agent.view().tunnels[0]?.fault, undefined);
  wire.stream.end();
  await wire.ended;
});

test('dials nothing for a slot that it does not serve, nor for a preamble that is none', async (t) => {
  const { event } = run(t, '3000');
  const peer = await server.peer();
  await peer.serve();
  await event('tunnel_online');
  assert.equal((await peer.open(77).ended)[0], REPLY.unknownSlot);
  const stream = peer.session.open();
  assert.ok(stream !== null);
  const reset = Promise.withResolvers<void>();
  stream.sink = { onData: () => {}, onEnd: () => {}, onReset: () => reset.resolve(), onDrain: () => {} };
  stream.write(Buffer.from('GET http://169.254.169.254/ HTTP/1.1\r\n'));
  await reset.promise;
});

test('a visitor that leaves cuts the local connection, and the other way round', async (t) => {
  const closed = Promise.withResolvers<void>();
  const port = await listen(t, (socket) => {
    socket.on('data', (chunk) => {
      if (chunk.toString() === 'die') socket.resetAndDestroy();
      else socket.write('yo');
    });
    socket.on('close', () => closed.resolve());
  });
  const { agent, event } = run(t, `127.0.0.1:${port}`);
  const peer = await server.peer();
  await peer.serve();
  await event('tunnel_online');
  const visitor = peer.open(1, Buffer.from('hi'));
  await visitor.atLeast(4);
  assert.equal(agent.view().inFlight, 1);
  visitor.stream.reset();
  await closed.promise;
  await peer.open(1, Buffer.from('die')).reset;
  await peer.session.ping();
  assert.equal(agent.view().inFlight, 0);
});

test('speaks TLS to an https target, whatever its certificate, and checks it when asked', async (t) => {
  const certificate = await testCertificate();
  const port = await listen(t, echo, () => createTls({ ...certificate, allowHalfOpen: true }));
  const { event } = run(t, `127.0.0.1:${port}`, { protocol: 'https' });
  const peer = await server.peer();
  await peer.serve();
  await event('tunnel_online');
  const wire = peer.open(1, Buffer.from('secret'));
  assert.equal((await wire.atLeast(8)).toString('utf8', 2), 'secret');
  wire.stream.reset();

  const strict = run(t, `127.0.0.1:${port}`, {
    tunnels: [{ name: 'web', ...parseTarget(`127.0.0.1:${port}`, 'https', { verifyTls: true }) }],
  });
  const second = await server.peer();
  await second.serve();
  await strict.event('tunnel_online');
  const answer = await second.open(1).ended;
  assert.equal(answer[0], REPLY.failed);
  assert.match(answer.toString('utf8', 2), /self-signed certificate/);
});

test('drains: streams in flight finish, new ones are turned away, then it is over', async (t) => {
  const port = await listen(t, echo);
  const { agent, event } = run(t, `127.0.0.1:${port}`);
  const peer = await server.peer();
  await peer.serve();
  await event('tunnel_online');
  const wire = peer.open(1, Buffer.from('a'));
  await wire.atLeast(3);
  agent.drain();
  await peer.hear('drain');
  assert.equal((await peer.open(1).ended)[0], REPLY.draining);
  wire.stream.write(Buffer.from('b'));
  wire.stream.end();
  assert.equal((await wire.ended).toString('utf8', 2), 'ab');
  assert.deepEqual(await agent.done, { code: 0, message: 'stopped' });
  await peer.closed;
});

test('comes back by itself when the server crashes, with the same name', async (t) => {
  const { event } = run(t, '3000');
  await (await server.peer()).serve();
  await event('tunnel_online');
  for (let i = 0; i < 5; i++) {
    server.cut();
    await event('tunnel_offline');
    const claim = await (await server.peer()).serve();
    assert.equal(claim.subdomain, 'calm-otter');
    await event('tunnel_online');
  }
});

test('a server of another key than announced gets no token', async (t) => {
  const other = await FakeServer.start();
  t.after(() => other.close());
  other.fingerprint = `sha256:${'00'.repeat(32)}`;
  const { event } = run(t, '3000', { on: other });
  assert.match((await event('retrying')).cause, /the TLS key does not match the one that the server announced/);
  assert.deepEqual(
    other.peers.flatMap((peer) => peer.received),
    [],
  );
});

test('without a fingerprint the certificate must be valid: a self-signed one gets no token', async (t) => {
  const other = await FakeServer.start();
  t.after(() => other.close());
  other.fingerprint = undefined;
  const { event } = run(t, '3000', { on: other });
  assert.match((await event('retrying')).cause, /self-signed certificate/);
  assert.deepEqual(
    other.peers.flatMap((peer) => peer.received),
    [],
  );
});

test('a server that is no Culvert server, or absent, is tried again', async (t) => {
  const other = await FakeServer.start();
  other.discoveryStatus = 404;
  const { agent, event } = run(t, '3000', { on: other });
  assert.match((await event('retrying')).cause, /responded with 404 .*Is this a Culvert server\?/);
  other.discoveryStatus = 502;
  assert.match(
    (await event('retrying')).cause,
    /responded with 502: the Culvert server behind this proxy does not respond/,
  );
  await other.close();
  assert.match((await event('retrying')).cause, /ECONNREFUSED/);
  assert.equal(agent.view().state === 'stopped', false);
});

test('a server that breaks the protocol is left', async (t) => {
  for (const raw of ['not json\n', '{"type":"unheard"}\n', 'x'.repeat(70_000)]) {
    const { agent, event } = run(t, '3000');
    const peer = await server.peer();
    await peer.hear('hello');
    peer.sayRaw(raw);
    assert.match((await event('retrying')).cause, /violated the protocol/);
    agent.destroy();
    await agent.done;
  }
});
