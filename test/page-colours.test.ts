/** A visitor's sign-in leads over pages of the edge and of the API, and people go from those to the dashboard: they look like one product. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { STYLE as AGENT_STYLE } from '../src/agent/inspect/page/style.ts';
import { STYLE } from '../src/control/web/style.ts';
import { CULVERT, DARK } from '../src/dashboard/colours.ts';
import { faultPage } from '../src/data/faults/fault-page.ts';

/** `name: value` of a sheet's custom properties, once for each scheme. */
function coloursOf(sheet: string): Map<string, string[]> {
  const found = [...sheet.matchAll(/--([\w-]+): ?(#[0-9a-f]{6})/g)];
  return Map.groupBy(
    found.map(([, name = '', value = '']) => `${name} ${value}`),
    (one) => one.split(' ')[0] ?? '',
  );
}

test('pages of the edge have the colours of the pages of the API, light and dark', () => {
  const own = coloursOf(faultPage({ status: 404, title: '', words: '', code: '' }));
  const api = coloursOf(STYLE);
  assert.ok(own.size >= 7);
  for (const [name, values] of own) {
    assert.equal(values.length, 2, `${name}: light and dark`);
    assert.deepEqual(values, api.get(name), name);
  }
});

test("the agent's own page has the colours of the pages of the API, light and dark", () => {
  const own = coloursOf(AGENT_STYLE);
  for (const [name, values] of coloursOf(STYLE)) assert.deepEqual(own.get(name), values, name);
});

test('the documentation has the colours of the pages of the API, light and dark', () => {
  const own = coloursOf(readFileSync(new URL('../src/docs-site/site.css', import.meta.url), 'utf8'));
  const api = coloursOf(STYLE);
  assert.ok(own.size >= 7);
  for (const [name, values] of own) {
    assert.equal(values.length, 2, `${name}: light and dark`);
    assert.deepEqual(values, api.get(name), name);
  }
});

test('the dashboard has them too, in the terms of its components', () => {
  assert.deepEqual(coloursOf(STYLE).get('accent'), [`accent ${CULVERT[8]}`, `accent ${CULVERT[4]}`]);
  for (const [name, shade] of [
    ['ground', 8],
    ['card', 6],
    ['text', 0],
    ['quiet', 2],
    ['line', 4],
  ] as const)
    assert.equal(coloursOf(STYLE).get(name)?.[1], `${name} ${DARK[shade]}`, name);
});

test('a number and a code are on pages of errors alone', () => {
  const of = (status: number): string => faultPage({ status, title: 'Title', words: 'Words.', code: 'some_code' });
  assert.match(of(404), /<title>404 · Title<.*<b>404<\/b>.*some_code/s);
  assert.doesNotMatch(of(200), /<b>|<title>200|some_code/);
});
