/** The man page: it names what the program has, and the programs that show it find no fault. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { manPage } from '../../scripts/release/share/man-page.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { EXIT } from '../../src/cli/terminal/exit.ts';
import { missing } from '../harness/tools.ts';

const folder = mkdtempSync(join(tmpdir(), 'culvert-man-'));
after(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'culvert.1');
const page = manPage('1.2.3-rc.4', 1_700_000_000);
writeFileSync(file, page);

/** As a reader sees it. */
const shown = (): string =>
  execFileSync('mandoc', ['-T', 'ascii', '-O', 'width=100', file], { encoding: 'utf8' }).replace(/.\x08/g, '');

test('man page: mandoc finds no fault', { skip: missing('mandoc') }, () => {
  const { status, stdout } = spawnSync('mandoc', ['-T', 'lint', file], { encoding: 'utf8' });
  assert.equal(stdout, '');
  assert.equal(status, 0);
});

test('man page: man and groff show it without a warning', { skip: missing('man') }, () => {
  const env = { ...process.env, LC_ALL: 'C', MANWIDTH: '100' };
  const { status, stdout, stderr } = spawnSync('man', ['--warnings', '-l', file], { env, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.equal(stderr, '');
  assert.match(stdout, /publish a local port on a public name/);
});

test('man page: has its sections, version and date', () => {
  const sections = page.match(/(?<=^\.SH ).*$/gm);
  assert.deepEqual(sections, [
    ...['NAME', 'SYNOPSIS', 'DESCRIPTION', 'COMMANDS', 'OPTIONS'],
    ...['ENVIRONMENT', 'FILES', 'EXIT STATUS', 'EXAMPLES'],
  ]);
  assert.match(page, /^\.TH CULVERT 1 2023-11-14 "culvert 1\.2\.3\\-rc\.4"\n/);
  assert.equal(manPage('1.2.3-rc.4', 1_700_000_000), page);
});

test('man page: shows every command, its flags and values, exit codes and variables', {
  skip: missing('mandoc'),
}, () => {
  const text = shown().replace(/\s+/g, ' ');
  for (const { usage, alias, options, choices = {} } of COMMANDS) {
    assert.ok(text.includes(`culvert ${usage}`), usage);
    if (alias !== undefined) assert.ok(text.includes(`Also: ${usage.split(' ')[0]} ${alias}.`), alias);
    for (const [flags, description] of options) {
      assert.ok(text.includes(flags.replace(/[<>]/g, '')), `${usage} ${flags}`);
      for (const [name] of description.matchAll(/CULVERT_[A-Z_]+/g)) {
        assert.ok(page.split('.SH ENVIRONMENT')[1]?.includes(name), `ENVIRONMENT has no ${name}`);
      }
    }
    for (const value of Object.values(choices).flat()) assert.ok(text.includes(value), `${usage}: ${value}`);
  }
  const exits = text.slice(text.indexOf('EXIT STATUS'), text.indexOf('EXAMPLES'));
  for (const code of Object.values(EXIT)) assert.match(exits, new RegExp(` ${code} [A-Zc]`));
});
