/** Hostile agents before visitors of HTTP/2: one stream is refused or reset, those beside it on the same connection get their own answers. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type Logger, silentLog } from '../../base/log.ts';
import { HostileRig } from './testing/hostile-agent.ts';
import { HALVES, NO_RESPONSES, ok } from './testing/hostile-responses.ts';
import { HTTP2_ENGINES } from './testing/http2-engines.ts';
import { Http2Visitor } from './testing/http2-visitor.ts';

const WITHIN = { timeout: 120_000 };
const OWN = { ':path': '/own' };

/** Fails the test where the edge logs a fault of its own. */
const failing: Logger = {
  ...silentLog,
  error: (fields, message) => assert.fail(`${message}: ${JSON.stringify(fields)}`),
  child: () => failing,
};

for (const http2 of HTTP2_ENGINES)
  suite(`hostile agents (${http2})`, () => {
    test('what is no response is a 502 for its stream alone', WITHIN, async (t) => {
      let answer = '';
      const hostile = await HostileRig.start(t, (line) => line.say(answer), { http2, log: failing });
      const visitor = await Http2Visitor.open(t, hostile.rig);
      // HTTP/2 has no statuses beyond 599.
      for (const [name, text] of [...NO_RESPONSES, ['a status beyond 599', 'HTTP/1.1 600 evil\r\n\r\n']] as const) {
        answer = text;
        const before = hostile.count('local_bad_response');
        const [bad, own] = await Promise.all([visitor.ask({ ':path': '/' }), visitor.ask(OWN)]);
        assert.deepEqual([bad.status, own.body], [502, 'own'], name);
        assert.doesNotMatch(JSON.stringify(bad), /evil/, name);
        assert.equal(hostile.count('local_bad_response'), before + 1, name);
      }
      await hostile.goesOn();
    });

    test('half a response is a reset stream, and the connection goes on', WITHIN, async (t) => {
      let at = 0;
      const hostile = await HostileRig.start(
        t,
        (line) => {
          const [, text, then] = HALVES[at] as (typeof HALVES)[number];
          const body = text.indexOf('half');
          line.say(text.slice(0, body + 2));
          line.say(text.slice(body + 2));
          if (then === 'end') line.stream.end();
          else if (then === 'reset') line.stream.reset();
        },
        { http2, log: failing },
      );
      const visitor = await Http2Visitor.open(t, hostile.rig);
      for (const [name] of HALVES) {
        await assert.rejects(visitor.ask({ ':path': '/' }), /reset/, name);
        assert.equal((await visitor.ask(OWN)).body, 'own', name);
        at++;
      }
      await hostile.goesOn();
    });

    test('fields that HTTP/2 has another form for do no harm', WITHIN, async (t) => {
      let answer = '';
      const hostile = await HostileRig.start(t, (line) => line.say(answer), { http2, log: failing });
      const visitor = await Http2Visitor.open(t, hostile.rig);
      const chunked = (...trailers: string[]): string =>
        `${ok('Transfer-Encoding: chunked')}4\r\ngood\r\n0\r\n${trailers.map((line) => `${line}\r\n`).join('')}\r\n`;
      for (const text of [
        ...[
          '__proto__: 1',
          'status: 500',
          'te: x',
          'Proxy-Connection: x',
          'HTTP2-Settings: x',
          'Keep-Alive: x',
          'Host: x',
          'X:',
          'X: \xff',
          "!#$%&'*+-.^_`|~: 1",
        ].map((line) => `${ok(line, line, 'Content-Length: 4')}good`),
        chunked('__proto__: 1', 'status: 500', 'X: \xff', 'ETag: a', 'ETag: b'),
        chunked('Connection: close', 'Upgrade: h2c', 'Transfer-Encoding: chunked'),
        `HTTP/1.1 103 Early Hints\r\n__proto__: 1\r\nDate: a\r\nDate: b\r\nConnection: close\r\n\r\n${ok('Content-Length: 4')}good`,
        `${ok('Content-Length: 4')}good${ok('Content-Length: 4', 'Set-Cookie: evil=1')}evil`,
      ]) {
        answer = text;
        const { status, body, headers } = await visitor.ask({ ':path': '/' });
        assert.deepEqual([status, body], [200, 'good'], text);
        assert.doesNotMatch(JSON.stringify(headers), /evil/, text);
        assert.equal((await visitor.ask(OWN)).body, 'own', text);
      }
    });
  });
