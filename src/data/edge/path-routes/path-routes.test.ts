/** Several services behind one name: which service gets a request, and that no request or kept connection reaches another one. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import { type TestContext, test } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { MAX_PATH_ROUTES, type PathRouteForm } from '../../../wire/path-routes.ts';
import { idOf } from '../../fixtures/link.ts';
import { Http2Visitor } from '../testing/http2-visitor.ts';
import { httpOrigin, perHead, type RawOrigin, rawOrigin, Rig, type Wire } from '../testing/rig.ts';

const WITHIN = { timeout: 120_000 };

/** A service that answers with its name and the path that it got. */
function named(t: TestContext, name: string): Promise<RawOrigin> {
  return rawOrigin(
    t,
    perHead((socket, head) => {
      const body = `${name} ${head.split(' ')[1] ?? ''}`;
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    }),
  );
}

/** A tunnel `shop` with a service per route, each named by its path. */
async function routed(t: TestContext, forms: readonly (string | PathRouteForm)[]) {
  const rig = await Rig.start(t);
  const routes = forms.map((form) => (typeof form === 'string' ? { path: form } : form));
  const origins = new Map<string, RawOrigin>();
  for (const { path } of routes) origins.set(path, await named(t, path));
  const ports = [...origins.values()].map(({ port }) => port);
  const agent = await rig.serve('shop', 1, 'http', { routes }, ports);
  return { rig, agent, origins };
}

async function ask(wire: Wire, target: string): Promise<string> {
  wire.ask(`GET ${target}`);
  const { status, head, body } = await wire.response();
  const code = /culvert-error: (\w+)/.exec(head)?.[1];
  return code === undefined ? body : `${status} ${code}`;
}

test('routes: a path goes to the longest route that has it, by whole segments', WITHIN, async (t) => {
  const { rig } = await routed(t, ['/', '/api', '/api/v2', '/caf%C3%A9']);
  const wire = await rig.visit();
  const visitor = await Http2Visitor.open(t, rig);
  const table = {
    '/': '/',
    '/api': '/api',
    '/api/': '/api',
    '/api/x': '/api',
    '/api?x=../..//': '/api',
    '/apiary': '/',
    '/API': '/',
    '/x/api': '/',
    '/api/v2': '/api/v2',
    '/api/v2/x': '/api/v2',
    '/api/v20': '/api',
    '/?/api': '/',
    '/api/.well-known/x': '/api',
    '/api/a.b/..c/...': '/api',
    // The same paths for services: encoded, or with parameters.
    '/%61pi/x': '/api',
    '/api/%762': '/api/v2',
    '/api;v=1/v2;a=b/x': '/api/v2',
    '/caf%c3%a9': '/caf%C3%A9',
    '/a%20b': '/',
  };
  for (const [target, route] of Object.entries(table)) {
    assert.equal(await ask(wire, target), `${route} ${target}`);
    assert.equal((await visitor.ask({ ':path': target })).body, `${route} ${target}`);
  }
  assert.equal(await ask(wire, 'http://shop.example.test/api/x'), '/api /api/x');
  wire.ask('OPTIONS *');
  assert.equal((await wire.response()).body, '/ *');
});

test('routes: a path of no route is not found, and no service sees it', WITHIN, async (t) => {
  const { rig, origins } = await routed(t, ['/api', '/app']);
  const wire = await rig.visit();
  for (const target of ['/', '/apiary', '/x/api', '/?/api', 'http://shop.example.test?/api'])
    assert.equal(await ask(wire, target), '404 tunnel_not_found', target);
  wire.ask('GET /', 'Accept: application/json');
  assert.match((await wire.response()).body, /No route of this tunnel matches the path/);
  const visitor = await Http2Visitor.open(t, rig);
  assert.equal((await visitor.ask({ ':path': '/x' })).headers['culvert-error'], 'tunnel_not_found');
  for (const { sockets } of origins.values()) assert.equal(sockets.length, 0);
});

test('routes: a path that can be read in two ways is refused', WITHIN, async (t) => {
  const { rig, origins } = await routed(t, ['/api', '/']);
  const wire = await rig.visit();
  const visitor = await Http2Visitor.open(t, rig);
  const up = ['/api/../x', '/api/..', '/api/..?x', '/api/%2e%2E/x', '/api/.%2e/x', '/api/..;a=b/x', '/api/..%3b/x'];
  const here = ['/./api', '/api/.', '/%2e/api'];
  const slashes = ['//api', '/api//x', '/api%2f..%2fx', '/%2Fapi', '/api\\..\\x', '/api%5c..%5Cx'];
  const others = [
    '/api/%252e%252e/x',
    '/api%252f..',
    '/api%00',
    '/api%0d%0a',
    '/api/..%253b/x',
    '/api%c0%ae',
    '/api/%e0%80%ae%E0%80%AE/x',
    '/api/%f0%80%80%ae%f0%80%80%ae/x',
    '/%',
    '/api/%zz',
    '/%u002e',
  ];
  for (const target of [...up, ...here, ...slashes, ...others]) {
    assert.equal(await ask(wire, target), '400 bad_request', target);
    assert.equal((await visitor.ask({ ':path': target })).status, 400, target);
  }
  for (const { sockets } of origins.values()) assert.equal(sockets.length, 0);
  wire.ask('GET /api/../x', 'Accept: application/json');
  assert.match((await wire.response()).body, /The path can be read in two ways/);
});

test('routes: the same paths pass a tunnel that has none', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const { port } = await named(t, 'only');
  await rig.serve('shop', port);
  const wire = await rig.visit();
  for (const target of ['/api/../x', '//api', '/%2e/%2f%5c'])
    assert.equal(await ask(wire, target), `only ${target}`, target);
});

test('routes: a kept connection to one service carries no request of another', WITHIN, async (t) => {
  const { rig, origins } = await routed(t, ['/api', '/']);
  const [one, other] = [await rig.visit(), await rig.visit()];
  for (let i = 0; i < 5; i++) {
    for (const wire of [one, other]) {
      assert.equal(await ask(wire, `/api/${i}`), `/api /api/${i}`);
      assert.equal(await ask(wire, `/${i}`), `/ /${i}`);
    }
  }
  // Visitors who come later get the connections that are idle by then.
  await new Promise((resolve) => setTimeout(resolve, 200));
  const late = await rig.visit();
  assert.equal(await ask(late, '/late'), '/ /late');
  assert.equal(await ask(late, '/api/late'), '/api /api/late');
  for (const [path, { sockets, texts }] of origins) {
    assert.equal(sockets.length, 2, `${path}: one connection for each of the first two visitors`);
    for (const text of texts) assert.equal(/^GET \/api/m.test(text), path === '/api');
  }
});

test('routes: a request that meets a closed connection is sent once more to the same service', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const seen: string[] = [];
  const counts = new Map<unknown, number>();
  const closing = (name: string): Promise<RawOrigin> =>
    rawOrigin(
      t,
      perHead((socket) => {
        const count = (counts.get(socket) ?? 0) + 1;
        counts.set(socket, count);
        seen.push(`${name} #${count}`);
        if (count === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        else socket.end();
      }),
    );
  const ports = [(await closing('api')).port, (await closing('root')).port];
  await rig.serve('shop', 1, 'http', { routes: [{ path: '/api' }, { path: '/' }] }, ports);
  const wire = await rig.visit();
  for (const target of ['/api', '/', '/api', '/']) assert.equal(await ask(wire, target), 'ok');
  assert.deepEqual(seen, ['api #1', 'root #1', 'api #2', 'api #1', 'root #2', 'root #1']);
});

test('routes: one service that is away is no fault of the other, and its address stays secret', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const { port } = await named(t, 'root');
  await rig.serve('shop', 1, 'http', { routes: [{ path: '/api' }, { path: '/' }] }, [1, port]);
  const wire = await rig.visit();
  wire.ask('GET /api', 'Accept: application/json');
  const { status, head, body } = await wire.response();
  assert.equal(status, 502);
  assert.match(head, /culvert-error: local_unreachable/);
  assert.doesNotMatch(body, /127\.0\.0\.1|:1\b/);
  assert.equal(await ask(wire, '/'), 'root /');
});

test('routes: WebSockets reach the service of their path', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const ports: number[] = [];
  for (const name of ['live', 'root']) {
    const origin = await httpOrigin(t, (_request, response) => response.end(name));
    const server = new WebSocketServer({ server: origin });
    t.after(() => server.close());
    server.on('connection', (socket) => socket.send(name));
    ports.push(origin.port);
  }
  await rig.serve('shop', 1, 'http', { routes: [{ path: '/live' }, { path: '/' }] }, ports);
  for (const [path, name] of [
    ['/live/x', 'live'],
    ['/lively', 'root'],
  ] as const) {
    const socket = new WebSocket(`ws://127.0.0.1:${rig.port}${path}`, { headers: { host: 'shop.example.test' } });
    const [hello] = (await once(socket, 'message')) as [Buffer];
    assert.equal(hello.toString(), name);
    socket.close();
  }
});

test('routes: each service gets its own host and path', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const echo = (): Promise<{ port: number }> =>
    httpOrigin(t, (request, response) => response.end(`${request.headers.host ?? ''}${request.url ?? ''}`));
  const ports = [(await echo()).port, (await echo()).port];
  const routes = [{ path: '/api', upstream: { host: 'api.local', prefix: '/v1' } }, { path: '/' }];
  await rig.serve('shop', 1, 'http', { routes }, ports);
  const wire = await rig.visit();
  assert.equal(await ask(wire, '/api/x'), 'api.local/v1/api/x');
  assert.equal(await ask(wire, '/x'), 'shop.example.test/x');
});

test('routes: WebDAV can copy and move within a route alone', WITHIN, async (t) => {
  const { rig } = await routed(t, ['/dav', '/']);
  const wire = await rig.visit();
  const visitor = await Http2Visitor.open(t, rig);
  const moved = async (target: string, destination: string): Promise<number> => {
    wire.ask(`MOVE ${target}`, `Destination: ${destination}`);
    const { status, body } = await wire.response();
    const other = await visitor.ask({ ':method': 'COPY', ':path': target, destination });
    assert.equal(other.status, status);
    if (status === 400) assert.match(body, /Destination names a path that is not on the route/);
    return status;
  };
  const within = ['https://shop.example.test/dav/b', '/dav/b?x=/../y', 'http://shop.example.test/%64av'];
  for (const destination of within) assert.equal(await moved('/dav/a', destination), 200, destination);
  const outside = [
    'https://shop.example.test/b',
    '/b',
    '//x/b',
    '/dav/../b',
    '/davos',
    'https://shop.example.test',
    'b',
  ];
  for (const destination of [...outside, '/dav/%2e%2e/b', 'https:\\\\x/dav\\..\\b'])
    assert.equal(await moved('/dav/a', destination), 400, destination);
  assert.equal(await moved('/a', '/b'), 200);
  assert.equal(await moved('/a', '/dav/b'), 400);
});

test('routes: a request of the control plane takes the route of its path', WITHIN, async (t) => {
  const { rig, origins } = await routed(t, ['/api', '/']);
  const sent = async (target: string): Promise<string> => {
    const answer = await rig.node.send({
      ...{ tunnelId: idOf('shop'), method: 'GET', target, fields: [], host: 'shop.example.test' },
      ...{ body: Buffer.alloc(0), clientIp: '203.0.113.9', scheme: 'https' as const },
      ...{ replayOf: null, timeoutMs: 15_000 },
    });
    return answer.ok ? String(answer.status) : answer.code;
  };
  assert.equal(await sent('/api/x'), '200');
  assert.match(origins.get('/api')?.texts.join() ?? '', /^GET \/api\/x /);
  assert.equal(await sent('/x'), '200');
  assert.match(origins.get('/')?.texts.join() ?? '', /^GET \/x /);
  assert.equal(await sent('/api/../x'), '400');
});

test('routes: new ones of the same agent apply to the next request', WITHIN, async (t) => {
  const { rig } = await routed(t, ['/api', '/']);
  const wire = await rig.visit();
  assert.equal(await ask(wire, '/api'), '/api /api');
  const { port } = await named(t, 'only');
  await rig.serve('shop', port);
  assert.equal(await ask(wire, '/api'), 'only /api');
});

test('routes: a claim that breaks a rule serves nothing', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const { port } = await named(t, 'only');
  const agent = await rig.serve('other', port);
  agent.claim('shop', { protocol: 'tcp', routes: [{ path: '/' }] });
  assert.equal((await agent.next('refused')).code, 'invalid_request');
  const many = Array.from({ length: MAX_PATH_ROUTES + 1 }, (_, at) => ({ path: `/${at}` }));
  const broken = [['api'], ['/api/'], ['/a?b'], ['/a/../b'], ['/a%2fb'], ['/a;b'], [`/${'a'.repeat(256)}`]];
  const twice = [
    ['/api', '/%61pi'],
    ['/', '/'],
  ];
  const lists = [[], many, ...[...broken, ...twice].map((paths) => paths.map((path) => ({ path })))];
  for (const routes of lists) {
    const bad = await rig.serve('other', port);
    bad.claim('shop', { routes });
    assert.equal((await bad.next('bye')).code, 'protocol_error', JSON.stringify(routes).slice(0, 60));
  }
  const wire = await rig.visit();
  assert.equal(await ask(wire, '/'), '404 tunnel_not_found');
});

test('routes: pipelined requests of a visitor each take their own route', WITHIN, async (t) => {
  const { rig } = await routed(t, ['/api', '/']);
  const socket = connectPlain(rig.port, '127.0.0.1');
  t.after(() => socket.destroy());
  const line = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: shop.example.test\r\n\r\n`;
  socket.write(`${line('/api/1')}${line('/2')}${line('/api/3')}`);
  let text = '';
  while (!text.includes('/api /api/3')) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    text += chunk.toString('latin1');
  }
  assert.deepEqual(text.match(/\/(?:api)? \/\w+(?:\/\d)?(?=HTTP|$)/g), ['/api /api/1', '/ /2', '/api /api/3']);
});
