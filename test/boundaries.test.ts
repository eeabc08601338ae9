// from source: dependency-cruiser is a module that no bundle can require
/**
 * The import table of the source tree, with a reason per row, and the few rules that no linter knows. What a folder may import says
 * what it may do: data/ can run on a host without a database because nothing in it can reach one.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { before, test } from 'node:test';
import { tableUnder } from './harness/docs.ts';

interface Row {
  /** The folder or file that the row is about; the longest match counts. */
  readonly folder: string;
  /** Folders of src that it may import, besides itself. */
  readonly may: readonly string[];
  /** npm packages that it may import. */
  readonly packages: readonly string[];
  readonly because: string;
}

// biome-ignore format: a table
const TABLE: readonly Row[] = [
  { folder: 'base', may: [], packages: [], because: 'it is the floor: it knows no domain word and no library' },
  { folder: 'mux', may: ['base'], packages: [], because: 'the multiplexer is a protocol of its own and knows no tunnels' },
  { folder: 'wire', may: ['base'], packages: ['zod'], because: 'it is the contract of agent and server, and belongs to neither' },
  { folder: 'http1', may: ['base'], packages: [], because: 'it reads HTTP/1.1 for the edge and for the agent\'s own page, and knows no tunnels' },
  { folder: 'plane', may: ['base', 'wire'], packages: ['zod'], because: 'it is the contract of the planes, and belongs to neither' },
  { folder: 'config', may: ['base'], packages: ['zod', 'smol-toml'], because: 'settings are made here and passed down as arguments' },
  { folder: 'argon2', may: ['base'], packages: ['@node-rs/argon2'], because: 'it computes hashes for both planes and belongs to neither' },
  { folder: 'data', may: ['argon2', 'base', 'http1', 'mux', 'wire', 'plane'], packages: ['jose'], because: 'it must be able to run in a thread or on a host of its own, without a database; jose verifies the JWTs of visitors' },
  { folder: 'control', may: ['argon2', 'base', 'plane', 'wire', 'control'], packages: ['@hono/node-server', '@hono/zod-openapi', 'cborg', 'drizzle-orm', 'hono', 'ipaddr.js', 'jose', 'otplib', 'prom-client', 'uuidv7', 'ws', 'zod'], because: 'it holds rules, routes and wiring; its floors have a test of their own' },
  { folder: 'control/db', may: ['base'], packages: ['better-sqlite3', 'drizzle-orm'], because: 'it holds the tables and no rules' },
  { folder: 'control/db/usage', may: ['base', 'plane', 'control/db'], packages: [], because: 'it stores records as the contract of the planes has them, and comes to SQLite as its neighbours do' },
  { folder: 'control/providers', may: ['base'], packages: ['jose', 'nodemailer', 'openid-client', '@peculiar/x509', 'reflect-metadata', 'stripe'], because: 'the outside world stands behind small interfaces' },
  { folder: 'agent', may: ['base', 'http1', 'mux', 'wire'], packages: [], because: 'it runs on a customer\'s machine, which loads no server' },
  { folder: 'dashboard', may: ['base/codes', 'wire/check-words.ts'], packages: ['@mantine/core', '@mantine/form', '@mantine/hooks', '@mantine/notifications', '@tabler/icons-react', '@tanstack/react-query', '@tanstack/react-virtual', 'get-nonce', 'openapi-fetch', 'react', 'react-dom', 'uplot', 'uqr', 'wouter'], because: 'it is a client of the REST API and of nothing else; the texts of codes and the words of a check phrase are the same everywhere' },
  { folder: 'docs-site', may: [], packages: [], because: 'it is the documentation in a browser, made when the program is built' },
  { folder: 'server', may: ['base', 'mux', 'wire', 'config', 'control', 'data', 'plane'], packages: ['@hono/node-server', '@peculiar/x509', 'reflect-metadata'], because: 'it is the one place where both planes meet, and knows no command line' },
  { folder: 'cli', may: ['base', 'config', 'wire', 'server', 'agent'], packages: ['commander', 'log-update', 'pino', 'pino-pretty', 'uqr', 'zod'], because: 'commands start server and agent, they do not reach inside' },
  { folder: 'main.ts', may: ['base', 'cli'], packages: [], because: 'it turns argv into a command' },
];

/** Folders of control that are slices (control/core/slice.ts), and the tables that each owns. */
const SLICES: Readonly<Record<string, readonly string[]>> = { 'control/projects': ['projects'] };

interface SliceFile {
  /** Name or ending: `rows.ts` is also `key-rows.ts`. A file with none of these names is as `service.ts`. */
  readonly name: string;
  /** Names and endings of files of its slice that it may import; `*`: all. */
  readonly own: readonly string[];
  /** Files and folders besides; `*`: of any folder. */
  readonly may: readonly string[];
  readonly packages: readonly string[];
}

// biome-ignore format: a table
const SLICE_FILES: readonly SliceFile[] = [
  { name: 'index.ts', own: ['*'], may: ['control/core', 'control/db/events.ts', '*/events.ts', '*/index.ts'], packages: [] },
  { name: 'routes.ts', own: ['schemas.ts', 'service.ts'], may: ['control/core/http'], packages: [] },
  { name: 'schemas.ts', own: ['service.ts', 'rows.ts'], may: ['control/core/http', '*/schemas.ts'], packages: ['@hono/zod-openapi'] },
  { name: 'service.ts', own: ['service.ts', 'rows.ts', 'events.ts', 'messages.ts'], may: ['base', 'control/core', 'control/db', '*/rows.ts', '*/events.ts'], packages: ['drizzle-orm', 'uuidv7'] },
  { name: 'rows.ts', own: ['rows.ts'], may: ['control/core/rules', 'control/db', '*/rows.ts'], packages: ['drizzle-orm'] },
  { name: 'events.ts', own: ['rows.ts'], may: ['control/db/events.ts'], packages: [] },
  { name: 'messages.ts', own: [], may: ['base'], packages: [] },
];

/** A package that only one file may import, so that the build replaces its native part in one place. */
const ENTRY_POINT: Readonly<Record<string, string>> = {
  'better-sqlite3': 'src/control/db/open.ts',
  '@node-rs/argon2': 'src/argon2/argon2-worker.ts',
};

interface Import {
  readonly from: string;
  /** `src/…` or the name of an npm package. */
  readonly to: string;
  readonly kind: 'value' | 'type' | 'lazy';
}

let files: string[] = [];
let imports: Import[] = [];

const isTest = (file: string): boolean => /\.test\.ts$|\/testing\.ts$|\/testing\/|\/fixtures\//.test(file);

before(async () => {
  // Not above: it awaits at its top level, and `--name` loads files without.
  const { cruise } = await import('dependency-cruiser');
  const { output } = await cruise(['src'], {
    tsPreCompilationDeps: 'specify',
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    // Packages with several entry points (hono/cors) say them in `exports`.
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  });
  assert.ok(typeof output === 'object');
  files = output.modules.map((module) => module.source).filter((file) => file.startsWith('src/'));
  imports = output.modules.flatMap((module) =>
    module.dependencies
      // Node itself lists no module that a flag must switch on, as node:ffi. The types of the API are made by the type check.
      .filter(
        ({ coreModule, protocol, module: of }) => !coreModule && protocol !== 'node:' && !of.endsWith('/schema.gen.ts'),
      )
      .map((dependency): Import => {
        assert.ok(!dependency.couldNotResolve, `${module.source} imports ${dependency.module}, which is not there`);
        const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(dependency.resolved)?.[1];
        const isType = dependency.dependencyTypes.includes('type-only');
        return {
          from: module.source,
          to: name ?? dependency.resolved,
          kind: isType ? 'type' : dependency.dynamic ? 'lazy' : 'value',
        };
      }),
  );
});

function rowOf(file: string): Row | undefined {
  const path = file.replace(/^src\//, '');
  const rows = TABLE.filter(({ folder }) => path === folder || path.startsWith(`${folder}/`));
  return rows.sort((a, b) => b.folder.length - a.folder.length)[0];
}

const product = (): Import[] => imports.filter(({ from }) => from.startsWith('src/') && !isTest(from));

test('the scan has seen the source tree', () => {
  // A scanner without a working parser reports no modules and no violations.
  assert.ok(files.length >= 50, `${files.length} files`);
  assert.ok(imports.length >= files.length, `${imports.length} imports`);
  const kinds = new Set(imports.map(({ kind }) => kind));
  assert.deepEqual([...kinds].sort(), ['lazy', 'type', 'value']);
});

test('each folder imports only what the table allows', () => {
  const wrong: string[] = [];
  for (const { from, to } of product()) {
    const row = rowOf(from);
    if (row === undefined) wrong.push(`${from}: its folder has no row in the table`);
    else if (to.startsWith('src/')) {
      const path = to.replace(/^src\//, '');
      const allowed = [row.folder, ...row.may].some((folder) => path === folder || path.startsWith(`${folder}/`));
      if (!allowed) wrong.push(`${from} imports ${to}: ${row.because}`);
    } else if (!row.packages.includes(to)) wrong.push(`${from} imports the package ${to}: ${row.because}`);
  }
  assert.deepEqual(wrong, []);
});

/** The slice that a file is in, `control/projects`. */
const sliceOf = (file: string): string | undefined =>
  Object.keys(SLICES).find((folder) => file.startsWith(`src/${folder}/`));

/** Which of the names the file has, as `rows.ts` of `src/control/projects/key-rows.ts`. */
function sliceFile(file: string): string {
  const found = SLICE_FILES.find(({ name }) => basename(file) === name || file.endsWith(`-${name}`));
  return found?.name ?? 'service.ts';
}

test('each file of a slice imports only what files of its name may', () => {
  const wrong: string[] = [];
  for (const { from, to } of product()) {
    const slice = sliceOf(from);
    if (slice === undefined) continue;
    const row = SLICE_FILES.find(({ name }) => name === sliceFile(from));
    assert.ok(row !== undefined);
    const isAllowed = (): boolean => {
      if (!to.startsWith('src/')) return row.packages.includes(to);
      if (sliceOf(to) === slice) return row.own.includes('*') || row.own.includes(sliceFile(to));
      const path = to.replace(/^src\//, '');
      return row.may.some((one) => path === one || path.startsWith(`${one}/`) || one === `*/${basename(path)}`);
    };
    if (!isAllowed()) wrong.push(`${from} imports ${to}`);
  }
  assert.deepEqual(wrong, []);
});

test('a slice is reached by its rows and events, by types of its service, and by control/open.ts', () => {
  const wrong = product().filter(({ from, to, kind }) => {
    const slice = sliceOf(to);
    if (slice === undefined || sliceOf(from) === slice || from === 'src/control/open.ts') return false;
    const name = sliceFile(to);
    return name !== 'rows.ts' && name !== 'events.ts' && !(name === 'service.ts' && kind === 'type');
  });
  assert.deepEqual(
    wrong.map(({ from, to }) => `${from} -> ${to}`),
    [],
  );
});

for (const [slice, tables] of Object.entries(SLICES)) {
  test(`only ${slice} writes its tables`, () => {
    const writers = tables.map((table) => {
      const write = new RegExp(`\\.(insert|update|delete)\\(${table}\\)`);
      return [table, files.filter((file) => !isTest(file) && write.test(readFileSync(file, 'utf8'))).map(sliceOf)];
    });
    assert.deepEqual(
      writers.map(([table, of]) => [table, [...new Set(of)]]),
      tables.map((table) => [table, [slice]]),
    );
  });
}

const ARCHITECTURE = readFileSync(new URL('../ARCHITECTURE.md', import.meta.url), 'utf8');
const list = (names: readonly string[]): string => names.join(', ') || '–';

test('ARCHITECTURE.md shows the files of a slice', () => {
  assert.deepEqual(
    tableUnder(ARCHITECTURE, 'Files of a slice'),
    SLICE_FILES.map(({ name, own, may, packages }) => [name, list(own), list(may), list(packages)]),
  );
});

test('ARCHITECTURE.md shows this table', () => {
  const shown = tableUnder(ARCHITECTURE, 'Imports');
  assert.deepEqual(
    shown,
    TABLE.map(({ folder, may, packages }) => [folder, list(may), list(packages)]),
  );
});

test('the command line loads server and agent lazily, so that each command loads what it needs', () => {
  const eager = product().filter(
    ({ from, to, kind }) => from.startsWith('src/cli/') && /^src\/(server|agent)\//.test(to) && kind === 'value',
  );
  // Files that only other lazily loaded files import may be eager among themselves: what counts is the way from main.ts.
  const start = reachable('src/main.ts');
  assert.ok(start.size > 1, 'main.ts imports nothing');
  assert.deepEqual(
    eager.filter(({ from }) => start.has(from)).map(({ from, to }) => `${from} -> ${to}`),
    [],
  );
});

test('nothing on the way of an agent command needs the database or the web framework', () => {
  for (const file of files.filter((name) => name.startsWith('src/agent/'))) {
    const seen = reachable(file);
    for (const banned of ['better-sqlite3', 'drizzle-orm', 'hono', '@node-rs/argon2']) {
      assert.ok(!seen.has(banned), `${file} reaches ${banned}`);
    }
  }
});

/** Everything that is loaded together with a file: value imports, followed. */
function reachable(start: string): Set<string> {
  const seen = new Set([start]);
  for (const file of seen) {
    for (const { from, to, kind } of imports) if (from === file && kind === 'value') seen.add(to);
  }
  return seen;
}

test('no file imports itself in a circle, by values or types', () => {
  let left: readonly Import[] = imports.filter(({ to }) => to.startsWith('src/'));
  // In a circle each file imports another one of it, and is imported by one. What is left has both.
  for (let before = Infinity; left.length < before; ) {
    before = left.length;
    const [from, to] = [new Set(left.map((one) => one.from)), new Set(left.map((one) => one.to))];
    left = left.filter((one) => from.has(one.to) && to.has(one.from));
  }
  assert.deepEqual(
    left.map(({ from, to, kind }) => `${from} -> ${to} (${kind})`),
    [],
  );
});

test('product code imports no test code', () => {
  assert.deepEqual(
    product()
      .filter(({ to }) => isTest(to))
      .map(({ from, to }) => `${from} -> ${to}`),
    [],
  );
});

for (const [name, entryPoint] of Object.entries(ENTRY_POINT)) {
  test(`${name} is imported by ${entryPoint} alone`, () => {
    const others = product().filter(({ from, to, kind }) => to === name && kind !== 'type' && from !== entryPoint);
    assert.deepEqual(
      others.map(({ from }) => from),
      [],
    );
    assert.ok(product().some(({ from, to }) => to === name && from === entryPoint));
  });
}

interface TextRule {
  readonly name: string;
  readonly applies: (file: string) => boolean;
  /** What is wrong with the file, if anything. */
  readonly find: (text: string, file: string) => string | undefined;
}

const matching =
  (pattern: RegExp) =>
  (text: string): string | undefined =>
    pattern.exec(text)?.[0];
const MAX_LINES = 400;
const MAX_HEADER_LINES = 6;

const TEXT_RULES: readonly TextRule[] = [
  {
    name: `files have at most ${MAX_LINES} lines, or say "Length:" and why in their header`,
    applies: (file) => !isTest(file) && !file.endsWith('.gen.ts'),
    find: (text) => {
      const lines = text.split('\n').length - 1;
      const header = text.slice(0, text.indexOf('*/'));
      return lines <= MAX_LINES || header.includes('Length:') ? undefined : `${lines} lines`;
    },
  },
  {
    name: 'files are named after what they hold, not "util"',
    applies: () => true,
    find: (_, file) => /\b(utils?|helpers?|common|misc|manager|stuff)\b/.exec(basename(file))?.[0],
  },
  {
    name: 'each file says in its first comment what it owns',
    applies: (file) => !isTest(file),
    find: (text) => (/^(#!.*\n)?\/\*\*/.test(text) ? undefined : text.split('\n')[0]),
  },
  {
    name: `a header has at most ${MAX_HEADER_LINES} lines, drawings apart; longer reasons are in docs/decisions`,
    applies: () => true,
    find: (text) => {
      const [header = ''] = /^(#!.*\n)?\/\*\*[\s\S]*?\*\//.exec(text) ?? [];
      const prose = header.split('\n').filter((line) => !/^ \*(?:$| {2})/.test(line));
      // With its first and its last line, where it has more than one.
      return prose.length <= MAX_HEADER_LINES + 2 ? undefined : `${prose.length} lines`;
    },
  },
  {
    name: 'the process ends in main.ts alone',
    applies: (file) => !isTest(file) && file !== 'src/main.ts',
    find: matching(/process\.(exit|abort|reallyExit)\(/),
  },
  {
    name: 'no module holds state of its own',
    applies: (file) => !isTest(file) && file !== 'src/main.ts',
    find: matching(/^(export )?(let|var) .*/m),
  },
  { name: 'no loose ends', applies: () => true, find: matching(/\b(TODO|FIXME|XXX|HACK)\b/) },
  {
    name: 'no way around the types',
    applies: () => true,
    find: matching(/@ts-(ignore|nocheck|expect-error)/),
  },
];

for (const { name, applies, find } of TEXT_RULES) {
  test(name, () => {
    const wrong = files.filter(applies).flatMap((file) => {
      const found = find(readFileSync(file, 'utf8'), file);
      return found === undefined ? [] : [`${file}: ${found}`];
    });
    assert.deepEqual(wrong, []);
  });
}
