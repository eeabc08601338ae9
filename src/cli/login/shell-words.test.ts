/** Lines to paste: what a shell makes of them is what was meant. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { shellLine } from './shell-words.ts';

test('shell line: a POSIX shell reads each word as it was', () => {
  const words = ['printf', '%s|', "a'b", '$(id)', '', '~', '#x', 'two words', '`id`', '!x', '*', '-n'];
  const out = execFileSync('sh', ['-c', shellLine(words, {}, 'linux')], { encoding: 'utf8' });
  assert.equal(out, `${words.slice(2).join('|')}|`);
});

test('shell line: variables come first, and plain words stay plain', () => {
  const words = ['culvert', 'http', '3000', '--subdomain', "o'x"];
  const variables = { CULVERT_TOKEN: '<key ci>' };
  assert.equal(
    shellLine(words, variables, 'linux'),
    String.raw`CULVERT_TOKEN='<key ci>' culvert http 3000 --subdomain 'o'\''x'`,
  );
  assert.equal(
    shellLine(words, variables, 'win32'),
    "$env:CULVERT_TOKEN = '<key ci>'; culvert http 3000 --subdomain 'o''x'",
  );
  assert.equal(shellLine(['x\u2019; iwr evil'], {}, 'win32'), "'x\u2019\u2019; iwr evil'", 'a quote to PowerShell');
});
