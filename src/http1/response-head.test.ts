import assert from 'node:assert/strict';
import { test } from 'node:test';
import { USUAL_LIMITS } from './head-limits.ts';
import { kept, parsed, type Verdict } from './testing.ts';

const ok = (...lines: string[]): string => ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n');
const status = (line: string): string => `${line}\r\n\r\n`;

// biome-ignore format: a table
const RESPONSES: ReadonlyArray<readonly [string, string, Verdict]> = [
  ['a plain response', ok('Content-Length: 2'), 'ok'],
  ['HTTP/1.0', status('HTTP/1.0 200 OK'), 'ok'],
  ['no reason', status('HTTP/1.1 200 '), 'ok'],
  ['no reason and no space', status('HTTP/1.1 200'), 'ok'],
  ['a reason beyond ASCII', status('HTTP/1.1 200 \xe4'), 'ok'],
  ['100 fields', ok(...Array.from({ length: 100 }, (_, i) => `x${i}: 1`)), 'ok'],
  ['HTTP/2', status('HTTP/2 200 OK'), 'bad'],
  ['HTTP/1.2', status('HTTP/1.2 200 OK'), 'bad'],
  ['a status of two digits', status('HTTP/1.1 20 OK'), 'bad'],
  ['a status of four digits', status('HTTP/1.1 2000 OK'), 'bad'],
  ['a status below 100', status('HTTP/1.1 099 OK'), 'bad'],
  ['two spaces before the status', status('HTTP/1.1  200 OK'), 'bad'],
  ['a reason with a control', status('HTTP/1.1 200 O\0K'), 'bad'],
  ['what is not HTTP', status('SSH-2.0-OpenSSH_9.9'), 'bad'],
  ['HTML at once', '<html><body>no', 'bad'],
  ['a bare LF', 'HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n', 'bad'],
  ['a bare LF at the end', 'HTTP/1.1 200 OK\r\n\nx', 'bad'],
  ['a space before the colon', ok('Content-Length : 2'), 'bad'],
  ['a folded line', ok('X: 1', ' 2'), 'bad'],
  ['two lengths', ok('Content-Length: 2', 'Content-Length: 3'), 'bad'],
  ['two equal lengths', ok('Content-Length: 2', 'Content-Length: 2'), 'bad'],
  ['a list of lengths', ok('Content-Length: 2, 2'), 'bad'],
  ['a negative length', ok('Content-Length: -1'), 'bad'],
  ['length and coding', ok('Content-Length: 2', 'Transfer-Encoding: chunked'), 'bad'],
  ['gzip, chunked', ok('Transfer-Encoding: gzip, chunked'), 'bad'],
  ['coding twice', ok('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'), 'bad'],
  ['a connection that names the length', ok('Connection: content-length', 'Content-Length: 2'), 'bad'],
  ['101 fields', ok(...Array.from({ length: 101 }, (_, i) => `x${i}: 1`)), 'large'],
  ['a head that never ends', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(USUAL_LIMITS.headBytes)}`, 'large'],
];

for (const [name, text, verdict] of RESPONSES) {
  test(`${verdict === 'ok' ? 'takes' : 'refuses'} ${name}`, () => {
    const whole = parsed(text, 'response');
    assert.equal(whole.verdict, verdict, whole.head.reason);
    if (verdict === 'ok') assert.equal(whole.end, text.length);
    const step = text.length > 4_096 ? 251 : 1;
    for (let cut = 0; cut < text.length; cut += step) {
      const { verdict: early } = parsed(text.slice(0, cut), 'response');
      if (verdict === 'ok') assert.equal(early, 'more', `after ${cut} bytes`);
      else assert.notEqual(early, 'ok', `after ${cut} bytes`);
    }
  });
}

test('what is for this hop alone is not forwarded, the framing is', () => {
  const lines = ['Content-Length: 2', 'X: 1'];
  const text = ok(
    'Connection: keep-alive, X-Hop',
    'Keep-Alive: timeout=7, max=3',
    'X-Hop: 1',
    'Proxy-Connection: x',
    ...lines,
  );
  const of = parsed(text, 'response');
  assert.equal(kept(text, of), ok(...lines));
  assert.deepEqual([of.head.keepAlive, of.head.keepAliveSeconds], [true, 7]);
});

test('only the edge says culvert-error', () => {
  for (const line of ['culvert-error: x', 'Culvert-Error: x', 'CULVERT_ERROR: x']) {
    const text = ok(line, 'Content-Length: 0');
    assert.equal(kept(text, parsed(text, 'response')), ok('Content-Length: 0'), line);
  }
});

test('a response that can have no body is not forwarded with a length', () => {
  for (const line of ['Content-Length: 5', 'Transfer-Encoding: chunked']) {
    for (const bodiless of ['100 Continue', '103 Early Hints', '204 No Content']) {
      const text = `HTTP/1.1 ${bodiless}\r\nA: 1\r\n${line}\r\nB: 2\r\n\r\n`;
      assert.equal(kept(text, parsed(text, 'response')), `HTTP/1.1 ${bodiless}\r\nA: 1\r\nB: 2\r\n\r\n`);
    }
    const unchanged = `HTTP/1.1 304 Not Modified\r\n${line}\r\n\r\n`;
    assert.equal(kept(unchanged, parsed(unchanged, 'response')), unchanged);
  }
});

test('limits of Keep-Alive are read, nonsense is not', () => {
  const seconds = (value: string): number => parsed(ok(`Keep-Alive: ${value}`), 'response').head.keepAliveSeconds;
  assert.deepEqual(['timeout=5', 'max=10, Timeout=30', 'timeout=x', 'max=5', ''].map(seconds), [5, 30, -1, -1, -1]);
});
