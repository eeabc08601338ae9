/** README.md and `docs/` say what the program does: flags, settings, routes, codes and links are checked against the code. Commands: docs-commands.test.ts. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { anchorOf, DOCS, navigation, readPages } from '../scripts/docs/pages.ts';
import { API_ERRORS } from '../src/base/codes/api-errors.ts';
import { explain } from '../src/base/codes/code-text.ts';
import { EDGE_FAULTS, edgeFault } from '../src/base/codes/edge-faults.ts';
import { COMMANDS } from '../src/cli/commands.ts';
import { EXIT } from '../src/cli/terminal/exit.ts';
import { agentSchema } from '../src/config/agent.ts';
import { checkServerConfig } from '../src/config/load.ts';
import { serverSchema } from '../src/config/schema.ts';
import { defaultsOf, readToml } from '../src/config/toml.ts';
import { AUDIT_ACTIONS } from '../src/control/core/rules/audit.ts';
import { policySchema } from '../src/control/tunnels/policies/input.ts';
import { Plane } from '../src/control/core/testing/plane.ts';
import { servePlane } from '../src/control/core/testing/plane-api.ts';
import { codeBlocks, documents, inlineCode, tableUnder, withoutCode } from './harness/docs.ts';

const ROOT = join(import.meta.dirname, '..');
const ALL = documents();
const PAGES = readPages();
const MAX_LINES = 200;
const MAX_README_LINES = 150;

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

test('docs: every route is one of the API', async (t) => {
  const plane = new Plane();
  const api = await servePlane(plane);
  t.after(async () => {
    await api.close();
    plane.close();
  });
  const { paths } = (await api.call('GET', '/openapi.json')).body as unknown as { paths: Record<string, object> };
  const methodsOf = (path: object): string[] => Object.keys(path).map((method) => method.toUpperCase());
  const known = new Map(Object.entries(paths).map(([path, methods]) => [shape(path), methodsOf(methods)]));
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
        edgeFault(code)?.status,
        (API_ERRORS as Readonly<Record<string, { status: number }>>)[code]?.status,
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

test('docs: no page has a heading twice', () => {
  const twice = PAGES.flatMap(({ slug, text }) => {
    const headings = Array.from(withoutCode(text).matchAll(/^#+ (.+)$/gm), ([, heading = '']) => anchorOf(heading));
    return headings
      .filter((heading, index) => headings.indexOf(heading) < index)
      .map((heading) => `${slug}#${heading}`);
  });
  assert.deepEqual(twice, []);
});

test('docs: the help links of the dashboard lead to a page and a heading, and every page of it has one', () => {
  const read = (path: string): string => readFileSync(join(ROOT, 'src/dashboard', path), 'utf8');
  const [, table = ''] = /HELP: [^=]+= \{([^}]+)\}/.exec(read('parts/links.tsx')) ?? [];
  const links = new Map(
    Array.from(table.matchAll(/^ {2}'?([\w /]*)'?: '([^']+)'/gm), ([, place = '', target = '']) => [place, target]),
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

test(`README: has at most ${MAX_README_LINES} lines and shows pictures that are there`, () => {
  const [readme] = ALL;
  assert.equal(readme?.path, 'README.md');
  const lines = readme.text.split('\n').length - 1;
  assert.ok(lines <= MAX_README_LINES, `${lines} lines`);
  const pictures = Array.from(readme.text.matchAll(/!\[([^\]]+)\]\(([^)]+)\)/g), ([, , path = '']) => path);
  assert.equal(pictures.length, 2);
  for (const path of pictures) assert.ok(existsSync(join(ROOT, path)), path);
});

const textOf = (path: string): string => ALL.find((document) => document.path === path)?.text ?? '';

test('docs: every command of the program is in the command reference or on the page for operators', () => {
  const described = ['docs/cli.md', 'docs/operating.md'].flatMap((path) =>
    Array.from(textOf(path).matchAll(/^\| `culvert ([^`]+)`/gm), ([, line = '']) => line),
  );
  assert.deepEqual(
    COMMANDS.map(({ usage }) => usage.replace(/ *[<[].*$/, '')).filter(
      (words) => !described.some((line) => line === words || line.startsWith(`${words} `)),
    ),
    [],
  );
});

test('docs: the tables of errors have every code of edge, API and programs, with status, meaning and fix', () => {
  const page = textOf('docs/troubleshooting.md');
  const table = (heading: string) =>
    tableUnder(page, heading).map(([code, status, meaning = '']) => [code, status, withoutLinks(meaning)]);
  const rows = (codes: Readonly<Record<string, { status: number; cause: string; fix?: string }>>) =>
    Object.entries(codes).map(([code, about]) => [code, String(about.status), explain(about)]);
  assert.deepEqual(table('Edge errors'), rows(EDGE_FAULTS));
  assert.deepEqual(table('API errors'), rows(API_ERRORS));
  assert.deepEqual(
    tableUnder(page, 'Exit codes').map(([code]) => Number(code)),
    Object.values(EXIT),
  );
});

/** Markdown as a reader sees it. */
function withoutLinks(text: string): string {
  return text.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1');
}

test('docs: the configuration pages have every key of the settings file, with its default', () => {
  const rows = new Map(
    ['docs/configuration.md', 'docs/configuration-edge.md'].flatMap((path) =>
      Array.from(
        textOf(path).matchAll(/^\| `([\w.]+)` \| `([^`]*)` \|/gm),
        ([, key = '', value = '']) => [key, value] as const,
      ),
    ),
  );
  for (const [key, value] of defaults) assert.equal(rows.get(key), JSON.stringify(value), key);
});

test('docs: the settings of the install page make a public server with HTTPS', () => {
  const blocks = codeBlocks({ path: '', text: textOf('docs/install.md') });
  const toml = blocks.find(({ language }) => language === 'toml');
  const { settings } = checkServerConfig(toml?.code ?? '', 'docs/install.md');
  assert.equal(settings.edge.domain, 'example.com');
  assert.equal(settings.edge.tls.mode, 'acme');
  assert.equal(settings.api.public_url, 'https://culvert.example.com');
  assert.equal(settings.agents.listen, null);
  assert.equal(settings.accounts.signup, 'closed');
});

test('docs: the policy page has every kind of action', () => {
  const kinds = policySchema().shape.actions.element.options.map(({ shape: { kind } }) => kind.value);
  const rows = tableUnder(textOf('docs/policies.md'), 'Actions').map(([kind = '']) => kind);
  assert.deepEqual(rows.toSorted(), kinds.toSorted());
});
