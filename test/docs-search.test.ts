/** The search over the real pages: users of other products find what they know. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchIndex } from '../scripts/docs/site.ts';
import { search, type SearchEntry } from '../src/docs-site/search.ts';

const index = searchIndex();

/** ngrok's words → the page that answers, among the first three results. */
const VOCABULARY: readonly (readonly [query: string, page: string])[] = [
  ['tunnel', 'agents'],
  ['endpoint', 'agents'],
  ['reserved domain', 'domains'],
  ['static domain', 'domains'],
  ['authtoken', 'access-keys'],
  ['edge', 'configuration-edge'],
  ['traffic policy', 'policies'],
  ['traffic inspector', 'inspector'],
  ['inspect', 'inspector'],
  ['replay', 'inspector'],
  ['basic auth', 'basic-auth'],
  ['OAuth', 'visitor-login'],
  ['webhook verification', 'webhooks'],
  ['TCP address', 'agents'],
  ['agent', 'agents'],
  ['bot user', 'access-keys'],
  ['service user', 'access-keys'],
  ['API key', 'access-keys'],
  ['IP restrictions', 'policies'],
  ['rate limit', 'policies'],
  ['custom domain', 'domains'],
  ['wildcard', 'dns-challenge'],
  ['request headers', 'policies'],
  ['circuit breaker', 'glossary'],
  ['JWT validation', 'policies'],
  ['ngrok.yml', 'configuration'],
  ['ERR_NGROK', 'troubleshooting'],
  ['web inspection interface', 'local-inspector'],
  ['PROXY protocol', 'load-balancer'],
  ['SSO', 'visitor-login'],
];

for (const [query, page] of VOCABULARY)
  test(`search: "${query}" finds ${page} among the first three`, () => {
    const found = search(index, query).slice(0, 3);
    const pages = found.map(({ url }) => url.split('#')[0]);
    assert.ok(pages.includes(page), found.map(({ url }) => url).join(', '));
  });

const entry = (url: string, words: string, over: Partial<SearchEntry> = {}): SearchEntry => ({
  ...{ url, title: url, heading: '', keywords: [], words },
  ...over,
});

test('search: a plural finds the singular, a beginning finds the word, an empty query nothing', () => {
  const entries = [entry('a', 'access key'), entry('b', 'certificate')];
  assert.deepEqual(
    ['keys', 'certif', '', '  ', '!'].map((query) => search(entries, query).map(({ url }) => url)),
    [['a'], ['b'], [], [], []],
  );
});

test('search: entries with more of the words come alone', () => {
  const entries = [entry('a', 'red green'), entry('b', 'red')];
  assert.deepEqual(
    search(entries, 'green red').map(({ url }) => url),
    ['a'],
  );
  assert.deepEqual(
    search(entries, 'red blue').map(({ url }) => url),
    ['a', 'b'],
  );
});

test('search: the index has every page and its sections, and is small', () => {
  assert.ok(index.length > 200, `${index.length} entries`);
  assert.ok(JSON.stringify(index).length < 250_000, `${JSON.stringify(index).length} bytes`);
});
