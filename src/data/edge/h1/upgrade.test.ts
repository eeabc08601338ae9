import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { httpOrigin, perHead, rawOrigin, Rig } from '../testing/rig.ts';

const WITHIN = { timeout: 120_000 };
const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';
const ASK = ['Connection: Upgrade', 'Upgrade: websocket'];

test('WebSocket frames of all sizes pass both ways, and either side may close', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (_request, response) => response.end());
  const server = new WebSocketServer({ server: origin });
  server.on('connection', (socket, request) => {
    socket.on('message', (data, isBinary) => {
      if (String(data) === 'close') socket.close(4001, 'asked');
      else socket.send(data, { binary: isBinary });
    });
    socket.on('close', (code) => origin.emit('closed', code));
    socket.send(String(request.headers['x-forwarded-for']));
  });
  await rig.serve('shop', origin.port);
  for (const tls of [false, true]) {
    const open = (): WebSocket =>
      new WebSocket(`${tls ? 'wss' : 'ws'}://127.0.0.1:${tls ? rig.httpsPort : rig.port}/`, {
        headers: { host: 'shop.example.test' },
        rejectUnauthorized: false,
      });
    const socket = open();
    const [hello] = (await once(socket, 'message')) as [Buffer];
    assert.equal(hello.toString(), '127.0.0.1');
    for (const size of [0, 1, 125, 126, 65_535, 65_536, 1_000_000]) {
      const sent = Buffer.alloc(size, size);
      socket.send(sent);
      const [back] = (await once(socket, 'message')) as [Buffer];
      assert.ok(sent.equals(back), `${size} bytes`);
    }
    socket.send('close');
    const [code] = (await once(socket, 'close')) as [number];
    assert.equal(code, 4001);
    const second = open();
    await once(second, 'message');
    second.close(4002);
    const [heard] = (await once(origin, 'closed')) as [number];
    assert.equal(heard === 4001 ? ((await once(origin, 'closed')) as [number])[0] : heard, 4002);
  }
  server.close();
});

test('what is sent before the answer waits for it, then reaches the service in order', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(t, () => {});
  await rig.serve('shop', origin.port);
  const wire = await rig.visit({ allowHalfOpen: true });
  wire.ask('GET /', ...ASK);
  wire.send('GET /smuggled HTTP/1.1\r\n\r\n');
  const head = await origin.arrived(/\r\n\r\n/);
  // The service sees the head alone until it agrees, and a head in one normal form.
  assert.match(head, /\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n$/);
  origin.sockets[0]?.write(`${SWITCH}first`);
  assert.match(
    await wire.until('first'),
    /^HTTP\/1.1 101 [^]*\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst$/,
  );
  await origin.arrived(/\r\n\r\nGET \/smuggled HTTP\/1.1\r\n\r\n$/);
  wire.send('late');
  await origin.arrived(/late$/);
  // An end of one side leaves the other open.
  wire.socket.end();
  await once(origin.sockets[0] ?? wire.socket, 'end');
  assert.equal(await wire.closed, 'end');
});

test('the service may end its side first', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(
    t,
    perHead((socket) => socket.end(`${SWITCH}bye`)),
  );
  await rig.serve('shop', origin.port);
  const wire = await rig.visit({ allowHalfOpen: true });
  wire.ask('GET /', ...ASK);
  assert.match(await wire.all(), /bye$/);
  wire.send('still here');
  await origin.arrived(/still here$/);
  wire.socket.end();
  await once(wire.socket, 'close');
});

test('a cut of either side is a cut of the other', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(
    t,
    perHead((socket) => socket.write(SWITCH)),
  );
  await rig.serve('shop', origin.port);
  const first = await rig.visit();
  first.ask('GET /', ...ASK);
  await first.until('101');
  origin.sockets[0]?.resetAndDestroy();
  assert.equal(await first.closed, 'cut');
  const second = await rig.visit();
  second.ask('GET /', ...ASK);
  await second.until('101');
  const gone = new Promise((resolve) => origin.sockets[1]?.once('close', resolve));
  second.socket.resetAndDestroy();
  await gone;
});

test('a refused upgrade is a response like any other, and the connection goes on', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (_request, response) => response.end('plain'));
  origin.on('upgrade', (_request, socket) => {
    socket.on('error', () => {});
    socket.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
  });
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('GET /', ...ASK);
  const refused = await wire.response();
  assert.deepEqual([refused.status, refused.body], [403, 'no']);
  origin.removeAllListeners('upgrade');
  wire.ask('GET /');
  assert.equal((await wire.response()).status, 200);
});

// biome-ignore format: a table
const NO_UPGRADE: ReadonlyArray<readonly [string, string, string[]]> = [
  ['h2c', 'GET /', ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__']],
  ['h2c beside websocket', 'GET /', ['Connection: Upgrade', 'Upgrade: websocket, h2c']],
  ['h2c in a second line', 'GET /', ['Connection: Upgrade', 'Upgrade: websocket', 'Upgrade: h2c']],
  ['websocket without Connection', 'GET /', ['Upgrade: websocket']],
  ['websocket by POST', 'POST /', ['Connection: Upgrade', 'Upgrade: websocket', 'Content-Length: 0']],
  ['websocket with a body', 'GET /', ['Connection: Upgrade', 'Upgrade: websocket', 'Content-Length: 2']],
  ['a method that begins like GET', 'GEX /', ['Connection: Upgrade', 'Upgrade: websocket']],
];

for (const [name, line, fields] of NO_UPGRADE) {
  test(`${name} is forwarded as a plain request`, WITHIN, async (t) => {
    const rig = await Rig.start(t);
    const origin = await rawOrigin(
      t,
      perHead((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')),
    );
    await rig.serve('shop', origin.port);
    const wire = await rig.visit();
    wire.ask(line, ...fields);
    if (fields.includes('Content-Length: 2')) wire.send('hi');
    assert.equal((await wire.response()).status, 200);
    assert.doesNotMatch(origin.texts[0] ?? '', /upgrade|http2-settings/i);
  });
}

test('upgrade: a 101 without a request for it is no response', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const answers = [
    SWITCH,
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n',
    'HTTP/1.1 101 X\r\n\r\n',
  ];
  const origin = await rawOrigin(
    t,
    perHead((socket, head) => socket.write(answers[Number(/ \/(\d)/.exec(head)?.[1])] as string)),
  );
  await rig.serve('shop', origin.port);
  for (const [path, fields] of [
    ['/0', []],
    ['/1', ASK],
    ['/2', ASK],
  ] as const) {
    const wire = await rig.visit();
    wire.ask(`GET ${path}`, ...fields);
    await wire.until(/^HTTP\/1.1 502 [^]*culvert-error: local_bad_response/);
  }
});
