import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccessEntry } from '../../plane/access-log.ts';
import { combinedLine, jsonLine } from './lines.ts';
import { masked, networkOf } from './mask.ts';
import { ENTRY } from './testing.ts';

const of = (over: Partial<AccessEntry>): AccessEntry => ({ ...ENTRY, ...over });

test('access log: a JSON line has every field, and no visitor can end it', () => {
  const line = jsonLine(of({ target: '/a\n{"status":1}', userAgent: '"\u0000é' }));
  assert.equal(line.indexOf('\n'), line.length - 1);
  assert.deepEqual(JSON.parse(line), {
    time: '2026-11-26T17:20:00.123Z',
    kind: 'http',
    request_id: '019ac0f0-0000-7000-8000-000000000001',
    trace_id: '0af7651916cd43dd8448eb211c80319c',
    org_id: 'org-1',
    tunnel_id: 'tunnel-1',
    tunnel: 'shop',
    key_id: 'key-1',
    agent_id: 'agent-1',
    remote_ip: '192.0.2.77',
    scheme: 'https',
    host: 'shop.example.com',
    method: 'GET',
    path: '/a\n{"status":1}',
    http_version: '2',
    status: 200,
    decision: 'allowed',
    reason: null,
    bytes_in: 312,
    bytes_out: 5120,
    duration_ms: 12.5,
    upstream_ms: 9.75,
    user_agent: '"\u0000é',
    referer: 'https://else.example/?q=1',
  });
});

test('access log: the combined format, escaped as nginx does', () => {
  assert.equal(
    combinedLine(of({ userAgent: 'a"b\\c\nd' })),
    '192.0.2.77 - - [26/Nov/2026:17:20:00 +0000] "GET /orders?id=7 HTTP/2.0" 200 5120 "https://else.example/?q=1" "a\\x22b\\x5Cc\\x0Ad"\n',
  );
  assert.match(combinedLine(of({ status: 0, referer: '', userAgent: '' })), / 499 5120 "-" "-"\n$/);
  assert.equal(combinedLine(of({ kind: 'tcp' })), '');
});

test('access log: a blocked request and a connection without a status', () => {
  const blocked = JSON.parse(jsonLine(of({ outcome: 'refused', code: 'denied', status: 403, tokenId: null })));
  assert.deepEqual([blocked.decision, blocked.reason, blocked.key_id], ['blocked', 'denied', null]);
  const tcp = JSON.parse(jsonLine(of({ kind: 'tcp', status: 0, outcome: 'failed', code: 'local_closed', label: '' })));
  assert.deepEqual([tcp.decision, tcp.reason, tcp.status, tcp.tunnel], ['allowed', 'local_closed', null, null]);
});

test('access log: masks leave out queries, addresses, user agents and referers', () => {
  assert.equal(masked(ENTRY, []), ENTRY);
  const query = masked(ENTRY, ['query']);
  assert.deepEqual([query.target, query.referer], ['/orders?***', 'https://else.example/?***']);
  assert.equal(masked(of({ target: '/plain' }), ['query']).target, '/plain');
  const all = masked(ENTRY, ['query', 'address', 'user_agent', 'referer']);
  assert.deepEqual([all.remoteIp, all.userAgent, all.referer], ['192.0.2.0', '', '']);
});

test('access log: the network in place of an address', () => {
  for (const [ip, network] of [
    ['10.1.2.3', '10.1.2.0'],
    ['2001:db8:12:34:56:78:9a:bc', '2001:db8:12::'],
    ['2001:db8::1', '2001:db8::'],
    ['2001:db8:0:7::1', '2001:db8::'],
    ['::1', '::'],
    ['unknown', 'unknown'],
  ] as const)
    assert.equal(networkOf(ip), network);
});
