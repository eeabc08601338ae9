// group: slow
/** Well-known programs behind tunnels of the built executable, as far as they are on this machine: `npm run compat -- --install` gets them. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { CACHE } from '../../scripts/compat/kit.ts';
import { PROGRAMS } from '../../scripts/compat/programs.ts';
import { Stage } from '../../scripts/compat/stage.ts';
import { line } from '../../scripts/compat/table.ts';
import { tryProgram } from '../../scripts/compat/try.ts';
import { inReverse } from '../harness/ends.ts';

const root = join(import.meta.dirname, '../..');

suite('programs behind a tunnel', { timeout: 3_000_000 }, () => {
  const ends = inReverse({ after });
  let stage: Stage;

  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'culvert-compat-build-'));
    ends.after(() => rmSync(folder, { recursive: true, force: true }));
    execFileSync(process.execPath, [join(root, 'scripts/build.mjs'), '--out', folder], { cwd: root, stdio: 'pipe' });
    stage = await Stage.open(ends, join(folder, 'culvert'));
  });

  for (const program of Object.values(PROGRAMS)) {
    const { name, remedy } = program;
    const needs = remedy === undefined ? 'untouched' : `with ${remedy.name}, which the agent suggests if it can`;
    test(`${name}: works ${needs}`, { timeout: 600_000 }, async (t) => {
      const row = await tryProgram(program, { after: stage }, { cache: CACHE, installs: false });
      if (row.notHere !== undefined) return t.skip(row.notHere);
      assert.ok(row.passed, line(row));
    });
  }
});
