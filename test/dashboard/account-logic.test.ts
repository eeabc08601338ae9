/** What the account page says of programs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { programWords } from '../../src/dashboard/pages/account/program-labels.ts';

test('program label: known browsers and systems have their usual names', () => {
  for (const [userAgent, words] of [
    [
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/156.0.0.0 Safari/537.36',
      'Chrome on Linux',
    ],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36 Edg/156.0',
      'Edge on Windows',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1',
      'Safari on iOS',
    ],
    [
      'Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Mobile Safari/537.36',
      'Chrome on Android',
    ],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:150.0) Gecko/20100101 Firefox/150.0', 'Firefox on macOS'],
    ['culvert on ann-laptop', 'CLI on ann-laptop'],
    ['curl/8.14.1', 'curl/8.14.1'],
    ['', 'Unknown client'],
  ] as const)
    assert.equal(programWords(userAgent), words);
});

test('program label: a long or hostile user agent is cut and shown as text', () => {
  const evil = `<img src=x onerror=alert(1)>${'x'.repeat(500)}`;
  assert.equal(programWords(evil), `${evil.slice(0, 60)}…`);
  assert.ok(programWords(`culvert on ${'x'.repeat(500)}`).length < 70);
});
