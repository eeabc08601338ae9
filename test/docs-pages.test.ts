/** README.md and `docs/` say what the program does: commands, flags, settings, routes, codes and links are checked against the code. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { anchorOf, DOCS, navigation, readPages } from '../scripts/docs/pages.ts';
import { ERROR_STATUS } from '../src/base/errors.ts';
import { COMMANDS } from '../src/cli/commands.ts';
import { buildProgram } from '../src/cli/program.ts';
import { agentSchema } from '../src/config/agent.ts';
import { checkServerConfig } from '../src/config/load.ts';
import { serverSchema } from '../src/config/schema.ts';
import { defaultsOf, readToml } from '../src/config/toml.ts';
import { AUDIT_ACTIONS } from '../src/control/services/audit.ts';
import { FAULTS } from '../src/data/edge/fault.ts';
import { codeBlocks, documents, inlineCode, withoutCode } from './harness/docs.ts';

const ROOT = join(import.meta.dirname, '..');
const ALL = documents();
const PAGES = readPages();
const MAX_LINES = 200;

/** The words of a command line, without quotes. */
const wordsOf = (line: string): string[] =>
  Array.from(line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g), ([, double, single, bare]) => double ?? single ?? bare ?? '');

/** Every `culvert …` of a line of a shell, as arguments: also behind `sudo -u culvert`, `$(` and `&&`. */
function commandsIn(line: string): string[][] {
  return line
    .replace(/^\$ /, '')
    .replace(/ +#.*$/, '')
    .split(/&&|\|\||[|;)]| & ?$|\$\(|>>/)
    .map((part) => wordsOf(part.trim().replace(/^(?:sudo (?:-u \w+ )?|ssh \w+ sudo )/, '')))
    .filter(([program]) => program === 'culvert')
    .map(([, ...args]) => args);
}

/** Each command that a document shows, in code blocks and in backticks; `…` stands for any. */
function shownCommands(): Array<readonly [where: string, args: readonly string[]]> {
  return ALL.flatMap((document) => {
    const lines = codeBlocks(document)
      .filter(({ language }) => ['console', 'sh'].includes(language))
      .flatMap(({ language, code }) =>
        code.split('\n').filter((line) => (language === 'sh' ? !line.startsWith('#') : line.startsWith('$ '))),
      );
    const inline = inlineCode(document).filter((code) => code.startsWith('culvert '));
    return [...lines, ...inline]
      .flatMap(commandsIn)
      .filter((args) => args.length > 0 && !args.some((word) => word.includes('…')) && args[0] !== 'help')
      .map((args) => [`${document.path}: culvert ${args.join(' ')}`, args] as const);
  });
}

/** Why the program would not take these arguments; undefined when it would. Nothing runs. */
async function complaint(args: readonly string[]): Promise<string | undefined> {
  let text = '';
  const sink = new PassThrough().on('data', (data: Buffer) => (text += data.toString()));
  const io = { stdout: sink, stderr: sink };
  try {
    await buildProgram(args, io, () => undefined).parseAsync([...args], { from: 'user' });
    return undefined;
  } catch (error) {
    return `${text}${String(error)}`;
  }
}

/** A group alone, as in "`culvert admin` manages": its words begin a command, and nothing follows. */
const isGroup = (args: readonly string[]): boolean =>
  COMMANDS.some(({ usage }) => usage.startsWith(`${args.join(' ')} `));

test('docs: every command is one of the program, with its arguments and flags', async () => {
  const shown = shownCommands();
  assert.ok(shown.length > 150, `${shown.length} commands`);
  const wrong: string[] = [];
  for (const [where, args] of shown) {
    const found = isGroup(args) ? undefined : await complaint(args);
    if (found !== undefined) wrong.push(`${where}: ${found}`);
  }
  assert.deepEqual(wrong, []);
});

/** Flags of other programs that a page names outside of a command. */
const FOREIGN_FLAGS = new Set(['--dry-run', '--uninstall', '--all', '--now']);

test('docs: every flag belongs to a command', () => {
  const flags = new Set(COMMANDS.flatMap(({ options }) => options.map(([name]) => name.split(' ')[0] ?? '')));
  const shown = ALL.flatMap((document) =>
    inlineCode(document)
      .filter((code) => code.startsWith('--'))
      .map((code) => [document.path, /^--[a-z-]+/.exec(code)?.[0] ?? code] as const),
  );
  assert.ok(shown.length > 50, `${shown.length} flags`);
  assert.deepEqual(
    shown.filter(([, flag]) => !flags.has(flag) && !FOREIGN_FLAGS.has(flag)),
    [],
  );
});

const defaults = defaultsOf(serverSchema);
const actions = new Set<string>(AUDIT_ACTIONS);
const SECTIONS = Object.keys(serverSchema.shape).join('|');

test('docs: every setting named is a key or a table of the settings file', () => {
  const shown = ALL.flatMap((document) =>
    inlineCode(document).flatMap((code) => {
      const [, key = ''] = new RegExp(`^((?:${SECTIONS})(?:\\.[a-z_0-9]+)+)(?: = .*)?$`).exec(code) ?? [];
      return key === '' || actions.has(key) ? [] : [[document.path, key] as const];
    }),
  );
  assert.ok(shown.length > 150, `${shown.length} settings`);
  const keys = [...defaults.keys()];
  assert.deepEqual(
    shown.filter(([, key]) => !defaults.has(key) && !keys.some((one) => one.startsWith(`${key}.`))),
    [],
  );
});

test('docs: every settings file reads as it stands', () => {
  // Any file that is there and may be run.
  const file = JSON.stringify(process.execPath);
  let count = 0;
  for (const document of ALL) {
    for (const { code } of codeBlocks(document).filter(({ language }) => language === 'toml')) {
      count += 1;
      if (/^\[tunnels\.|^token_file/m.test(code)) readToml(code, { file: document.path, schema: agentSchema });
      else checkServerConfig(code.replace(/"\/etc\/culvert\/[\w.-]+"/g, file), document.path);
    }
  }
  assert.ok(count > 10, `${count} files`);
});

test('docs: every route is one of the API', () => {
  const generated = readFileSync(join(ROOT, 'src/dashboard/api/schema.gen.ts'), 'utf8');
  const [paths = ''] = generated.split('\nexport type webhooks');
  const known = new Map(
    paths
      .split(/^ {4}"?'?(?=\/)/m)
      .slice(1)
      .map((part) => [
        shape(/^[^"'\s:]+/.exec(part)?.[0] ?? ''),
        Array.from(part.matchAll(/^ {8}(\w+): (?!never)/gm), ([, method = '']) => method.toUpperCase()),
      ]),
  );
  // The listener of the server's own metrics.
  known.set('/metrics', [...(known.get('/metrics') ?? []), 'GET']);
  const shown = ALL.flatMap((document) =>
    inlineCode(document).flatMap((code) => {
      const [, method = '', path = ''] = /^(GET|POST|PUT|PATCH|DELETE) (\/[^\s?]*)/.exec(code) ?? [];
      return method === '' || path.includes('*') || path.includes('…') ? [] : [[document.path, method, path] as const];
    }),
  );
  assert.ok(shown.length > 50, `${shown.length} routes`);
  assert.deepEqual(
    shown.filter(([, method, path]) => known.get(shape(path))?.includes(method) !== true),
    [],
  );
  for (const document of ALL)
    for (const { code } of codeBlocks(document))
      for (const [, path = ''] of code.matchAll(/\$api(\/[^\s"?']*)/g))
        assert.ok(known.has(shape(path)), `${document.path}: ${path}`);
});

/** A path with the same mark for every parameter. */
function shape(path: string): string {
  return path.replace(/\{[^}]*\}|\$\w+/g, '{}');
}

test('docs: every code with a status is one that the edge or the API sends', () => {
  let count = 0;
  for (const document of ALL)
    for (const [, status = '', code = ''] of withoutCode(document.text).matchAll(/\b([2-5]\d\d) `([a-z_]+)`/g)) {
      count += 1;
      const known = [
        (FAULTS as Readonly<Record<string, { status: number }>>)[code]?.status,
        (ERROR_STATUS as Readonly<Record<string, number>>)[code],
      ];
      assert.ok(known.includes(Number(status)), `${document.path}: ${status} ${code}`);
    }
  assert.ok(count > 20, `${count} codes`);
});

test('docs: every environment variable is read by the program', () => {
  const sources = ['src', 'scripts']
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    .filter((name) => /\.(ts|sh|mjs)$/.test(name) && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(ROOT, name), 'utf8'))
    .join('\n');
  for (const { path, text } of ALL)
    for (const [name] of text.matchAll(/\bCULVERT_[A-Z_]+\b/g)) assert.ok(sources.includes(name), `${path}: ${name}`);
});

test('docs: every link leads to a file and a heading', () => {
  const anchors = new Map(
    ALL.map(({ path, text }) => [
      path,
      new Set(Array.from(withoutCode(text).matchAll(/^#+ (.+)$/gm), ([, heading = '']) => anchorOf(heading))),
    ]),
  );
  const wrong: string[] = [];
  for (const { path, text } of ALL) {
    for (const [, target = ''] of withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (target.startsWith('https://')) continue;
      const [file = '', anchor] = target.split('#');
      const full = file === '' ? path : join(path, '..', file);
      const known = anchors.get(full);
      if (!existsSync(join(ROOT, full))) wrong.push(`${path}: ${target}`);
      else if (anchor !== undefined && known?.has(anchor) !== true) wrong.push(`${path}: ${target}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('docs: the help links of the dashboard lead to a page and a heading, and every page of it has one', () => {
  const read = (path: string): string => readFileSync(join(ROOT, 'src/dashboard', path), 'utf8');
  const [, table = ''] = /HELP: [^=]+= \{([^}]+)\}/.exec(read('parts/help-link.tsx')) ?? [];
  const links = new Map(
    Array.from(table.matchAll(/^ {2}'?([\w ]*)'?: '([^']+)'/gm), ([, place = '', target = '']) => [place, target]),
  );
  for (const target of links.values()) {
    const [slug, anchor] = target.split('#');
    const page = PAGES.find((one) => one.slug === slug);
    assert.ok(page !== undefined, target);
    const headings = Array.from(page.text.matchAll(/^#+ (.+)$/gm), ([, heading = '']) => anchorOf(heading));
    assert.ok(anchor === undefined || headings.includes(anchor), target);
  }
  for (const [, path = ''] of read('pages.ts').matchAll(/\bpage\('\/(\w*)/g)) assert.ok(links.has(path), path);
});

test('docs: every script and file named is there', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
  for (const { path, text } of ALL) {
    for (const [, name = ''] of text.matchAll(/npm run (?:-s )?([a-z:]+)/g))
      assert.ok(name in scripts, `${path}: ${name}`);
    for (const [, name = ''] of text.matchAll(/(?:sh |`|\()((?:scripts|src)\/[\w./-]+)/g))
      assert.ok(existsSync(join(ROOT, name)), `${path}: ${name}`);
  }
});

test('docs: the home page lists every page once', () => {
  const [home] = PAGES;
  assert.ok(home !== undefined);
  const listed = navigation(home).flatMap(({ files }) => files);
  assert.deepEqual(
    listed.toSorted(),
    PAGES.slice(1).map(({ file }) => file),
  );
});

test(`docs: a page has at most ${MAX_LINES} lines`, () => {
  for (const { file, source } of PAGES) {
    const lines = source.split('\n').length - 1;
    assert.ok(lines <= MAX_LINES, `docs/${file}: ${lines} lines`);
  }
  assert.ok(readdirSync(DOCS).length > 20);
});
