import assert from 'node:assert/strict';
import { test } from 'node:test';
import { format, inspect } from 'node:util';
import { Secret } from './secret.ts';

const secret = new Secret('hunter2-hunter2');

test('reveals its text when asked', () => {
  assert.equal(secret.reveal(), 'hunter2-hunter2');
});

const printers: Record<string, (value: unknown) => string> = {
  String: (value) => String(value),
  template: (value) => `${value}`,
  concatenation: (value) => '' + value,
  'JSON.stringify': (value) => JSON.stringify({ value }),
  inspect: (value) => inspect({ value }, { showHidden: true, depth: 9 }),
  'console format': (value) => format('%s %o %j', value, value, value),
  'error message': (value) => new Error(`bad ${value}`).stack ?? '',
  'own keys': (value) => JSON.stringify(Object.entries(value as object)),
};

for (const [name, print] of Object.entries(printers)) {
  test(`prints masked by ${name}`, () => {
    const text = print(secret);
    assert.ok(!text.includes('hunter2'), text);
  });
}
