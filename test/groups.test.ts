/** Test files that start a browser, or Pebble as an authority, are of the group that says so: the main tests run without either. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findTestFiles, type Group, ROOT } from '../scripts/test/files.ts';

const STARTERS: Readonly<Record<string, Group>> = {
  'test/harness/chromium.ts': 'browser',
  'test/harness/pebble.ts': 'acme',
};

for (const [starter, wanted] of Object.entries(STARTERS)) {
  test(`whatever imports ${starter} says "// group: ${wanted}"`, () => {
    const importers = findTestFiles().filter(({ path }) => imported(path).has(join(ROOT, starter)));
    assert.ok(importers.length > 0, 'the walk finds the imports');
    assert.deepEqual(
      importers
        .filter(({ group }) => group !== wanted && group !== 'slow')
        .map(({ path, group }) => `${path}: ${group}`),
      [],
    );
  });
}

/** The files that a file imports, directly or by way of others. */
function imported(path: string): ReadonlySet<string> {
  const found = new Set([join(ROOT, path)]);
  // A set that grows while it is walked is walked to its new end.
  for (const file of found) for (const next of importsOf(file)) found.add(next);
  return found;
}

const known = new Map<string, readonly string[]>();

function importsOf(file: string): readonly string[] {
  const kept = known.get(file);
  if (kept !== undefined) return kept;
  const text = file.endsWith('.ts') ? readFileSync(file, 'utf8') : '';
  const names = Array.from(text.matchAll(/(?:from |import\(|^import )'(\.[^']+\.ts)'/gm), ([, name = '']) => name);
  const paths = names.map((name) => join(file, '..', name)).filter((path) => path.startsWith(join(ROOT, 'test')));
  known.set(file, paths);
  return paths;
}
