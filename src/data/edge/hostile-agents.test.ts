/**
 * Agents that speak the protocol and break HTTP: what they send in place of a response reaches only the visitor of that request, as a 502 or a
 * clear cut, and is counted. Bytes behind a complete response, and those of services: http-kept.test.ts, http-fault.test.ts.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HostileRig } from './testing/hostile-agent.ts';
import { HALVES, NO_RESPONSES, ok } from './testing/hostile-responses.ts';

const WITHIN = { timeout: 120_000 };
test('hostile agent: a malformed response is a counted 502 for its visitor and changes no other', WITHIN, async (t) => {
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
