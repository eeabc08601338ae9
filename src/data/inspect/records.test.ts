import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpOrigin, Rig } from '../edge/testing/rig.ts';
import { idOf } from '../fixtures/link.ts';
import { recordOf, textOf } from './testing.ts';

test('a request is recorded with heads, bodies and what the edge decided', async (t) => {
  const origin = await httpOrigin(t, (request, response) => {
    request.resume().on('end', () => response.writeHead(201, { 'X-From': 'service', 'Content-Length': 4 }).end('made'));
  });
  const rig = await Rig.start(t);
  const agent = await rig.serve('shop', origin.port);
  rig.route('shop', {
    policy: {
      setAt: 5,
      actions: [
        { kind: 'ip_deny', enforce: true, networks: ['192.0.2.0/24'] },
        { kind: 'header_set', enforce: true, name: 'X-Set', value: 'by policy' },
      ],
    },
  });
  const before = Date.now();
  const wire = await rig.visit();
  wire.ask('POST /orders?id=7', 'Content-Length: 5', 'X-Own: visitor');
  wire.send('apple');
  assert.equal((await wire.response()).body, 'made');

  const record = await recordOf(rig);
  const { trace } = record;
  assert.match(record.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  assert.equal(record.tunnelId, idOf('shop'));
  assert.equal(record.orgId, 'org');
  assert.ok(record.at >= before && record.at <= Date.now());
  assert.deepEqual(
    [record.method, record.target, record.status, record.remoteIp, record.replayOf],
    ['POST', '/orders?id=7', 201, '127.0.0.1', null],
  );
  assert.match(textOf(record.requestHead), /^POST \/orders\?id=7 HTTP\/1\.1\r\nHost: shop\.example\.test\r\n/);
  assert.match(
    textOf(record.requestHead),
    /\r\nX-Own: visitor\r\nX-Forwarded-For: 127\.0\.0\.1\r\n[^]*\r\nX-Set: by policy\r\n/,
  );
  assert.match(textOf(record.requestHead), /\r\nContent-Length: 5\r\n\r\n$/);
  assert.match(textOf(record.responseHead), /^HTTP\/1\.1 201 Created\r\nX-From: service\r\n[^]*\r\n\r\n$/);
  assert.deepEqual([textOf(record.requestBody), record.requestSize, record.requestBodyTruncated], ['apple', 5, false]);
  assert.deepEqual(
    [textOf(record.responseBody), record.responseSize, record.responseBodyTruncated],
    ['made', 4, false],
  );
  assert.deepEqual(trace, {
    outcome: 'forwarded',
    code: null,
    host: 'shop.example.test',
    scheme: 'http',
    httpVersion: '1.1',
    steps: [{ step: 'ip_deny', index: 0, rule: null, verdict: 'passed', code: null }],
    agentId: rig.node.connections()[0]?.agentId,
    tokenId: 'token-1',
    connection: 'fresh',
    retried: false,
    policyMs: trace.policyMs,
    firstByteMs: trace.firstByteMs,
  });
  assert.ok(trace.policyMs >= 0 && trace.policyMs <= (trace.firstByteMs ?? -1));
  assert.ok((trace.firstByteMs ?? 0) <= record.latencyMs);
  assert.deepEqual(rig.node.stats().inspector.recorded, 1);
  agent.destroy();
});
