import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const SCRIPT = `
const { processIo } = await import(${JSON.stringify(join(import.meta.dirname, '../terminal/io.ts'))});
const { getPriority } = await import('node:os');
processIo().lowerPriority();
console.log(getPriority());`;

test('a command that lets others go first has a lower priority, and its parent keeps its own', () => {
  const before = getPriority();
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', SCRIPT], { encoding: 'utf8' });
  assert.equal(Number(printed), Math.max(10, before));
  assert.equal(getPriority(), before);
});
