import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { perHead, rawOrigin, Rig } from '../testing/rig.ts';

const WITHIN = { timeout: 120_000 };
const SHARED = 'Set-Cookie: a=1; Domain=.Example.test; Path=/\r\n';
const HOST_ONLY = 'Set-Cookie: a=1; Path=/\r\n';
const OWN = 'Set-Cookie: culvert_visitor=stolen; Path=/\r\n';

/** A visitor of a tunnel whose service answers each request with the next of `answers`. */
async function answered(t: TestContext, ...answers: string[]) {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(
    t,
    perHead((socket, _head, count) => socket.write(answers[count - 1] ?? '', 'latin1')),
  );
  await rig.serve('shop', origin.port);
  return { rig, wire: await rig.visit() };
}

const cookiesOf = (head: string) => head.split('\r\n').filter((line) => /^set-cookie/i.test(line));

test('a service sets cookies of its own host alone, and the body stays as it is', WITHIN, async (t) => {
  const large = 'x'.repeat(200_000);
  const { wire } = await answered(
    t,
    `HTTP/1.1 200 OK\r\n${SHARED}${OWN}Set-Cookie: b=2\r\nContent-Length: 5\r\n\r\nhello`,
    `HTTP/1.1 200 OK\r\nContent-Length: ${large.length}\r\n${OWN}${SHARED}\r\n${large}`,
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n${SHARED}Trailer: Set-Cookie\r\n\r\n5\r\nhello\r\n0\r\n${SHARED}X-Sum: 1\r\n\r\n`,
    'HTTP/1.1 200 OK\r\nSet-Cookie: c=3; Domain=shop.example.test\r\nContent-Length: 3\r\n\r\nend',
  );
  wire.ask('GET /');
  const small = await wire.response();
  assert.deepEqual([cookiesOf(small.head), small.body], [[HOST_ONLY.trim(), 'Set-Cookie: b=2'], 'hello']);
  wire.ask('GET /large');
  const big = await wire.response();
  assert.deepEqual(cookiesOf(big.head), [HOST_ONLY.trim()]);
  assert.ok(big.body === large);
  wire.ask('GET /chunked');
  const chunked = await wire.until(/0\r\nX-Sum: 1\r\n\r\n/);
  assert.deepEqual(cookiesOf(chunked), [HOST_ONLY.trim()]);
});

test('a cookie of the whole host name passes', WITHIN, async (t) => {
  const line = 'Set-Cookie: c=3; Domain=shop.example.test';
  const { wire } = await answered(t, `HTTP/1.1 200 OK\r\n${line}\r\nContent-Length: 3\r\n\r\nend`);
  wire.ask('GET /');
  const { head, body } = await wire.response();
  assert.deepEqual([cookiesOf(head), body], [[line], 'end']);
});

test('interim responses set no shared cookies either', WITHIN, async (t) => {
  const { wire } = await answered(
    t,
    `HTTP/1.1 103 Early Hints\r\n${SHARED}${OWN}Link: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello`,
  );
  wire.ask('GET /');
  const all = await wire.until('hello');
  assert.ok(all.startsWith(`HTTP/1.1 103 Early Hints\r\n${HOST_ONLY}Link: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\n`), all);
});

test('an upgrade sets no shared cookies either', WITHIN, async (t) => {
  const { wire } = await answered(
    t,
    `HTTP/1.1 101 Switching Protocols\r\n${SHARED}${OWN}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\nraw ${SHARED}end`,
  );
  wire.ask('GET /', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13');
  const all = await wire.until(/end$/);
  const [head = '', rest] = all.split('\r\n\r\n');
  assert.deepEqual(cookiesOf(head), [HOST_ONLY.trim()]);
  assert.equal(rest, `raw ${SHARED}end`);
});

test('a head that comes byte by byte is looked at whole', WITHIN, async (t) => {
  const text = `HTTP/1.1 200 OK\r\n${SHARED}${OWN}Content-Length: 5\r\n\r\nhello`;
  const rig = await Rig.start(t);
  const origin = await rawOrigin(
    t,
    perHead((socket) => {
      void (async () => {
        for (const c of text) await new Promise((sent) => socket.write(c, 'latin1', () => setImmediate(sent)));
      })();
    }),
  );
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('GET /');
  const { head, body } = await wire.response();
  assert.deepEqual([cookiesOf(head), body], [[HOST_ONLY.trim()], 'hello']);
});

test('a service without a visitor gate gets none of its cookies either', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(
    t,
    perHead((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')),
  );
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  const cookies = 'Cookie: a=1; culvert_visitor=abc.def; __Host-culvert_nonce=n; b=2';
  const policies = [[], [{ kind: 'header_set' as const, name: 'X-A', value: '1', enforce: true }]];
  for (const actions of policies) {
    rig.route('shop', actions.length === 0 ? {} : { policy: { setAt: 1, actions } });
    for (const line of [cookies, 'Cookie: a=1; b=2']) {
      wire.ask('GET /', line);
      assert.equal((await wire.response()).status, 200);
      const head = origin.texts[0] ?? '';
      const got = head.split('GET / ').at(-1)?.split('\r\n') ?? [];
      assert.deepEqual(
        got.filter((field) => /^cookie/i.test(field)),
        ['Cookie: a=1; b=2'],
      );
      assert.equal(got.includes('X-A: 1'), actions.length > 0);
    }
  }
});
