/** What the palette finds, and in which order. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DOCS } from '../../src/dashboard/shell/palette/docs-pages.ts';
import { type Entry, matching } from '../../src/dashboard/shell/palette/match.ts';

const entries: readonly Entry[] = [
  { kind: 'Page', title: 'Overview', href: '/' },
  { kind: 'Page', title: 'Private networks', href: '/networks' },
  { kind: 'Page', title: 'Reserved names', href: '/names' },
  { kind: 'Tunnel', title: 'shop', detail: 'https://shop.example.com', href: '/tunnels/1' },
  { kind: 'Tunnel', title: 'workshop', detail: 'https://workshop.example.com', href: '/tunnels/2' },
];
const titles = (query: string) => matching(entries, query).map(({ title }) => title);

test('palette: without a query everything is offered in its order', () => {
  assert.deepEqual(
    titles(' '),
    entries.map(({ title }) => title),
  );
});

test('palette: the begin of a word comes before its middle', () => {
  assert.deepEqual(titles('shop').slice(0, 2), ['shop', 'workshop']);
});

test('palette: the begin of words find a page, and a URL finds its tunnel', () => {
  assert.equal(titles('pn')[0], 'Private networks');
  assert.equal(titles('rsvd')[0], 'Reserved names');
  assert.equal(titles('workshop.example')[0], 'workshop');
});

test('palette: characters that are not there find nothing', () => {
  assert.deepEqual(titles('zzz'), []);
});

test('palette: each page of the documentation is there', () => {
  for (const [, page] of DOCS) assert.ok(existsSync(join(process.cwd(), 'docs', `${page}.md`)), page);
});
