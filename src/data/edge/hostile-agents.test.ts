/**
 * Agents that speak the protocol and break HTTP: what they send in place of a response reaches nobody but the visitor who asked, as a 502 or a
 * clear cut, and is counted. Bytes behind a complete response, and those of services: http-kept.test.ts, http-fault.test.ts.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HostileRig } from './testing/hostile-agent.ts';

const WITHIN = { timeout: 30_000 };
const ok = (...lines: string[]): string => `HTTP/1.1 200 OK\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;

// biome-ignore format: a table
const NO_RESPONSES: ReadonlyArray<readonly [string, string]> = [
  ['a length and chunks', `${ok('Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n`],
  ['chunks and a length', `${ok('Transfer-Encoding: chunked', 'Content-Length: 5')}0\r\n\r\n`],
  ['two lengths', `${ok('Content-Length: 5', 'Content-Length: 50')}evil!`],
  ['a list of lengths', `${ok('Content-Length: 5, 5')}evil!`],
  ['a length with a sign', `${ok('Content-Length: +5')}evil!`],
  ['a length beyond numbers', `${ok('Content-Length: 99999999999999999')}evil!`],
  ['another coding', ok('Transfer-Encoding: gzip, chunked')],
  ['chunked twice', ok('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked')],
  ['chunks in HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['a chunk that is none at once', `${ok('Transfer-Encoding: chunked')}evil`],
  ['a response split by LF', ok('X: a\n\nHTTP/1.1 200 OK\nSet-Cookie: evil=1')],
  ['a response split by CR', ok('X: a\r\rHTTP/1.1 200 OK\rSet-Cookie: evil=1')],
  ['a field split by LF', ok('X: a\nSet-Cookie: evil=1')],
  ['NUL in a field', ok('X: a\0Set-Cookie: evil=1')],
  ['a folded field', ok('X: a', ' evil')],
  ['a space before the colon', ok('Content-Length : 0')],
  ['Connection that names the length', ok('Connection: content-length', 'Content-Length: 5')],
  ['101 that nobody asked for', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
  ['too many interim responses', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(17)],
  ['an interim response without end', `HTTP/1.1 103 Early Hints\r\nLink: ${'a'.repeat(40_000)}`],
  ['too many fields', ok(...Array.from({ length: 101 }, (_, i) => `X${i}: evil`))],
  ['a head without end', `HTTP/1.1 200 OK\r\nX: ${'evil'.repeat(10_000)}`],
  ['a request', 'GET / HTTP/1.1\r\nHost: calm.example.test\r\n\r\n'],
  ['HTTP/2', '\0\0\0\x04\0\0\0\0\0'],
  ['HTTP/0.9', '<html>evil</html>'],
];

test('what is no response is a 502 for who asked, counted, and nothing to anybody else', WITHIN, async (t) => {
  let answer = '';
  const hostile = await HostileRig.start(t, (line) => line.say(answer));
  for (const [name, text] of NO_RESPONSES) {
    answer = text;
    const before = hostile.count('local_bad_response');
    const wire = await hostile.rig.visit();
    wire.ask('GET /');
    const seen = await wire.until(/culvert-error: local_bad_response\r\n[^]*\r\n\r\n\{.*\}\n/);
    assert.match(seen, /HTTP\/1\.1 502 Bad Gateway\r\n/, name);
    assert.doesNotMatch(seen, /evil/, name);
    assert.equal(hostile.count('local_bad_response'), before + 1, name);
    // Its connection is in step still.
    wire.text = '';
    wire.ask('GET /own');
    assert.equal((await wire.response()).body, 'own', name);
    await hostile.goesOn();
  }
});

// biome-ignore format: a table
const HALVES: ReadonlyArray<readonly [string, string, 'end' | 'reset' | 'stays']> = [
  ['less than the length, and an end', `${ok('Content-Length: 50')}half`, 'end'],
  ['less than the length, and a reset', `${ok('Content-Length: 50')}half`, 'reset'],
  ['a chunk without its end, and an end', `${ok('Transfer-Encoding: chunked')}4\r\nhalf`, 'end'],
  ['chunks without the last, and an end', `${ok('Transfer-Encoding: chunked')}4\r\nhalf\r\n`, 'end'],
  ['chunks without the last, and a reset', `${ok('Transfer-Encoding: chunked')}4\r\nhalf\r\n`, 'reset'],
  ['no length, and a reset', `${ok()}half`, 'reset'],
  ['a chunk that is none', `${ok('Transfer-Encoding: chunked')}4\r\nhalf\r\nevil\r\n`, 'stays'],
  ['a chunk that is longer', `${ok('Transfer-Encoding: chunked')}4\r\nhalfevil\r\n0\r\n\r\n`, 'stays'],
  ['chunk extensions without end', `${ok('Transfer-Encoding: chunked')}4\r\nhalf\r\n1;${'evil'.repeat(5_000)}`, 'stays'],
  ['trailers without end', `${ok('Transfer-Encoding: chunked')}4\r\nhalf\r\n0\r\n${'X: evil\r\n'.repeat(2_000)}`, 'stays'],
  ['a trailer that is none', `${ok('Transfer-Encoding: chunked')}4\r\nhalf\r\n0\r\nevil\r\n\r\n`, 'stays'],
  ['a trailer that is split', `${ok('Transfer-Encoding: chunked')}4\r\nhalf\r\n0\r\nX: a\nevil: b\r\n\r\n`, 'stays'],
];

for (const tls of [false, true]) {
  test(`half a response is seen as cut off by who asked (${tls ? 'TLS' : 'plain'})`, WITHIN, async (t) => {
    let at = 0;
    const hostile = await HostileRig.start(t, (line) => {
      const [, text, then] = HALVES[at] as (typeof HALVES)[number];
      const body = text.indexOf('half');
      line.say(text.slice(0, body + 2));
      line.say(text.slice(body + 2));
      if (then === 'end') line.stream.end();
      else if (then === 'reset') line.stream.reset();
    });
    for (const [name] of HALVES) {
      const wire = await hostile.rig.visit({ tls });
      wire.ask('GET /');
      assert.equal(await wire.closed, 'cut', name);
      assert.match(wire.text, /^HTTP\/1\.1 200 OK\r\n/, name);
      assert.doesNotMatch(wire.text, /evil|\r\n0\r\n/, name);
      at++;
      if (!tls) await hostile.goesOn();
    }
  });
}

test(
  'a response that is complete is not spoiled by what comes behind it, and what comes behind it is lost',
  WITHIN,
  async (t) => {
    const evil = `${ok('Content-Length: 4', 'Set-Cookie: evil=1')}evil`;
    // biome-ignore format: a table
    const behind: ReadonlyArray<readonly [string, string]> = [
    ['HEAD with a body', `${ok('Content-Length: 4')}evil`],
    ['HEAD with chunks', `${ok('Transfer-Encoding: chunked')}4\r\nevil\r\n0\r\n\r\n`],
    ['GET 204 with a body', 'HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nevil'],
    ['GET 304 with chunks', 'HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nevil\r\n0\r\n\r\n'],
    ['GET a response and another', `${ok('Content-Length: 4')}good${evil}`],
    ['GET a response and ten more', `${ok('Content-Length: 4')}good${evil.repeat(10)}`],
    ['GET the last chunk and a response', `${ok('Transfer-Encoding: chunked')}4\r\ngood\r\n0\r\n\r\n${evil}`],
    ['GET Connection: close and a response', `${ok('Content-Length: 4', 'Connection: close')}good${evil}`],
    ['GET Keep-Alive: timeout=0 and a response', `${ok('Content-Length: 4', 'Keep-Alive: timeout=0')}good${evil}`],
    ['GET an interim response behind it', `${ok('Content-Length: 4')}goodHTTP/1.1 103 evil\r\n\r\n`],
  ];
    let answer = '';
    const pieces: Array<() => void> = [];
    const hostile = await HostileRig.start(t, (line) => {
      // The second half comes when another request may be on its way on the same stream.
      const cut = answer.indexOf('evil') < 0 ? answer.length : answer.indexOf('evil');
      line.say(answer.slice(0, cut));
      line.say(answer.slice(cut));
      pieces.push(() => line.say(evil));
    });
    for (const [name, text] of behind) {
      answer = text;
      const method = name.slice(0, name.indexOf(' '));
      const wire = await hostile.rig.visit();
      wire.ask(`${method} /`);
      const isBodiless = method === 'HEAD' || /^HTTP\/1.1 [23]04/.test(text);
      if (/chunked/.test(text) && !isBodiless) await wire.until('good\r\n0\r\n\r\n');
      else assert.equal((await wire.response(isBodiless)).body, isBodiless ? '' : 'good', name);
      await hostile.goesOn();
      pieces.pop()?.();
      await hostile.goesOn();
      assert.doesNotMatch(wire.text, /evil/, name);
      wire.socket.destroy();
    }
  },
);
