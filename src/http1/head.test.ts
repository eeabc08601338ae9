import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLAIMS_OF_VISITORS } from './fields.ts';
import { Head, INCOMPLETE, parseRequestHead } from './head.ts';
import { USUAL_LIMITS } from './head-limits.ts';
import { get, kept, parsed, type Verdict } from './testing.ts';

const chunked = 'Transfer-Encoding: chunked';
const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `x${i}: 1`);
const sized = (bytes: number): string => get(`x: ${'a'.repeat(bytes - get('x: ').length)}`);
const targeted = (bytes: number): string => `GET /${'a'.repeat(bytes - 1)} HTTP/1.1\r\nHost: a.test\r\n\r\n`;
const hosted = (host: string): string => `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
const absolute = (target: string, host = 'a.test'): string => `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;

// biome-ignore format: a table
const REQUESTS: ReadonlyArray<readonly [string, string, Verdict]> = [
  ['a plain GET', get(), 'ok'],
  ['HTTP/1.0 with a host', 'GET / HTTP/1.0\r\nHost: a.test\r\n\r\n', 'ok'],
  ['white space around a value', get('X:\t 1 \t'), 'ok'],
  ['an empty value', get('X:'), 'ok'],
  ['bytes beyond ASCII in a value', get('X: \xe4\xff'), 'ok'],
  ['any token as a method', 'PROPFIND / HTTP/1.1\r\nHost: a.test\r\n\r\n', 'ok'],
  // ends of lines
  ['a bare LF after the request line', 'GET / HTTP/1.1\nHost: a.test\r\n\r\n', 'bad'],
  ['a bare LF after a field', 'GET / HTTP/1.1\r\nHost: a.test\nX: 1\r\n\r\n', 'bad'],
  ['a bare LF at the end', 'GET / HTTP/1.1\r\nHost: a.test\r\n\nX', 'bad'],
  ['a bare CR in a value', get('X: 1\rY: 2'), 'bad'],
  ['a bare CR at the end', 'GET / HTTP/1.1\r\nHost: a.test\r\n\rX', 'bad'],
  ['CR CR LF', 'GET / HTTP/1.1\r\r\nHost: a.test\r\n\r\n', 'bad'],
  ['a folded line', get('X: 1', ' more'), 'bad'],
  ['a folded line by tab', get('X: 1', '\tmore'), 'bad'],
  ['a folded first line', 'GET / HTTP/1.1\r\n Host: a.test\r\n\r\n', 'bad'],
  // bytes
  ['NUL in a value', get('X: a\0b'), 'bad'],
  ['a control in a value', get('X: a\x01b'), 'bad'],
  ['DEL in a value', get('X: a\x7fb'), 'bad'],
  ['NUL in the target', absolute('/a\0b'), 'bad'],
  ['a fragment in the target', absolute('/a#b'), 'bad'],
  ['a control in a name', get('X\x01: 1'), 'bad'],
  // spaces
  ['a space before the colon', get('X : 1'), 'bad'],
  ['a tab before the colon', get('X\t: 1'), 'bad'],
  ['a leading space', ` ${get()}`, 'bad'],
  ['a leading empty line', `\r\n${get()}`, 'bad'],
  ['an empty name', get(': 1'), 'bad'],
  ['a line without a colon', get('X'), 'bad'],
  ['two spaces before the target', 'GET  / HTTP/1.1\r\nHost: a.test\r\n\r\n', 'bad'],
  ['two spaces after the target', 'GET /  HTTP/1.1\r\nHost: a.test\r\n\r\n', 'bad'],
  ['a tab after the method', 'GET\t/ HTTP/1.1\r\nHost: a.test\r\n\r\n', 'bad'],
  ['a space after the version', 'GET / HTTP/1.1 \r\nHost: a.test\r\n\r\n', 'bad'],
  ['no target', 'GET HTTP/1.1\r\nHost: a.test\r\n\r\n', 'bad'],
  // versions
  ['HTTP/0.9', 'GET /\r\n\r\n', 'bad'],
  ['HTTP/1.2', 'GET / HTTP/1.2\r\nHost: a.test\r\n\r\n', 'bad'],
  ['HTTP/2.0', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'bad'],
  ['http/1.1', 'GET / http/1.1\r\nHost: a.test\r\n\r\n', 'bad'],
  ['HTTP/1.10', 'GET / HTTP/1.10\r\nHost: a.test\r\n\r\n', 'bad'],
  ['HTTP/01.1', 'GET / HTTP/01.1\r\nHost: a.test\r\n\r\n', 'bad'],
  // host
  ['no host', 'GET / HTTP/1.1\r\n\r\n', 'bad'],
  ['no host in HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n', 'bad'],
  ['two hosts', get('Host: a.test'), 'bad'],
  ['two hosts that differ', get('hOST: b.test'), 'bad'],
  ['an empty host', hosted(''), 'bad'],
  ['a host with a port', hosted('a.test:8080'), 'ok'],
  ['a host in capitals with a trailing dot', hosted('A.Test.'), 'ok'],
  ['an IPv4 host', hosted('127.0.0.1:80'), 'ok'],
  ['an IPv6 host', hosted('[::1]:8080'), 'ok'],
  ['an IPv6 host without port', hosted('[fe80::1]'), 'ok'],
  ['an IPv6 host that does not end', hosted('[::1'), 'bad'],
  ['an IPv6 host with a name in it', hosted('[a.test]'), 'bad'],
  ['an empty IPv6 host', hosted('[]'), 'bad'],
  ['words behind an IPv6 host', hosted('[::1]x'), 'bad'],
  ['a port that is no number', hosted('a.test:b'), 'bad'],
  ['a second port', hosted('a.test:80:90'), 'bad'],
  ['an empty port', hosted('a.test:'), 'bad'],
  ['a port of six digits', hosted('a.test:123456'), 'bad'],
  ['a port alone', hosted(':80'), 'bad'],
  ['user information in the host', hosted('a@b.test'), 'bad'],
  ['a path in the host', hosted('a.test/x'), 'bad'],
  ['a space in the host', hosted('a.test b.test'), 'bad'],
  ['a list of hosts', hosted('a.test,b.test'), 'bad'],
  ['a percent sign in the host', hosted('a%2etest'), 'bad'],
  ['bytes beyond ASCII in the host', hosted('\xe4.test'), 'bad'],
  ['the longest host', hosted('a'.repeat(259)), 'ok'],
  ['a host one longer', hosted('a'.repeat(260)), 'bad'],
  ['a host with an underscore, which Docker names have', hosted('a_b.test'), 'ok'],
  // targets
  ['an absolute target with the same host', absolute('http://a.test/x'), 'ok'],
  ['an absolute target in other case', absolute('HTTP://A.TEST/x'), 'ok'],
  ['an absolute target with the same port', absolute('http://a.test:81/x', 'a.test:81'), 'ok'],
  ['an absolute target with another host', absolute('http://b.test/x'), 'bad'],
  ['an absolute target with another port', absolute('http://a.test:81/x'), 'bad'],
  ['an absolute target with a user', absolute('http://a.test@b.test/x', 'b.test'), 'bad'],
  ['an absolute target without authority', absolute('http:///x'), 'bad'],
  ['another scheme', absolute('ftp://a.test/x'), 'bad'],
  ['a bare authority', absolute('a.test:80'), 'bad'],
  ['a relative target', absolute('x'), 'bad'],
  ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n', 'ok'],
  ['GET *', absolute('*'), 'bad'],
  ['OPTIONS **', 'OPTIONS ** HTTP/1.1\r\nHost: a.test\r\n\r\n', 'bad'],
  ['CONNECT', 'CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\n\r\n', 'bad'],
  ['CONNECT in origin-form', 'CONNECT / HTTP/1.1\r\nHost: a.test\r\n\r\n', 'bad'],
  ['connect in small letters', 'connect / HTTP/1.1\r\nHost: a.test\r\n\r\n', 'bad'],
  ['CONNECT in absolute-form', 'CONNECT http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n', 'bad'],
  // framing
  ['a length', get('Content-Length: 5'), 'ok'],
  ['a chunked body', get(chunked), 'ok'],
  ['chunked in other case', get('transfer-encoding:CHUNKED'), 'ok'],
  ['length and coding', get('Content-Length: 5', chunked), 'bad'],
  ['coding and length', get(chunked, 'Content-Length: 5'), 'bad'],
  ['two lengths', get('Content-Length: 5', 'Content-Length: 5'), 'bad'],
  ['a list of lengths', get('Content-Length: 5, 5'), 'bad'],
  ['a length with a sign', get('Content-Length: +5'), 'bad'],
  ['a negative length', get('Content-Length: -5'), 'bad'],
  ['a length in hexadecimal', get('Content-Length: 0x5'), 'bad'],
  ['a length with a space in it', get('Content-Length: 5 5'), 'bad'],
  ['an empty length', get('Content-Length: '), 'bad'],
  ['a length of 15 digits', get(`Content-Length: ${'9'.repeat(15)}`), 'ok'],
  ['a length of 16 digits', get(`Content-Length: ${'9'.repeat(16)}`), 'bad'],
  ['a length beyond 64 bits', get('Content-Length: 18446744073709551617'), 'bad'],
  ['two codings', get(chunked, chunked), 'bad'],
  ['gzip, chunked', get('Transfer-Encoding: gzip, chunked'), 'bad'],
  ['chunked, identity', get('Transfer-Encoding: chunked, identity'), 'bad'],
  ['identity', get('Transfer-Encoding: identity'), 'bad'],
  ['xchunked', get('Transfer-Encoding: xchunked'), 'bad'],
  ['chunked in quotes', get('Transfer-Encoding: "chunked"'), 'bad'],
  ['chunked with a vertical tab', get('Transfer-Encoding: \x0bchunked'), 'bad'],
  ['chunked and a tab', get('Transfer-Encoding: chunked\t'), 'bad'],
  ['chunked and a space', get('Transfer-Encoding: chunked '), 'bad'],
  ['an empty coding', get('Transfer-Encoding:'), 'bad'],
  ['a coding in HTTP/1.0', `GET / HTTP/1.0\r\nHost: a.test\r\n${chunked}\r\n\r\n`, 'bad'],
  ['a coding with a space before the colon', get('Transfer-Encoding : chunked'), 'bad'],
  ['an unknown expectation', get('Expect: magic'), 'bad'],
  // connection
  ['usual connection options', get('Connection: keep-alive, Upgrade, TE,, HTTP2-Settings'), 'ok'],
  ['a connection that names a field', get('Connection: x-hop', 'X-Hop: 1'), 'ok'],
  ['a connection that names Host', get('Connection: host'), 'bad'],
  ['a connection that names the length', get('Connection: close, Content-Length', 'Content-Length: 1'), 'bad'],
  ['a connection that names the coding', get('Connection: Transfer-Encoding', chunked), 'bad'],
  ['a connection that names X-Forwarded-For', get('Connection: X-Forwarded-For'), 'bad'],
  ['a connection that names X-Forwarded-Port', get('Connection: X-Forwarded-Port'), 'bad'],
  ['a connection that is no list of names', get('Connection: "close"'), 'bad'],
  ['a connection with a space inside a name', get('Connection: clo se'), 'bad'],
  ['a connection that names 16 fields', get(`Connection: ${many(16).map((x) => x.split(':')[0]).join(',')}`), 'ok'],
  ['a connection that names 17 fields', get(`Connection: ${many(17).map((x) => x.split(':')[0]).join(',')}`), 'bad'],
  // bounds
  ['a method of 32 letters', `${'A'.repeat(32)} / HTTP/1.1\r\nHost: a.test\r\n\r\n`, 'ok'],
  ['a method of 33 letters', `${'A'.repeat(33)} / HTTP/1.1\r\nHost: a.test\r\n\r\n`, 'bad'],
  ['99 fields', get(...many(98)), 'ok'],
  ['100 fields', get(...many(99)), 'ok'],
  ['101 fields', get(...many(100)), 'large'],
  ['a head one below the limit', sized(USUAL_LIMITS.headBytes - 1), 'ok'],
  ['a head at the limit', sized(USUAL_LIMITS.headBytes), 'ok'],
  ['a head one above', sized(USUAL_LIMITS.headBytes + 1), 'large'],
  ['a head that never ends', `GET / HTTP/1.1\r\nHost: ${'a'.repeat(USUAL_LIMITS.headBytes)}`, 'large'],
  ['a name that never ends', `GET / HTTP/1.1\r\n${'a'.repeat(USUAL_LIMITS.headBytes)}`, 'large'],
  ['a target one below the limit', targeted(16_383), 'ok'],
  ['a target at the limit', targeted(16_384), 'ok'],
  ['a target one above', targeted(16_385), 'target'],
  ['a target that never ends', `GET /${'a'.repeat(16_384)}`, 'target'],
];

for (const [name, text, verdict] of REQUESTS) {
  test(`${verdict === 'ok' ? 'takes' : 'refuses'} ${name}`, () => {
    const whole = parsed(text);
    assert.equal(whole.verdict, verdict, whole.head.reason);
    if (verdict === 'ok') assert.equal(whole.end, text.length);
    // Cut at every byte: the verdict may come early, but it is the same, and nothing is taken before its end.
    const step = text.length > 4_096 ? 251 : 1;
    for (let cut = 0; cut < text.length; cut += step) {
      const { verdict: early } = parsed(text.slice(0, cut));
      if (verdict === 'ok') assert.equal(early, 'more', `after ${cut} bytes`);
      else assert.notEqual(early, 'ok', `after ${cut} bytes`);
    }
    assert.equal(parsed(`${text}GET`).verdict, verdict);
  });
}

test('ends where the head ends, whatever follows', () => {
  const text = get('Content-Length: 5');
  for (const behind of ['hello', get(), '\n', '\0']) assert.equal(parsed(text + behind).end, text.length);
});

// biome-ignore format: a table
const DROPPED = [
  'Connection: close', 'Keep-Alive: timeout=5', 'Proxy-Connection: keep-alive', 'TE: trailers', 'Upgrade: h2c', 'HTTP2-Settings: AAMA',
  'Proxy-Authorization: Basic eDp5', 'Proxy-Authenticate: x', 'Content-Length: 1', 'X-Forwarded-For: 1.1.1.1', 'x-forwarded-proto: https',
  'X-FORWARDED-HOST: b.test', 'X-Forwarded-Port: 1', 'X-Forwarded-Prefix: /x', 'X-Forwarded-Server: x', 'Forwarded: for=1.1.1.1',
  ...CLAIMS_OF_VISITORS.map((name) => `${name}: 1.1.1.1`), 'CF_Connecting-IP: 1.1.1.1', 'CLIENT-IP: 1.1.1.1',
  'X_Forwarded_For: 1.1.1.1', 'X-Forwarded_Proto: https', 'x_real_ip: 1.1.1.1', 'Content_Length: 7', 'Transfer_Encoding: chunked',
];

for (const line of DROPPED) {
  test(`does not forward ${line}`, () => {
    const text = get('A: 1', line, 'B: 2');
    const of = parsed(text);
    assert.equal(of.verdict, 'ok', of.head.reason);
    assert.equal(kept(text, of), get('A: 1', 'B: 2'));
  });
}

test('forwards names that only resemble the guarded ones', () => {
  const lines = ['X-Forward-For: 1', 'Upgrade-Insecure-Requests: 1', 'Hosts: x', 'Content-Lengths: 3'];
  const text = get(...lines);
  assert.equal(kept(text, parsed(text)), text);
});

test('an underscore does not make a second host or length', () => {
  const of = parsed(get('Content_Length: 7', 'Content-Length: 5'));
  assert.deepEqual([of.verdict, of.head.contentLength], ['ok', 5]);
});

test('leaves out every line that Connection names, before and behind it', () => {
  const text = get('X-Hop: 1', 'A: 1', 'Connection: x-hop, X-HOP, other', 'x-hop: 2', 'Other: 3', 'B: 2');
  assert.equal(kept(text, parsed(text)), get('A: 1', 'B: 2'));
});

test('reports framing, version and options', () => {
  const { head } = parsed(
    'POST /x?y HTTP/1.0\r\nHost: a.test\r\nContent-Length: 0042\r\nConnection: Keep-Alive\r\n\r\n',
  );
  assert.deepEqual([head.minor, head.contentLength, head.keepAlive, head.close], [0, 42, true, false]);
  const upgrade = parsed(get('Connection: keep-alive, Upgrade', 'Upgrade: WebSocket')).head;
  assert.deepEqual([upgrade.connectionUpgrade, upgrade.upgradeWebsocket], [true, true]);
  for (const not of ['websocket, h2c', 'h2c', 'websocket/1', 'TLS/1.0'])
    assert.equal(parsed(get('Connection: Upgrade', `Upgrade: ${not}`)).head.upgradeWebsocket, false, not);
  const twice = parsed(get('Connection: Upgrade', 'Upgrade: websocket', 'Upgrade: websocket')).head;
  assert.equal(twice.upgradeWebsocket, false);
});

test('one Head serves all requests: nothing of one is left for the next', () => {
  const head = new Head();
  const rich = Buffer.from(
    get(
      'Connection: close, x',
      'X: 1',
      'Upgrade: websocket',
      chunked,
      'Accept: text/html',
      'X-Forwarded-For: 1',
      'Expect: 100-continue',
    ),
  );
  const plain = Buffer.from(get());
  assert.ok(parseRequestHead(rich, 0, rich.length, head) > 0);
  assert.equal(parseRequestHead(plain, 0, plain.length, head), plain.length);
  const {
    close,
    chunked: isChunked,
    upgradeWebsocket,
    acceptsHtml,
    expectContinue,
    dropCount,
    forwardedForCount,
  } = head;
  assert.deepEqual(
    [close, isChunked, upgradeWebsocket, acceptsHtml, expectContinue, dropCount, forwardedForCount, head.contentLength],
    [false, false, false, false, false, 0, 0, -1],
  );
  assert.equal(head.nominated.length, 0);
  assert.equal(parseRequestHead(plain, 0, 10, head), INCOMPLETE);
});
