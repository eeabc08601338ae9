import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpOrigin, perHead, rawOrigin, Rig } from '../testing/rig.ts';

const WITHIN = { timeout: 120_000 };
const HELLO = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';

test('a connection to the service is kept for the next requests of a visitor', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(
    t,
    perHead((socket) => socket.write(HELLO)),
  );
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  for (let i = 0; i < 10; i++) {
    wire.ask('GET /');
    assert.equal((await wire.response()).body, 'hello');
  }
  assert.equal(origin.sockets.length, 1);
});

test('a GET that meets a connection closed at that moment is sent once more, a POST never', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const seen: string[] = [];
  // Each connection answers one request and closes when the second arrives: the worst moment.
  const counts = new Map<unknown, number>();
  const origin = await rawOrigin(
    t,
    perHead((socket, head) => {
      const count = (counts.get(socket) ?? 0) + 1;
      counts.set(socket, count);
      seen.push(`${head.slice(0, head.indexOf(' HTTP'))} #${count}`);
      if (count === 1) socket.write(HELLO);
      else if (head.includes('/reset')) socket.resetAndDestroy();
      else socket.end();
    }),
  );
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  const ask = async (line: string, ...fields: string[]): Promise<number> => {
    wire.ask(line, ...fields);
    return (await wire.response(line.startsWith('HEAD'))).status;
  };
  assert.equal(await ask('GET /1'), 200);
  for (const line of ['GET /2', 'GET /reset', 'OPTIONS /3']) {
    assert.equal(await ask(line), 200, line);
    assert.deepEqual(seen.splice(0).slice(-2), [`${line} #2`, `${line} #1`]);
  }
  for (const [line, fields] of [
    ['POST /4', ['Content-Length: 0']],
    ['DELETE /5', []],
    ['GEX /6', []],
    ['OPTIONX /7', []],
    ['GET /8', ['Content-Length: 2', '', 'hi']],
  ] as const) {
    const [length, ...body] = fields.filter((field) => field !== '');
    wire.ask(line, ...(length === undefined ? [] : [length]));
    if (body[0] !== undefined) wire.send(body[0]);
    const { status, head } = await wire.response();
    assert.equal(status, 502, line);
    assert.match(head, /culvert-error: local_closed/);
    assert.deepEqual(seen.splice(0), [`${line} #2`]);
    assert.equal(await ask('GET /again'), 200);
    seen.length = 0;
  }
});

test('a request is repeated once, not for ever', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  let asked = 0;
  const origin = await rawOrigin(
    t,
    perHead((socket, head) => {
      if (head.startsWith('GET /ok')) return socket.write(HELLO);
      asked++;
      return socket.end();
    }),
  );
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('GET /ok');
  await wire.response();
  wire.ask('GET /');
  assert.equal((await wire.response()).status, 502);
  assert.equal(asked, 2);
});

test('nothing is repeated once a byte of an answer has come', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  let asked = 0;
  const origin = await rawOrigin(
    t,
    perHead((socket, head) => {
      if (head.startsWith('GET /ok')) return void socket.write(HELLO);
      asked++;
      return void socket.end('HTTP/1.1 20');
    }),
  );
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('GET /ok');
  await wire.response();
  wire.ask('GET /');
  assert.equal((await wire.response()).status, 502);
  assert.equal(asked, 1);
});

test('a service that closes idle connections early loses no request', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (_request, response) => response.end('hello'));
  origin.keepAliveTimeout = 1;
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  for (let i = 0; i < 100; i++) {
    wire.ask('GET /');
    assert.equal((await wire.response()).status, 200);
    if (i % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
});

test('a limit that the service names is respected', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(
    t,
    perHead((socket) => socket.write(HELLO.replace('OK\r\n', 'OK\r\nKeep-Alive: timeout=1\r\n'))),
  );
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  for (let i = 1; i <= 3; i++) {
    wire.ask('GET /');
    assert.doesNotMatch((await wire.response()).head, /keep-alive/i);
    // A second less than it says is nothing: each request gets a connection of its own.
    assert.equal(origin.sockets.length, i);
  }
});

for (const [name, first] of [
  ['at once', HELLO + HELLO.replaceAll('hello', 'EVIL!')],
  ['a body beyond its length', `${HELLO}EVIL!`],
  ['a body behind 304', 'HTTP/1.1 304 Not Modified\r\n\r\nEVIL!'],
  ['a line end too much', `${HELLO}\r\n`],
] as const) {
  test(`more than was asked for never reaches another visitor: ${name}`, WITHIN, async (t) => {
    const rig = await Rig.start(t);
    const origin = await rawOrigin(
      t,
      perHead((socket, head) => socket.write(head.startsWith('GET /first') ? first : HELLO)),
    );
    await rig.serve('shop', origin.port);
    const evil = await rig.visit();
    evil.ask('GET /first');
    await evil.response(first.includes(' 304 '));
    const other = await rig.visit();
    other.ask('GET /second');
    assert.equal((await other.response()).body, 'hello');
    assert.equal(origin.sockets.length, 2);
    evil.ask('GET /second');
    assert.equal((await evil.response()).body, 'hello');
  });
}

test('kept connection: unrequested bytes close it, and nothing else', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(
    t,
    perHead((socket) => socket.write(HELLO)),
  );
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('GET /');
  await wire.response();
  const [kept] = origin.sockets;
  assert.ok(kept);
  // As servers do that time out: a response to no request.
  kept.write('HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n');
  await new Promise((resolve) => kept.once('close', resolve));
  for (let i = 0; i < 3; i++) {
    wire.ask('GET /');
    assert.equal((await wire.response()).body, 'hello');
  }
  assert.equal(origin.sockets.length, 2);
});

test('a response before the request is complete does not leave its stream to the next', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(
    t,
    perHead((socket) => socket.write(HELLO)),
  );
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('POST /', 'Content-Length: 40');
  assert.match((await wire.response()).head, /Connection: close/);
  const other = await rig.visit();
  other.ask('GET /');
  await other.response();
  assert.equal(origin.sockets.length, 2);
  assert.equal(await wire.closed, 'end');
});

test(
  'visitors of one tunnel never get a connection of another, whatever Host a connection names',
  WITHIN,
  async (t) => {
    const rig = await Rig.start(t);
    const shop = await rawOrigin(
      t,
      perHead((socket) => socket.write(HELLO)),
    );
    const blog = await rawOrigin(
      t,
      perHead((socket) => socket.write(HELLO.replace('hello', 'posts'))),
    );
    await rig.serve('shop', shop.port);
    await rig.serve('blog', blog.port);
    const wire = await rig.visit();
    for (let i = 0; i < 6; i++) {
      const name = i % 2 === 0 ? 'shop' : 'blog';
      wire.ask('GET /', `Host: ${i === 3 ? 'BLOG.Example.test.:8080' : `${name}.example.test`}`);
      assert.equal((await wire.response()).body, name === 'shop' ? 'hello' : 'posts');
    }
    wire.ask('GET /', 'Host: none.example.test');
    assert.equal((await wire.response()).status, 404);
    wire.ask('GET /');
    assert.equal((await wire.response()).body, 'hello');
    assert.match(blog.texts[0] ?? '', /Host: BLOG\.Example\.test\.:8080/);
  },
);

test('a route that is removed, stopped or served by another agent between two requests', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const first = await rawOrigin(
    t,
    perHead((socket) => socket.write(HELLO)),
  );
  const second = await rawOrigin(
    t,
    perHead((socket) => socket.write(HELLO.replace('hello', 'newer'))),
  );
  await rig.serve('shop', first.port);
  const wire = await rig.visit();
  const status = async (): Promise<string> => {
    wire.ask('GET /');
    const { status: code, body } = await wire.response();
    return code === 200 ? body : String(code);
  };
  assert.equal(await status(), 'hello');
  await rig.serve('shop', second.port);
  assert.equal(await status(), 'newer');
  rig.route('shop', { maintenance: 'back at nine' });
  assert.equal(await status(), '503');
  rig.route('shop');
  assert.equal(await status(), 'newer');
  rig.route('shop', { stopped: true });
  assert.equal(await status(), '503');
  rig.remove('shop');
  assert.equal(await status(), '404');
});
