/** Routes as users write them, by flag or in a settings file: what becomes of them, and the message for each mistake. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { checkAgentTunnels } from '../check-file.ts';
import { type RoutesInput, routedOf, routesOfFlag } from './routes.ts';

function folderOf(t: TestContext, text = ''): string {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-routes-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'culvert.toml'), text);
  return folder;
}

function inputOf(over: Partial<RoutesInput>): RoutesInput {
  return {
    target: '3000',
    routes: [{ path: '/api', target: '8080' }],
    protocol: 'http',
    verifyTls: false,
    proxyProtocol: false,
    values: {},
    choice: {},
    folder: '/nowhere',
    mistake: (key, text) => new Error(`${key}: ${text}`),
    ...over,
  };
}

const shown = (over: Partial<RoutesInput>): string[] =>
  (routedOf(inputOf(over)).routes ?? []).map(({ path, target }) => `${path} ${target.text}`);

test('routes: the target of the tunnel takes all paths that no route has', () => {
  assert.deepEqual(shown({}), ['/api localhost:8080', '/ localhost:3000']);
  assert.equal(routedOf(inputOf({})).target.port, 3_000);
  assert.deepEqual(shown({ target: undefined }), ['/api localhost:8080']);
  assert.equal(routedOf(inputOf({ target: undefined })).target.port, 8_080);
});

test('routes: a target has any form of a tunnel, and paths are written as the server compares them', (t) => {
  const folder = folderOf(t);
  mkdirSync(join(folder, 'www'));
  const routes = [
    { path: '/a/', target: 'nas.local:80' },
    { path: '/b', target: 'https://localhost:8443' },
    { path: '/café', target: 'unix:/run/app.sock:/base' },
    { path: '/static', target: 'file:www' },
  ];
  const found = routedOf(inputOf({ routes, target: undefined, folder })).routes ?? [];
  assert.deepEqual(
    found.map(({ path, target, upstream }) => [path, target.text, target.tls, upstream]),
    [
      ['/a', 'nas.local:80', false, undefined],
      ['/b', 'https://localhost:8443', true, undefined],
      ['/caf%C3%A9', 'unix:/run/app.sock', false, { prefix: '/base' }],
      ['/static', found[3]?.target.text, false, undefined],
    ],
  );
  assert.ok(found[3]?.target.inProcess !== undefined);
});

test('routes: options for the way to the service apply to each of them', () => {
  const values = { host_header: 'rewrite', upstream_connect_timeout: '2s', upstream_sni: 'api.internal' };
  const routes = [{ path: '/api', target: 'https://10.0.0.7:8443' }];
  const found = routedOf(inputOf({ routes, values })).routes ?? [];
  assert.deepEqual(
    found.map(({ target, upstream }) => [upstream?.host, target.connectTimeoutMs]),
    [
      ['10.0.0.7:8443', 2_000],
      ['localhost:3000', 2_000],
    ],
  );
  assert.equal(found[0]?.target.serverName, 'api.internal');
});

const many = Array.from({ length: 32 }, (_, at) => ({ path: `/${at}`, target: '1' }));
const at = (path: string): Partial<RoutesInput> => ({ routes: [{ path, target: '8080' }] });
const BAD: ReadonlyArray<readonly [title: string, over: Partial<RoutesInput>, message: RegExp]> = [
  ['a tcp tunnel', { protocol: 'tcp' }, /^routes: is for http and https tunnels only/],
  ['a path without a slash', at('api'), /^routes: "api" is not a path such as \/api/],
  ['a path with ".."', at('/a/../b'), /^routes: "\/a\/\.\.\/b" is not a path/],
  ['an encoded slash', at('/a%2fb'), /^routes: .* is not a path/],
  ['a query', at('/a?b'), /^routes: .* is not a path/],
  ['a long path', at(`/${'a'.repeat(256)}`), /at most 256 characters/],
  [
    'a path twice',
    { routes: [...many.slice(0, 2), { path: '/%31/', target: '2' }] },
    /^routes: "\/%31" is there twice/,
  ],
  ['"/" beside a target', at('/'), /^routes: the target of the tunnel takes all other paths/],
  ['33 routes', { routes: many }, /^routes: a tunnel has at most 32 routes/],
  ['a target that is none', { routes: [{ path: '/a', target: 'x' }] }, /^routes: \/a: "x" is not a valid target/],
  ['a tunnel target that is none', { target: 'x' }, /^target: "x" is not a valid target/],
  ['TLS options without TLS', { values: { upstream_sni: 'a.test' } }, /^upstream_sni: .* no route has one/],
  ['options of a folder without one', { choice: { spa: true } }, /^spa: is for a target that is a folder/],
];

for (const [title, over, message] of BAD) {
  test(`routes: ${title} is refused`, () => assert.throws(() => routedOf(inputOf(over)), { message }));
}

test('routes: the flag names a path and a target', () => {
  assert.deepEqual(routesOfFlag({}), []);
  assert.deepEqual(routesOfFlag({ route: ['/api=8080', '/x=http://a.test:80'] }), [
    { path: '/api', target: '8080' },
    { path: '/x', target: 'http://a.test:80' },
  ]);
  for (const text of ['/api', '=8080', '/api='])
    assert.throws(() => routesOfFlag({ route: [text] }), /is not PATH=TARGET, such as \/api=8080/);
});

test('routes: config check knows them, and points at a mistake', (t) => {
  const check = (text: string): void => checkAgentTunnels('culvert.toml', folderOf(t, text));
  const route = '[[tunnels.web.routes]]\npath = "/api"\ntarget = 8080\n';
  check(`[tunnels.web]\ntarget = 3000\n${route}`);
  check(`[tunnels.web]\nsubdomain = "web"\n${route}`);
  check(route);
  assert.throws(() => check('[tunnels.web]\nsubdomain = "web"\n'), /tunnels\.web\.target: is missing/);
  assert.throws(() => check('[tunnels.web]\nroutes = []\n'), /tunnels\.web\.target: is missing/);
  assert.throws(() => check('[[tunnels.web.routes]]\npath = "/api"\n'), /web\.routes\.0\.target: is missing/);
  assert.throws(() => check('[[tunnels.web.routes]]\ntarget = 1\n'), /web\.routes\.0\.path: is missing/);
  assert.throws(() => check(`${route}to = 1\n`), /culvert\.toml:4: tunnels\.web\.routes\.0\.to: unknown key/);
  assert.throws(() => check(`[tunnels.web]\nroutes = "/api"\n`), /\[\[tunnels\.NAME\.routes\]\]/);
  assert.throws(() => check(`${route}${route}`), /culvert\.toml:1: tunnels\.web\.routes: "\/api" is there twice/);
  assert.throws(
    () => check(`[tunnels.web]\nprotocol = "tcp"\ntarget = 1\n${route}`),
    /culvert\.toml:4: tunnels\.web\.routes: is for http and https tunnels only/,
  );
  assert.throws(
    () => check(`[tunnels.web]\nprotocol = "udp"\nnetwork = "home"\ntarget = 1\n${route}`),
    /tunnels\.web\.routes: does not apply to udp tunnels/,
  );
});
