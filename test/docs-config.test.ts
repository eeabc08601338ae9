/** `config.example.toml` is the document of the server's settings: every key with its default, each with a word about it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'smol-toml';
import { checkServerConfig } from '../src/config/load.ts';
import { serverSchema } from '../src/config/schema.ts';
import { defaultsOf } from '../src/config/toml.ts';

const file = new URL('../config.example.toml', import.meta.url);
const text = readFileSync(file, 'utf8');

function flatten(table: object, above = ''): Array<[string, unknown]> {
  const entries: Array<[string, unknown]> = Object.entries(table);
  return entries.flatMap(([key, value]): Array<[string, unknown]> => {
    const path = above + key;
    const isTable = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isTable ? flatten(value, `${path}.`) : [[path, value]];
  });
}

const written = new Map(flatten(parse(text)));
const defaults = defaultsOf(serverSchema);

test('the example holds every key of the schema, and no other', () => {
  assert.ok(defaults.size > 70, `only ${defaults.size} keys found in the schema`);
  assert.deepEqual([...written.keys()].sort(), [...defaults.keys()].sort());
});

test('the example gives every key its default', () => {
  for (const [key, value] of defaults) assert.deepEqual(written.get(key), value, key);
});

test('the example gives the same settings as no file at all', () => {
  const { written: _, ...settings } = checkServerConfig(text, 'config.example.toml').settings;
  const { written: none, ...defaultSettings } = checkServerConfig('', 'none').settings;
  assert.equal(none.size, 0);
  assert.deepEqual(settings, defaultSettings);
});

test('every line that starts a setting of a table has a comment within its group', () => {
  // A group is the run of lines between empty lines; it must say something.
  const groups = text.split(/\n\n+/).filter((group) => /^\w+ = /m.test(group));
  const stripe = /^\[billing\.stripe/;
  for (const group of groups) assert.ok(group.includes('#') || stripe.test(group), group);
});
