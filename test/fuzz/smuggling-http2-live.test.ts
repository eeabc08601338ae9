/**
 * What was found in servers that turn HTTP/2 into HTTP/1.1, by class, as frames on sockets; and some hundred cases of the fuzzer the same way. What
 * the service gets is one request as it was meant, or nothing.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HTTP2_ENGINES } from '../../src/data/edge/testing/http2-engines.ts';
import { Rig } from '../../src/data/edge/testing/rig.ts';
import { randomOf } from './cases.ts';
import type { StreamCase } from './dry-http2.ts';
import { askRaw } from './raw-http2.ts';
import { streamCase } from './smuggling-http2.ts';
import { strictOrigin } from './strict-origin.ts';

const WITHIN = { timeout: 120_000 };
const HOST = 'shop.example.test';
const HIDDEN = `GET /hidden HTTP/1.1\r\nHost: ${HOST}\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n`;

const head = (over: Readonly<Record<string, string>> = {}, ...more: string[]): string[] => {
  const pseudo = { ':method': 'POST', ':scheme': 'https', ':path': '/', ':authority': HOST, ...over };
  return [...Object.entries(pseudo).flat(), ...more];
};
const whole = (fields: string[], ...data: string[]): StreamCase => ({ fields, data, ends: 'end' });
const bare = (fields: string[]): StreamCase => ({ fields, data: null, ends: 'not' });

const NEXT = bare(head({ ':method': 'GET', ':path': '/next' }));

/** The last: what the service gets at most, or null. Of a request that turns out to be none it may have seen so much. */
// biome-ignore format: a table
const CASES: ReadonlyArray<readonly [string, StreamCase, string | null]> = [
  ['as it should be', whole(head(), 'hello'), 'POST / hello'],
  ['as it should be, without a body', bare(head({ ':method': 'GET' })), 'GET / '],
  ['H2.CL: less than is sent', whole(head({}, 'content-length', '0'), HIDDEN), 'POST / '],
  ['H2.CL: more than is sent', whole(head({}, 'content-length', '500'), 'hello'), null],
  ['H2.CL: twice', whole(head({}, 'content-length', '5', 'content-length', '50'), 'hello'), null],
  ['H2.CL: a list', whole(head({}, 'content-length', '5, 5'), 'hello'), null],
  ['H2.CL: a sign', whole(head({}, 'content-length', '+5'), 'hello'), null],
  ['H2.CL: without a body', bare(head({}, 'content-length', '5')), null],
  ['H2.TE: chunked', whole(head({}, 'transfer-encoding', 'chunked'), `0\r\n\r\n${HIDDEN}`), null],
  ['H2.TE: in upper case', whole(head({}, 'Transfer-Encoding', 'chunked'), `0\r\n\r\n${HIDDEN}`), null],
  ['H2.TE: te', whole(head({}, 'te', 'chunked'), 'hello'), null],
  ['H2.0: the body is a request', whole(head(), HIDDEN), `POST / ${HIDDEN}`],
  ['H2.0: the body is chunks', whole(head(), '0\r\n\r\n', HIDDEN), `POST / 0\r\n\r\n${HIDDEN}`],
  // node:http2 leaves these fields out, our own refuses the request: LEFT_OUT.
  ['CRLF in a value', whole(head({}, 'x', 'y\r\nTransfer-Encoding: chunked'), `0\r\n\r\n${HIDDEN}`), `POST / 0\r\n\r\n${HIDDEN}`],
  ['CRLF in a value: a whole request', bare(head({ ':method': 'GET' }, 'x', `y\r\n\r\n${HIDDEN}`)), 'GET / '],
  ['LF in a value', bare(head({}, 'x', 'y\nz: 1')), 'POST / '],
  ['CR in a value', bare(head({}, 'x', 'y\rz: 1')), 'POST / '],
  ['NUL in a value', bare(head({}, 'x', 'y\0z')), 'POST / '],
  ['CRLF in a name', bare(head({}, 'x: y\r\nz', '1')), 'POST / '],
  ['a colon in a name', bare(head({}, 'transfer-encoding: chunked\r\nx', '1')), 'POST / '],
  ['a space in a name', bare(head({}, 'x y', '1')), 'POST / '],
  ['a name in upper case', bare(head({}, 'X', '1')), null],
  ['an empty name', bare(head({}, '', '1')), 'POST / '],
  [':method with a space', bare(head({ ':method': 'GET / HTTP/1.1\r\nX:' })), null],
  [':method with a request', bare(head({ ':method': `GET /hidden HTTP/1.1\r\nHost: ${HOST}\r\n\r\nGET` })), null],
  [':method: CONNECT', bare(head({ ':method': 'CONNECT' })), null],
  [':method: none', bare(head({ ':method': '' })), null],
  [':path with a space', bare(head({ ':path': '/ HTTP/1.1\r\nHost: evil.test\r\n\r\nGET /hidden' })), null],
  [':path with a space alone', bare(head({ ':path': '/a b' })), null],
  [':path with a fragment', bare(head({ ':path': '/#x' })), null],
  [':path: absolute', bare(head({ ':path': `https://${HOST}/` })), null],
  [':path: none', bare(head({ ':path': '' })), null],
  [':path: twice', bare([...head(), ':path', '/hidden']), null],
  [':authority with CRLF', bare(head({ ':authority': `${HOST}\r\nX: y` })), null],
  [':authority with userinfo', bare(head({ ':authority': `evil.test@${HOST}` })), null],
  [':authority with a path', bare(head({ ':authority': `${HOST}/x` })), null],
  [':authority and another host', bare(head({}, 'host', 'evil.test')), null],
  [':authority and two hosts', bare(head({}, 'host', HOST, 'host', HOST)), null],
  [':authority and the same host', bare(head({ ':method': 'GET' }, 'host', HOST)), 'GET / '],
  [':scheme with a request', bare(head({ ':method': 'GET', ':scheme': `https://${HOST}/hidden HTTP/1.1\r\n` })), null],
  ['a pseudo-field behind a field', bare([':method', 'GET', ':scheme', 'https', ':path', '/', 'x', 'y', ':authority', HOST]), null],
  ['a pseudo-field of responses', bare([':status', '200', ...head()]), null],
  ['a pseudo-field that is none', bare([':evil', '1', ...head()]), null],
  ['connection', bare(head({}, 'connection', 'close')), null],
  ['connection: content-length', whole(head({}, 'connection', 'content-length', 'content-length', '5'), 'hello'), null],
  ['keep-alive', bare(head({}, 'keep-alive', 'timeout=5')), null],
  ['upgrade: h2c', bare(head({}, 'upgrade', 'h2c')), null],
  ['upgrade: websocket', bare(head({ ':method': 'GET' }, 'connection', 'upgrade', 'upgrade', 'websocket')), null],
  ['http2-settings', bare(head({}, 'http2-settings', 'AAMAAABkAAQAAP__')), null],
  ['extended CONNECT', bare([':method', 'CONNECT', ':protocol', 'websocket', ':scheme', 'https', ':path', '/', ':authority', HOST]), null],
  ['expect: something', whole(head({}, 'expect', '100-continued'), 'hello'), null],
  ['half a body and a reset', { fields: head(), data: ['hel'], ends: 'reset' }, null],
];

/** Fields that no request can have. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'CRLF in a value',
  'CRLF in a value: a whole request',
  'LF in a value',
  'CR in a value',
  'NUL in a value',
  'CRLF in a name',
  'a colon in a name',
  'a space in a name',
  'an empty name',
]);

for (const http2 of HTTP2_ENGINES) {
  test(`${CASES.length} ways to smuggle by HTTP/2 (${http2})`, WITHIN, async (t) => {
    const origin = await strictOrigin(t);
    const rig = await Rig.start(t, { http2 });
    await rig.serve('shop', origin.port);
    for (const [name, of, served] of CASES) {
      const answer = await askRaw(rig.httpsPort, of);
      assert.ok(answer.isAnswered || answer.isRefused, name);
      // What was cut off comes to the service as half a request, never as a whole one, and the next is in step.
      await askRaw(rig.httpsPort, NEXT);
      const seen = origin.seen.splice(0).filter((one) => one !== 'GET /next ');
      const expected = http2 === 'own' && LEFT_OUT.has(name) ? null : served;
      if (!name.startsWith('H2.CL: less') || seen.length > 0)
        assert.deepEqual(seen, expected === null ? [] : [expected], name);
    }
    assert.deepEqual(origin.faults, []);
    for (const name of ['x', 'z', 'x y', '']) assert.ok(!origin.names.has(name), name);
  });

  test(`300 cases of the fuzzer on sockets: never two requests of one stream (${http2})`, WITHIN, async (t) => {
    const origin = await strictOrigin(t);
    const rig = await Rig.start(t, { http2, limits: { bodyIdleTimeoutSeconds: 0.5 } });
    await rig.serve('shop', origin.port);
    const random = randomOf(20_261_121);
    let served = 0;
    for (let i = 0; i < 300; i++) {
      const of = streamCase(random);
      if (of.ends === 'not' && of.data !== null) continue;
      await askRaw(rig.httpsPort, of);
      await askRaw(rig.httpsPort, NEXT);
      const seen = origin.seen.splice(0).filter((one) => one !== 'GET /next ');
      assert.ok(seen.length <= 1 && !/^\S+ \/hidden /.test(seen[0] ?? ''), JSON.stringify({ of, seen }));
      served += seen.length;
    }
    assert.deepEqual(origin.faults, []);
    assert.ok(served > 30 && served < 200, `${served} served`);
  });
}
