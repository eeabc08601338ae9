import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { accessLogProblem } from './place.ts';

const problem = (path: string): string | undefined =>
  accessLogProblem({ path, rotate_mb: 100, rotate_every: null })?.message;

test('access log path: a folder is refused with an example of a file', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-access-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  assert.equal(
    problem(folder),
    `log.access.path ${folder} is a folder. Set it to a file, such as ${join(folder, 'access.log')}.`,
  );
  assert.equal(problem(join(folder, 'access.log')), undefined);
  writeFileSync(join(folder, 'real.log'), '');
  symlinkSync(join(folder, 'real.log'), join(folder, 'access.log'));
  assert.equal(problem(join(folder, 'access.log')), undefined, 'a link to a file');
  assert.deepEqual(readdirSync(folder).sort(), ['access.log', 'real.log'], 'the check creates nothing');
});

test('access log path: standard output and devices are refused, with the setting for standard output', () => {
  for (const path of ['/dev/stdout', '/dev/stderr', '/dev/fd/1', '/proc/self/fd/1', '/dev/null'])
    assert.equal(
      problem(path),
      `log.access.path ${path} is not a file that can be rotated. Set it to a file, to '-' for standard output, or to '' for no access log.`,
    );
  assert.equal(problem('-'), undefined);
});
