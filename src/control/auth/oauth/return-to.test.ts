import assert from 'node:assert/strict';
import { test } from 'node:test';
import { landingUrl, safeReturnTo } from './return-to.ts';

const API = 'https://api.example.com';

test('a path of this server is kept, with query and fragment', () => {
  for (const [asked, kept] of [
    ['/', '/'],
    ['/app/', '/app/'],
    ['/app/tunnels?x=1&y=%2F%2Fz#top', '/app/tunnels?x=1&y=%2F%2Fz#top'],
    ['/app/cli?device_code=abc', '/app/cli?device_code=abc'],
    ['/app/?next=https://elsewhere.test/', '/app/?next=https://elsewhere.test/'],
    ['/app/a%20b', '/app/a%20b'],
    ['/app/../app/x', '/app/x'],
    ['/@user', '/@user'],
    ['/app/ü', '/app/%C3%BC'],
  ] as const) {
    assert.equal(safeReturnTo(asked, API), kept, asked);
    assert.equal(new URL(landingUrl(API, kept, { oauth_token: 't' })).origin, API);
  }
});

test('whatever leaves this server, or might be taken to, becomes /', () => {
  for (const asked of [
    '',
    'app/',
    'https://evil.test/',
    'http:evil.test',
    'javascript:alert(1)',
    'data:text/html,x',
    '//evil.test',
    '///evil.test',
    '/\\evil.test',
    '\\\\evil.test',
    '/\\/evil.test',
    '\\/evil.test',
    ' //evil.test',
    '/\t/evil.test',
    '/\n/evil.test',
    '\t//evil.test',
    '/\u0000/evil.test',
    '/\u0085/x',
    '/\u2028/x',
    '/.//evil.test',
    '/..//evil.test',
    '/x/..//evil.test',
    '/%2e%2e//evil.test',
    '/%2f%2fevil.test',
    '/%2fevil.test',
    '/%5cevil.test',
    '/%5Cevil.test',
    '/%252fevil.test',
    '/%25252fevil.test',
    '/%09/evil.test',
    '/%0d%0aLocation:%20https://evil.test',
    '/%00',
    '/%',
    '/%zz',
    '/https://evil.test',
    '/https:%2f%2fevil.test',
    '@evil.test',
    '.evil.test',
    ':443@evil.test',
    'https://api.example.com@evil.test/',
    'https://user:pass@api.example.com/',
    'https://api.example.com/app/',
    `/${'x'.repeat(1024)}`,
  ]) {
    assert.equal(safeReturnTo(asked, API), '/', JSON.stringify(asked));
  }
});

test('the promise is the only one of its kind in the address', () => {
  const asked = safeReturnTo('/app/?oauth_token=mine&mfa_challenge=mine&oauth_token=again&tab=1', API);
  assert.equal(landingUrl(API, asked, { oauth_token: 'real' }), `${API}/app/?tab=1&oauth_token=real`);
  assert.equal(landingUrl(API, asked, { mfa_challenge: 'real' }), `${API}/app/?tab=1&mfa_challenge=real`);
});

test('a public URL with a path keeps it', () => {
  const api = 'https://example.com/tunnel/api';
  assert.equal(landingUrl(api, '/', { oauth_token: 't' }), `${api}/app/?oauth_token=t`);
  assert.equal(landingUrl(api, safeReturnTo('/app/x?y', api), { oauth_token: 't' }), `${api}/app/x?y=&oauth_token=t`);
});
