import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { OpenAPIHono } from '@hono/zod-openapi';
import { NetworkSet } from '../../../../base/net/addr.ts';
import { silentLog } from '../../../../base/log.ts';
import type { ApiEnv } from '../context.ts';
import { listenApi } from './listener.ts';

const OK = 'GET /ok HTTP/1.1\r\nHost: a\r\n\r\n';

interface Rig {
  readonly warnings: object[];
  now: number;
  /** A connection from that address of this machine, once the server knows it. */
  open(from: string): Promise<Socket>;
  /** True when a request is answered; false when the connection ends instead. */
  ask(socket: Socket, request?: string): Promise<boolean>;
  /** Resolves once `GET /wait` is being served. */
  readonly arrived: Promise<void>;
  /** Ends the waits of `GET /wait`. */
  finish(): void;
}

async function rigOf(t: TestContext, max: { total: number; perSource: number }, exempt: string[] = []): Promise<Rig> {
  const app = new OpenAPIHono<ApiEnv>();
  const waiting = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  app.get('/ok', (c) => c.text('fine'));
  app.get('/wait', async (c) => {
    arrived.resolve();
    await waiting.promise;
    return c.text('waited');
  });
  const warnings: object[] = [];
  const log = { ...silentLog, warn: (fields: object) => void warnings.push(fields) };
  const sockets: Socket[] = [];
  const rig: Rig = {
    warnings,
    now: 0,
    open: async (from) => {
      const socket = connect({ port: listener.address.port, host: '127.0.0.1', localAddress: from });
      socket.on('error', () => {});
      sockets.push(socket);
      await once(socket, 'connect');
      return socket;
    },
    ask: async (socket, request = OK) => {
      if (socket.destroyed) return false;
      socket.write(request);
      return new Promise((resolve) => {
        socket.once('data', () => resolve(true));
        socket.once('close', () => resolve(false));
      });
    },
    arrived: arrived.promise,
    finish: () => waiting.resolve(),
  };
  const listener = await listenApi(
    app,
    { host: '127.0.0.1', port: 0 },
    {
      exempt: new NetworkSet(exempt),
      monotonic: () => rig.now,
      log,
      max,
      // Accepts what asks for a feed, and leaves what asks for a wait open as it is.
      upgrades: {
        wants: () => true,
        take: async ({ request, socket, accepted }) => {
          sockets.push(socket);
          if (request.url === '/feed') accepted();
          socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
        },
      },
    },
  );
  t.after(async () => {
    rig.finish();
    for (const socket of sockets) socket.destroy();
    await listener.close();
  });
  return rig;
}

test('connection limit: a source at its limit loses its own longest idle connection', async (t) => {
  const rig = await rigOf(t, { total: 10, perSource: 2 });
  const other = await rig.open('127.0.0.9');
  assert.ok(await rig.ask(other));
  const [first, second] = [await rig.open('127.0.0.1'), await rig.open('127.0.0.1')];
  assert.ok((await rig.ask(second)) && (await rig.ask(first)));
  const third = await rig.open('127.0.0.1');
  assert.ok(await rig.ask(third));
  assert.equal(await rig.ask(second), false, 'it was idle for longer than the first');
  assert.ok((await rig.ask(first)) && (await rig.ask(other)));
});

test('a source whose connections are all busy gets no other, until one is done', async (t) => {
  const rig = await rigOf(t, { total: 10, perSource: 1 });
  const busy = await rig.open('127.0.0.1');
  const answered = rig.ask(busy, OK.replace('/ok', '/wait'));
  await rig.arrived;
  assert.equal(await rig.ask(await rig.open('127.0.0.1')), false);
  assert.ok(await rig.ask(await rig.open('127.0.0.9')), 'another source is served');
  rig.finish();
  assert.ok(await answered);
  assert.ok(await rig.ask(await rig.open('127.0.0.1')));
});

test('the whole has a bound too, at which the longest idle connection of all gives way', async (t) => {
  const rig = await rigOf(t, { total: 3, perSource: 2 });
  const held = [await rig.open('127.0.0.1'), await rig.open('127.0.0.1'), await rig.open('127.0.0.2')];
  for (const socket of held) assert.ok(await rig.ask(socket));
  const late = await rig.open('127.0.0.3');
  assert.ok(await rig.ask(late));
  assert.deepEqual(await Promise.all(held.map((socket) => rig.ask(socket))), [false, true, true]);
});

test('an exempt source has the bound of the whole alone', async (t) => {
  const rig = await rigOf(t, { total: 5, perSource: 1 }, ['127.0.0.0/24']);
  const sockets = [await rig.open('127.0.0.1'), await rig.open('127.0.0.1'), await rig.open('127.0.0.1')];
  for (const socket of sockets) assert.ok(await rig.ask(socket));
  for (const socket of sockets) assert.ok(await rig.ask(socket));
  assert.deepEqual(rig.warnings, []);
});

test('connections that end make room, and leave nothing behind', async (t) => {
  const rig = await rigOf(t, { total: 3, perSource: 2 });
  for (let i = 0; i < 10; i++) {
    const socket = await rig.open('127.0.0.1');
    assert.ok(await rig.ask(socket, OK.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')));
    await once(socket.resume(), 'close');
  }
  assert.deepEqual(rig.warnings, []);
});

test('the log says once a minute whose connections are too many', async (t) => {
  const rig = await rigOf(t, { total: 10, perSource: 1 });
  for (let i = 0; i < 4; i++) assert.ok(await rig.ask(await rig.open('127.0.0.1')));
  assert.deepEqual(rig.warnings, [
    { source: '127.0.0.1', open_of_source: 1, open: 1, max: { total: 10, perSource: 1 }, leftOut: 0 },
  ]);
  rig.now = 60_000;
  assert.ok(await rig.ask(await rig.open('127.0.0.1')));
  assert.equal((rig.warnings[1] as { leftOut: number }).leftOut, 2);
});

test('a connection that became a WebSocket takes no place any more, and gives way to none; until then it is busy', async (t) => {
  const rig = await rigOf(t, { total: 2, perSource: 1 });
  const upgrade = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
  const feed = await rig.open('127.0.0.1');
  assert.ok(await rig.ask(feed, upgrade('/feed')));
  const next = await rig.open('127.0.0.1');
  assert.ok(await rig.ask(next, upgrade('/undecided')));
  assert.equal(await rig.ask(await rig.open('127.0.0.1')), false, 'the one that waits for an answer is busy');
  assert.ok(await rig.ask(await rig.open('127.0.0.2')));
  assert.ok(await rig.ask(await rig.open('127.0.0.3')), 'the idle one gave way');
  assert.ok(!feed.destroyed && !next.destroyed);
});
