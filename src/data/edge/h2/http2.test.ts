/** Requests and answers over HTTP/2: the same checks and the same forwarding as over HTTP/1.1. Client: node:http2. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpOrigin, Rig } from '../testing/rig.ts';
import { Http2Visitor } from '../testing/http2-visitor.ts';

const WITHIN = { timeout: 20_000 };

test('a request gets its answer over HTTP/2', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (request, response) => {
    response.setHeader('X-Seen', `${request.method} ${request.url} ${request.headers['host']} ${request.httpVersion}`);
    response.end(JSON.stringify(request.headers));
  });
  await rig.serve('shop', origin.port);
  const visitor = await Http2Visitor.open(t, rig);
  const answer = await visitor.ask({ ':path': '/a?b=1', cookie: ['a=1', 'b=2'], te: 'trailers' });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['x-seen'], 'GET /a?b=1 shop.example.test 1.1');
  const seen = JSON.parse(answer.body) as Record<string, string>;
  assert.equal(seen['cookie'], 'a=1; b=2');
  assert.equal(seen['x-forwarded-proto'], 'https');
  assert.equal(seen['x-forwarded-for'], '127.0.0.1');
  assert.equal(seen['te'], undefined);
  assert.equal(answer.headers['connection'], undefined);
  assert.equal(answer.headers['keep-alive'], undefined);
  assert.equal(answer.headers['transfer-encoding'], undefined);
});
