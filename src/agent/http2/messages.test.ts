/** Requests in the fields of HTTP/2: what a visitor writes into one field says nothing about another. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Head, parseRequestHead } from '../../http1/head.ts';
import { type ServiceRequest, serviceRequest } from './messages.ts';

function requestOf(...lines: readonly string[]): ServiceRequest {
  const bytes = Buffer.from(`GET /chat HTTP/1.1\r\nHost: shop.test\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  const head = new Head();
  assert.equal(parseRequestHead(bytes, 0, bytes.length, head), bytes.length, head.reason);
  return serviceRequest(bytes, 0, head, 'http');
}

const UPGRADE = ['Connection: Upgrade', 'Upgrade: websocket'] as const;

test('websocket: a value that reads as the name of the key takes no other field away', () => {
  const { fields, webSocketKey } = requestOf(
    ...['X-A: sec-websocket-key', 'X-Forwarded-For: 192.0.2.7', 'Sec-WebSocket-Key: dGhl'],
    ...UPGRADE,
  );
  assert.equal(webSocketKey, 'dGhl');
  assert.deepEqual(fields.slice(-6), [
    ...['x-a', 'sec-websocket-key', 'x-forwarded-for', '192.0.2.7'],
    ...['te', 'trailers'],
  ]);
});

test('websocket: an upgrade without a key is a request as any other', () => {
  const { fields, webSocketKey } = requestOf(...UPGRADE);
  assert.equal(webSocketKey, null);
  assert.deepEqual(fields.slice(0, 4), [':method', 'GET', ':scheme', 'http']);
});
