import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostIn } from './peek-host.ts';

test('the host of a first request is found in any case, without the spaces around it', () => {
  assert.equal(hostIn('GET / HTTP/1.1\r\nA: b\r\nHOST: \t shop.example.test:443 \r\n\r\n'), 'shop.example.test:443');
  assert.equal(hostIn('GET / HTTP/1.1\r\nX-Host: a\r\n\r\n'), '');
  assert.equal(hostIn('host: a'), 'a', 'the rest has not come');
});

test('a host of spaces costs one pass', () => {
  const host = (spaces: number): number => {
    const head = `GET / HTTP/1.1\r\nHost: a${' '.repeat(spaces)}b\r\n\r\n`;
    const start = process.cpuUsage();
    assert.equal(hostIn(head).length, spaces + 2);
    const { user, system } = process.cpuUsage(start);
    return user + system;
  };
  // Four times the text took sixteen times as long, and a second.
  assert.ok(host(64_000) < 250_000, 'microseconds of the processor');
});
