/** Addresses that senders can't reach, and what is said of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reachWarning } from './reach.ts';

test('an address of this machine, of a private network or without HTTPS gets a warning; a public one gets none', () => {
  for (const [url, code] of [
    ['http://localhost:8080', 'url_local'],
    ['https://culvert.localhost', 'url_local'],
    ['http://127.0.0.1:8080', 'url_local'],
    ['http://[::1]:8080', 'url_local'],
    ['https://10.0.0.7', 'url_private'],
    ['https://192.168.1.2:8443', 'url_private'],
    ['https://100.64.3.2', 'url_private'],
    ['https://[fd00::1]', 'url_private'],
    ['https://culvert.local', 'url_private'],
    ['https://culvert.home.arpa', 'url_private'],
    ['https://culvert.corp.internal.', 'url_private'],
    ['https://nas', 'url_private'],
    ['http://culvert.example.com', 'url_http'],
    ['http://8.8.8.8', 'url_http'],
    ['https://culvert.example.com', undefined],
    ['https://8.8.8.8', undefined],
    ['https://[2606:4700::1111]', undefined],
    ['https://localhost.example.com', undefined],
  ] as const)
    assert.equal(reachWarning(url)?.code, code, url);
});

test('the warning names the host and the setting', () => {
  assert.match(reachWarning('https://10.0.0.7')?.message ?? '', /10\.0\.0\.7.*api\.public_url/);
});
