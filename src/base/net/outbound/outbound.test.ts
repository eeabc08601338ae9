/** Ways through proxies: which one is used, what it receives, and what its refusals say. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { inspect } from 'node:util';
import { noProxyFor } from './no-proxy.ts';
import { Outbound } from './outbound.ts';
import { parseProxy, ProxyError } from './proxy.ts';
import { proxyRules } from './proxy-rules.ts';
import { playHttpProxy, playSocksProxy } from './testing.ts';

const PLACE = { host: 'culvert.example', port: 443 };

async function service(t: TestContext): Promise<number> {
  const server = createServer((_request, response) => response.end('hello')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function read(outbound: Outbound, port: number): Promise<string> {
  const url = `http://culvert.example:${port}/`;
  const asked = get(url, { agent: outbound.newAgent('http:') });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return text(response);
}

/** The way out with this as `ALL_PROXY`. */
function by(proxy: string): Outbound {
  return new Outbound({ rules: proxyRules({ ALL_PROXY: proxy }) });
}

async function faultOf(outbound: Outbound, port: number): Promise<ProxyError> {
  const proxy = outbound.proxyFor({ host: 'culvert.example', port });
  assert.ok(proxy);
  const found = await outbound.through(proxy, { host: 'culvert.example', port }).then(
    () => assert.fail('it opened'),
    (error: unknown) => error,
  );
  assert.ok(found instanceof ProxyError, String(found));
  return found;
}

test('proxy: HTTP and SOCKS5 carry a request, with user and password', async (t) => {
  const port = await service(t);
  const http = await playHttpProxy(t, { login: 'ann:p@ss word' });
  const socks = await playSocksProxy(t, { login: 'ann:p@ss word' });
  for (const [kind, proxy] of [
    ['http', http],
    ['socks5h', socks],
  ] as const) {
    assert.equal(await read(by(`${kind}://ann:p%40ss%20word@127.0.0.1:${proxy.port}`), port), 'hello');
    assert.deepEqual(proxy.logins, ['ann:p@ss word']);
    assert.deepEqual(proxy.asked, [`culvert.example:${port}`], `${kind} gets the name`);
  }
});

test('proxy: a SOCKS5 proxy without a login is used, and socks5:// gives it an address', async (t) => {
  const port = await service(t);
  const { port: proxyPort, asked } = await playSocksProxy(t);
  assert.equal(await read(by(`socks5h://127.0.0.1:${proxyPort}`), port), 'hello');
  const own = by(`socks5://127.0.0.1:${proxyPort}`);
  const proxy = own.proxyFor(PLACE);
  assert.ok(proxy);
  (await own.through(proxy, { host: '127.0.0.1', port })).destroy();
  assert.equal(asked[1], `127.0.0.1:${port}`);
  await assert.rejects(
    own.through(proxy, { host: 'no-such-name.invalid', port }),
    /With socks5h:\/\/ the proxy looks it up/,
  );
});

test('proxy: a refusal names the proxy, the setting and the next step, and never the password', async (t) => {
  const port = await service(t);
  const closed = await playHttpProxy(t, { login: 'ann:right', ports: [443] });
  const socks = await playSocksProxy(t, { login: 'ann:right', ports: [443] });
  const at = (kind: string, login: string, proxy: { port: number }): string =>
    `${kind}://${login}127.0.0.1:${proxy.port}`;
  for (const [url, message, isPassing] of [
    [
      at('http', '', closed),
      /\(ALL_PROXY\): requires a login \(status 407\)\. Put user and password into ALL_PROXY/,
      false,
    ],
    [at('http', 'ann:s3cret@', closed), /rejects the user or the password in ALL_PROXY/, false],
    [at('http', 'ann:right@', closed), /does not allow connections to culvert\.example:\d+ \(status 403\)/, false],
    [at('socks5h', '', socks), /requires a login\. Put user and password into ALL_PROXY: socks5h:/, false],
    [at('socks5h', 'ann:s3cret@', socks), /rejects the user or the password/, false],
    [at('socks5h', 'ann:right@', socks), /does not allow this connection: culvert\.example/, false],
    [at('socks5h', '', closed), /is no SOCKS5 proxy|can't be reached/, undefined],
    ['http://127.0.0.1:1', /proxy 127\.0\.0\.1:1 \(ALL_PROXY\): can't be reached: .*ECONNREFUSED/, true],
    ['socks5h://127.0.0.1:1', /can't be reached: .*ECONNREFUSED/, true],
  ] as const) {
    const fault = await faultOf(by(url), port);
    assert.match(fault.message, message);
    if (isPassing !== undefined) assert.equal(fault.isPassing, isPassing, fault.message);
    assert.doesNotMatch(inspect(fault, { depth: 9 }), /s3cret/);
  }
  const away = await playHttpProxy(t, { status: 503 });
  assert.equal((await faultOf(by(at('http', '', away)), port)).isPassing, true, 'what is behind it may come back');
});

test('proxy: canceling ends an attempt at a proxy that does not answer', async (t) => {
  const silent = createServer()
    .on('connect', () => undefined)
    .listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.after(() => {
    silent.closeAllConnections();
    silent.close();
  });
  const { port } = silent.address() as AddressInfo;
  for (const kind of ['http', 'socks5h']) {
    const outbound = by(`${kind}://127.0.0.1:${port}`);
    const proxy = outbound.proxyFor(PLACE);
    assert.ok(proxy);
    await assert.rejects(outbound.through(proxy, PLACE, AbortSignal.timeout(50)));
  }
});

test('proxy: flag or settings come before the environment, lower case before upper case, HTTPS_PROXY before ALL_PROXY', () => {
  const chosen = (
    env: NodeJS.ProcessEnv,
    named?: string,
    protocol: 'http:' | 'https:' = 'https:',
  ): string | undefined =>
    proxyRules(env, named === undefined ? undefined : { text: named, namedBy: '--proxy' }).proxyFor(PLACE, protocol)
      ?.host;
  assert.equal(chosen({}), undefined);
  assert.equal(chosen({ ALL_PROXY: 'http://all' }), 'all');
  assert.equal(chosen({ ALL_PROXY: 'http://all', HTTPS_PROXY: 'http://upper' }), 'upper');
  assert.equal(chosen({ HTTPS_PROXY: 'http://upper', https_proxy: 'http://lower' }), 'lower');
  assert.equal(chosen({ HTTPS_PROXY: 'http://upper', https_proxy: '' }), 'upper', 'an empty variable is none');
  assert.equal(chosen({ HTTP_PROXY: 'http://plain' }), undefined);
  assert.equal(chosen({ HTTP_PROXY: 'http://plain' }, undefined, 'http:'), 'plain');
  assert.equal(chosen({ HTTPS_PROXY: 'http://upper' }, 'socks5://flag'), 'flag');
  assert.equal(chosen({ HTTPS_PROXY: 'http://upper' }, ''), undefined, 'the empty text switches it off');
  assert.equal(chosen({ HTTPS_PROXY: 'http://upper', NO_PROXY: 'example' }), undefined);
  assert.equal(chosen({ NO_PROXY: '*' }, 'http://flag'), undefined, 'NO_PROXY counts for the flag as well');
  assert.throws(() => chosen({ HTTPS_PROXY: 'ftp://user:s3cret@x' }), /^Error: HTTPS_PROXY: is not a proxy: use http:/);
});

test('proxy: this machine is reached without one', () => {
  const rules = proxyRules({ ALL_PROXY: 'http://proxy' });
  for (const host of ['localhost', 'app.localhost', '127.0.0.1', '127.9.9.9', '::1', '[::1]']) {
    assert.equal(rules.proxyFor({ host, port: 443 }, 'https:'), undefined, host);
  }
  assert.ok(rules.proxyFor({ host: '10.0.0.1', port: 443 }, 'https:'));
});

test('NO_PROXY: names, suffixes, addresses, networks and ports', () => {
  for (const [list, host, port, matches] of [
    ['example.com', 'example.com', 443, true],
    ['example.com', 'shop.EXAMPLE.com.', 443, true],
    ['example.com', 'badexample.com', 443, false],
    ['.example.com', 'shop.example.com', 443, true],
    ['*.example.com', 'shop.example.com', 443, true],
    ['a.test, b.test', 'b.test', 443, true],
    ['a.test b.test', 'b.test', 443, true],
    ['example.com:8443', 'example.com', 8443, true],
    ['example.com:8443', 'example.com', 443, false],
    ['10.0.0.0/8', '10.1.2.3', 443, true],
    ['10.0.0.0/8', '11.1.2.3', 443, false],
    ['10.0.0.0/8', 'ten.example.com', 443, false],
    ['192.168.1.7:80', '192.168.1.7', 80, true],
    ['fd00::/8', '[fd00::7]', 443, true],
    ['[fd00::7]:443', 'fd00::7', 443, true],
    ['[fd00::7]:443', 'fd00::7', 80, false],
    ['*', 'anything', 1, true],
    ['', 'anything', 1, false],
  ] as const) {
    assert.equal(noProxyFor(list)({ host, port }), matches, `${list} for ${host}:${port}`);
  }
});

test('proxy: its text is read strictly, with the usual ports', () => {
  const at = (text: string): string | undefined => {
    const found = parseProxy(text, 'x');
    return found && `${found.kind} ${found.host} ${found.port} ${found.user}`;
  };
  assert.equal(at('proxy.example.com:3128'), 'http proxy.example.com 3128 undefined');
  assert.equal(at('proxy'), 'http proxy 80 undefined');
  assert.equal(at('https://ann@proxy/'), 'https proxy 443 ann');
  assert.equal(at('SOCKS5h://[fd00::1]'), 'socks5h fd00::1 1080 undefined');
  for (const text of [
    'ftp://proxy',
    'socks4://proxy',
    'http://',
    'http://proxy:99999',
    'http://proxy/path',
    'http://a b',
  ]) {
    assert.equal(at(text), undefined, text);
  }
});
