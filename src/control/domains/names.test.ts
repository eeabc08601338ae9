import assert from 'node:assert/strict';
import { test } from 'node:test';
import { domainFrom } from './names.ts';

const OWN = ['edge.example.com', 'api.example.org'];

test('a domain is written in lower case, in ASCII, and without the dot at its end', () => {
  for (const [text, domain] of [
    ['shop.example.net', 'shop.example.net'],
    ['Shop.Example.NET.', 'shop.example.net'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['BÜCHER.example。', 'xn--bcher-kva.example'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    // Above the edge's own, and beside it.
    ['example.com', 'example.com'],
    ['myedge.example.com', 'myedge.example.com'],
    [`${'l'.repeat(63)}.io`, `${'l'.repeat(63)}.io`],
  ] as const) {
    assert.equal(domainFrom(text, OWN), domain, text);
  }
});

test('what is no host name of two labels is refused', () => {
  for (const text of [
    ...[
      '',
      '.',
      '..',
      'localhost',
      'com.',
      'a..b',
      '.example.net',
      'example.net..',
      '*.example.net',
      'a_b.example.net',
    ],
    ...[
      '-a.example.net',
      'a-.example.net',
      'a b.example.net',
      ' example.net',
      'example.net\n',
      'a%2eb',
      'a.b:80',
      'a@b.c',
    ],
    ...['https://example.net', 'example.net/x', 'xn--ß.example', `${'l'.repeat(64)}.io`, 'a.1', 'a\0.net'],
    ...['127.0.0.1', '127.1', '1', '0x7f.1', '[::1]', '::1', '2130706433', '１２７.0.0.1', 'a％2eb.c'],
    `${'l.'.repeat(118)}io`,
    'l'.repeat(100_000),
  ]) {
    assert.throws(() => domainFrom(text, OWN), { code: 'invalid_domain' }, text.slice(0, 80));
  }
});

test("domain names: the server's own hosts and their subdomains are refused", () => {
  for (const text of [
    ...['edge.example.com', 'shop.edge.example.com', 'a.b.EDGE.example.com.', 'api.example.org', 'x.api.example.org'],
  ]) {
    assert.throws(() => domainFrom(text, OWN), { code: 'invalid_domain', message: /belong to this server/ }, text);
  }
});
