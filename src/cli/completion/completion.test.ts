/** Completion in the real shells, and the command that prints its scripts. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Command } from 'commander';
import { missing } from '../../../test/harness/tools.ts';
import { COMMANDS } from '../commands.ts';
import { run, tempHome } from '../fixtures/in-process.ts';
import { buildProgram } from '../program.ts';
import { allNodes, type CommandNode, commandTree, namesOf, pathsOf, valuedFlags } from './command-tree.ts';
import { completionScript } from './completion.ts';
import { offered } from './testing.ts';

const TREE = commandTree(COMMANDS);
const nodeOf = (...words: string[]): CommandNode => {
  const found = allNodes(TREE).find((node) => node.words.join(' ') === words.join(' '));
  assert.ok(found, words.join(' '));
  return found;
};
const commandsOf = (...words: string[]): string[] =>
  nodeOf(...words)
    .below.flatMap(namesOf)
    .sort();
const flagsOf = (...words: string[]): string[] =>
  nodeOf(...words)
    .flags.map(({ long }) => long)
    .sort();

/** Lines, and all that each shell must offer behind them; short flags aside. */
const LINES: ReadonlyArray<readonly [line: string, words: readonly string[]]> = [
  ['culvert ', commandsOf()],
  ['culvert tokens ', commandsOf('tokens')],
  ['culvert tokens mint --', flagsOf('tokens', 'mint')],
  ['culvert tokens mint laptop --ttl-hours 2 --ou', ['--output-env']],
  ['culvert tunnels create 3000 --protocol ', ['http', 'https', 'tcp', 'websocket']],
  ['culvert admin set-plan acme ', ['enterprise', 'free', 'pro', 'team']],
  ['culvert help tokens m', ['mint']],
  ['culvert http ', []],
  ['culvert serve --config ', ['own.toml', 'sub']],
  ['culvert restore own.toml --data-dir ', ['sub']],
];

/** The same for shells that start within a few milliseconds. */
const MORE_LINES: typeof LINES = [
  ['culvert tok', ['tokens']],
  ['culvert -', ['--help', '--version']],
  ['culvert tokens --', flagsOf('tokens', 'list')],
  ['culvert http 3000 --subdomain tokens --to', ['--token-file']],
  ['culvert http https://127.0.0.1:3000 --subd', ['--subdomain']],
  ['culvert tunnels create 3000 --protocol=w', ['websocket']],
  ['culvert admin set-plan ', []],
  ['culvert admin list --qu', ['--query']],
  ['culvert admin list-orgs --status p', ['pending']],
  ['culvert config check ', ['own.toml', 'sub']],
  ['culvert completion ', ['bash', 'fish', 'powershell', 'zsh']],
  ['culvert tcp 22 -- --', []],
];

for (const shell of ['bash', 'fish', 'zsh'] as const) {
  test(`completion: ${shell} offers commands, flags, values and paths`, { skip: missing(shell) }, (t) => {
    const home = tempHome(t);
    const folder = join(home, 'here');
    mkdirSync(join(folder, 'sub'), { recursive: true });
    writeFileSync(join(folder, 'own.toml'), '');
    const script = completionScript(shell, COMMANDS);
    for (const [line, words] of shell === 'zsh' ? LINES : [...LINES, ...MORE_LINES]) {
      const found = offered(shell, { home, folder, script, line }).filter((word) => !/^-\w$/.test(word));
      assert.deepEqual(found, [...words].sort(), `${shell}: ${line}`);
    }
  });
}

test('completion: bash offers paths with spaces as one word', { skip: missing('bash') }, (t) => {
  const home = tempHome(t);
  const folder = join(home, 'here');
  mkdirSync(folder);
  writeFileSync(join(folder, 'my own.toml'), '');
  const script = completionScript('bash', COMMANDS);
  assert.deepEqual(offered('bash', { home, folder, script, line: 'culvert serve --config m' }), ['my own.toml']);
});

test('completion: the scripts are clean for shellcheck', { skip: missing('shellcheck') }, (t) => {
  const file = join(tempHome(t), 'culvert.bash');
  writeFileSync(file, completionScript('bash', COMMANDS));
  execFileSync('shellcheck', ['--shell=bash', file], { encoding: 'utf8' });
});

// There is no PowerShell among Debian's packages: its script is checked by its structure.
test('completion: the script for PowerShell has every command, flag and value, and closes what it opens', () => {
  const script = completionScript('powershell', COMMANDS);
  for (const node of allNodes(TREE)) {
    for (const name of [...node.below.flatMap(namesOf), ...node.flags.map(({ long }) => long)])
      assert.ok(script.includes(`'${name}' = '`), name);
    for (const path of pathsOf(node)) assert.ok(script.includes(`        '${path}' = [ordered]@{`), path);
  }
  assert.ok(script.includes("'admin set-plan 2' = [ordered]@{ 'free' = 'free'; "));
  assert.ok(script.includes("'restore --data-dir' = 'folder'"));
  // Neither a brace nor a quote in a text ends one of the script. Within single quotes PowerShell knows '' alone.
  const code = script.replace(/^\s*#.*$/gm, '').replace(/'(?:[^'\n]|'')*'/g, '');
  assert.doesNotMatch(code, /'/);
  for (const [open, close] of ['{}', '()', '[]']) {
    let depth = 0;
    for (const char of code) {
      depth += Number(char === open) - Number(char === close);
      assert.ok(depth >= 0, `${close} without ${open}`);
    }
    assert.equal(depth, 0, `${open} stays open`);
  }
});

test('completion: the command prints the script, and refuses another shell', async (t) => {
  const home = tempHome(t);
  for (const shell of ['bash', 'zsh', 'fish', 'powershell'] as const) {
    const { code, stdout, stderr } = await run(['completion', shell], { home });
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: completionScript(shell, COMMANDS), stderr: '' });
  }
  const { code, stdout, stderr } = await run(['completion', 'tcsh'], { home });
  assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
  assert.match(stderr, /no completion for "tcsh"\. Use bash, zsh, fish or powershell/);
});

test('command tree: has the commands and flags of the parser', () => {
  const parser = buildProgram([], process, () => undefined);
  const compare = (command: Command, node: CommandNode): void => {
    const where = node.words.join(' ');
    const flags = command.createHelp().visibleOptions(command);
    const wanted = new Set(flags.map(({ long }) => long ?? ''));
    // A group takes the flags of its default command, which the parser hands over.
    const ofDefault = node.below.find(({ words }) => words.at(-1) === 'list');
    for (const { long } of ofDefault?.flags ?? []) wanted.add(long);
    if (node.words[0] !== 'help')
      assert.deepEqual(node.flags.map(({ long }) => long).sort(), [...wanted].sort(), where);
    if (where === 'help') return;
    assert.deepEqual(
      node.below.map(({ words }) => words.at(-1)),
      command.commands.map((one) => one.name()),
      where,
    );
    for (const [index, one] of command.commands.entries()) compare(one, node.below[index] ?? assert.fail(where));
  };
  compare(parser, TREE);
});

test('command tree: a flag takes a value in all commands or in none', () => {
  // A script tells a value from an argument by the flag alone.
  const valued = new Set(valuedFlags(TREE));
  for (const { flags, words } of allNodes(TREE))
    for (const { long, value } of flags)
      assert.equal(value !== undefined, valued.has(long), `${words.join(' ')} ${long}`);
});

test('command tree: choices belong to a flag or an argument, and its command names each', () => {
  for (const { usage, summary, options, choices = {}, examples } of COMMANDS) {
    for (const [key, values] of Object.entries(choices)) {
      const description = options.find(([flags]) => flags.split(' ')[0] === key)?.[1];
      assert.ok(description !== undefined || new RegExp(`[<[]${key}[>\\]]`).test(usage), `${usage}: ${key}`);
      const text = `${description ?? summary} ${examples.join(' ')}`;
      for (const value of values) assert.ok(text.includes(value), `${usage}: ${key}: ${value}`);
    }
  }
});
