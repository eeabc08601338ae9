/** Extended CONNECT (RFC 8441), which node:http2 has no part in here. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Http2Visitor } from '../testing/http2-visitor.ts';
import { httpOrigin, Rig } from '../testing/rig.ts';

const WITHIN = { timeout: 120_000 };

test('WebSockets are not offered, and what asks for one is refused', WITHIN, async (t) => {
  const rig = await Rig.start(t, { http2: 'node' });
  let asked = 0;
  const origin = await httpOrigin(t, (_request, response) => {
    asked++;
    response.end();
  });
  await rig.serve('shop', origin.port);
  const visitor = await Http2Visitor.open(t, rig);
  assert.notEqual(visitor.session.remoteSettings.enableConnectProtocol, true);
  const answers = await Promise.allSettled([
    visitor.ask({ ':method': 'GET', ':path': '/', 'sec-websocket-version': '13' }),
    visitor.ask({ ':method': 'CONNECT', ':authority': 'shop.example.test' }),
  ]);
  assert.equal(answers[0].status, 'fulfilled');
  assert.ok(answers[1].status === 'rejected' || answers[1].value.status === 400);
  assert.equal(asked, 1);
});
