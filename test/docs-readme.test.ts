/** README.md tells what the program does: its commands, codes and files are held against the code. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { COMMANDS } from '../src/cli/commands.ts';
import { EXIT } from '../src/cli/exit.ts';
import { checkServerConfig } from '../src/config/load.ts';
import { FAULTS } from '../src/data/edge/fault.ts';

const root = new URL('../', import.meta.url);
const readme = readFileSync(new URL('README.md', root), 'utf8');
const map = readFileSync(new URL('src/README.md', root), 'utf8');

/** The rows of the table under `heading`, as cells without backticks. */
function tableUnder(text: string, heading: string): string[][] {
  const [, below = ''] = text.split(`\n## ${heading}\n`);
  const [section = ''] = below.split('\n## ');
  return section
    .split('\n')
    .filter((line) => line.startsWith('|') && !line.startsWith('|---'))
    .slice(1)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
}

test('each command of the README is one of the program, with its options', () => {
  const rows = ['Commands', 'Operating']
    .flatMap((heading) => tableUnder(readme, heading))
    .filter(([command]) => command?.startsWith('culvert '));
  assert.ok(rows.length >= 5);
  for (const [line = ''] of rows) {
    const words = line.split(' ').slice(1);
    const spec = COMMANDS.find(({ usage }) => line.slice('culvert '.length).startsWith(usage.replace(/ *[<[].*$/, '')));
    assert.ok(spec, line);
    for (const option of words.filter((word) => word.startsWith('--'))) {
      assert.ok(
        spec.options.some(([flags]) => flags.startsWith(`${option} `) || flags === option),
        `${line}: ${option}`,
      );
    }
  }
});

test('every command for operators is in the README', () => {
  const described = tableUnder(readme, 'Operating').map(([command]) => command ?? '');
  for (const { usage } of COMMANDS) {
    const words = usage.replace(/ *[<[].*$/, '');
    if (!/^(admin|backup)\b/.test(words)) continue;
    assert.ok(
      described.some((line) => line.startsWith(`culvert ${words}`)),
      usage,
    );
  }
});

test('every answer of the edge is in the README, with its status', () => {
  const rows = tableUnder(readme, 'When the edge answers by itself');
  assert.deepEqual(
    rows.map(([code, status]) => `${code} ${status}`).sort(),
    Object.entries(FAULTS)
      .map(([code, { status }]) => `${code} ${status}`)
      .sort(),
  );
});

test('every exit code is in the README', () => {
  for (const code of Object.values(EXIT)) assert.match(readme, new RegExp(`^\\| ${code} \\|`, 'm'));
});

test('the settings that the README gives are read as they stand', () => {
  const [, toml = ''] = /```toml\n(data_dir[\s\S]*?)```/.exec(readme) ?? [];
  const files = new URL('config.example.toml', root).pathname;
  const { settings } = checkServerConfig(
    toml.replace(/"\/etc\/culvert\/\w+\.pem"/g, JSON.stringify(files)),
    'README.md',
  );
  assert.equal(settings.edge.domain, 'example.com');
  assert.equal(settings.api.public_url, 'https://culvert.example.com:8443');
});

test("every link inside the README leads to a heading, and one leads to the agent's page", () => {
  const slugOf = (heading: string): string =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-');
  const headings = new Set([...readme.matchAll(/^#{1,4} (.+)$/gm)].map(([, heading = '']) => slugOf(heading)));
  const links = [...readme.matchAll(/\]\(#([^)]+)\)/g)].map(([, slug = '']) => slug);
  for (const slug of links) assert.ok(headings.has(slug), slug);
  assert.ok(links.includes('the-agents-page'));
});

test('every script and file that the README names is there', () => {
  const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { scripts: object };
  for (const [, name = ''] of readme.matchAll(/npm run (?:-s )?([a-z:]+)/g)) assert.ok(name in scripts, name);
  for (const [, name = ''] of readme.matchAll(/(?:sh |`|\()((?:scripts|src)\/[\w./-]+)/g)) {
    assert.ok(existsSync(new URL(name, root)), name);
  }
});

test('the map of the code knows every folder', () => {
  for (const entry of readdirSync(new URL('src/', root), { withFileTypes: true })) {
    if (entry.isDirectory()) assert.ok(new RegExp(`^${entry.name}/`, 'm').test(map), entry.name);
  }
});
