import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuseCrossSite } from './cross-site.ts';

const RULES = { publicUrl: () => 'https://api.example.com/api', corsOrigins: ['https://dash.example.org'] };

function isRefused(headers: Record<string, string>): boolean {
  try {
    refuseCrossSite((name) => headers[name], RULES);
    return false;
  } catch {
    return true;
  }
}

test('a request with a cookie is served for the API’s own origin, those of the settings, and programs', () => {
  for (const headers of [
    {},
    { origin: 'https://api.example.com' },
    { origin: 'https://api.example.com', 'sec-fetch-site': 'same-origin' },
    { origin: 'https://dash.example.org', 'sec-fetch-site': 'cross-site' },
    { origin: 'https://10.0.0.1:9090', host: '10.0.0.1:9090' },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
  ]) {
    assert.ok(!isRefused(headers), JSON.stringify(headers));
  }
});

test('it is refused to every other page', () => {
  for (const headers of [
    { origin: 'https://api.example.com.evil.example' },
    { origin: 'http://api.example.com', host: 'api.example.com' },
    { origin: 'https://shop.example.com', host: 'api.example.com', 'sec-fetch-site': 'same-site' },
    { origin: 'https://api.example.com:8443', host: 'api.example.com' },
    { origin: '' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
  ]) {
    assert.ok(isRefused(headers), JSON.stringify(headers));
  }
});
