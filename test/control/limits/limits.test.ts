/**
 * Meets every limit of the table below, at and above its bound. Fails, too, when the table has fallen behind: a test that it points to is gone.
 */
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Row } from './row.ts';
import { LIMITS } from './table.ts';
import { type LimitTemplate, LimitFixture, makeLimitTemplate } from './fixture.ts';

let template: LimitTemplate;
before(async () => {
  template = await makeLimitTemplate();
});
after(() => rmSync(template.dataDir, { recursive: true }));

type Met = Extract<Row, { kind: 'met' }>;

const ROOT = join(import.meta.dirname, '../../..');

const rowsOf = <K extends Row['kind']>(kind: K) =>
  LIMITS.filter((row): row is Extract<Row, { kind: K }> => row.kind === kind);

/** Each input in a fixture of its own: none uses up what the next one needs. */
async function check(row: Met, place: 'below' | 'at' | 'above'): Promise<void> {
  for (const [input, outcome] of row[place]) await checkOne(row, input, outcome);
}

async function checkOne(row: Met, input: never, outcome: unknown): Promise<void> {
  const fixture = await LimitFixture.open(template);
  try {
    assert.deepEqual(await row.meet(fixture, input), outcome, `${row.limit}: ${JSON.stringify(input) ?? 'left out'}`);
  } finally {
    await fixture.close();
  }
}

for (const row of rowsOf('met')) {
  describe(`${row.limit}: ${row.value}`, () => {
    test('below', () => check(row, 'below'));
    test('at', () => check(row, 'at'));
    test('above', () => check(row, 'above'));
    if ('leftOut' in row) test('left out', () => checkOne(row, undefined as never, row.leftOut));
  });
}

test('every test that the table points to is there', () => {
  const missing = rowsOf('elsewhere').flatMap(({ limit, tests }) =>
    tests.filter((named) => !isThere(...named)).map(([file, name]) => `${limit}: ${file} has no test '${name}'`),
  );
  assert.deepEqual(missing, []);
});

/** Written out, in one pair of quotes or another; on the line of the call or the next. */
function isThere(file: string, name: string): boolean {
  const text = readFileSync(join(ROOT, file), 'utf8').replaceAll(/test\(\s+/g, 'test(');
  return ["'", '"', '`'].some((quote) => text.includes(`test(${quote}${name}${quote},`));
}

test('no two rows are about the same limit', () => {
  const names = LIMITS.map(({ limit }) => limit);
  assert.deepEqual([...new Set(names)], names);
});

test('docs/limits.md: each limit is as the table has it', () => {
  const page = readFileSync(join(ROOT, 'docs/limits.md'), 'utf8');
  const documented = page.split('\n').filter((line) => line.startsWith('| ') && line !== '| limit | value |');
  const known = new Set(LIMITS.map(({ limit, value }) => `| ${limit} | ${value} |`));
  assert.ok(documented.length > 80, `${documented.length} limits`);
  assert.deepEqual(
    documented.filter((line) => !known.has(line)),
    [],
  );
});
