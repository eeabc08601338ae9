/**
 * The import table of the source tree, with a reason per row, and the few rules that no linter knows. What a folder may import says
 * what it may do: data/ can run on a host without a database because nothing in it can reach one.
 */
import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { tableUnder } from './harness/docs.ts';
import { type Import, mentionsIn, scanImports } from './harness/imports.ts';

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
  { folder: 'http2', may: ['base', 'http1', 'mux'], packages: [], because: 'it speaks HTTP/2 for the edge in heads of HTTP/1.1, and knows no tunnels' },
  { folder: 'signatures', may: ['base'], packages: [], because: 'it checks how senders sign webhooks, for receivers and for the edge, and belongs to neither' },
  { folder: 'plane', may: ['base', 'wire'], packages: ['zod'], because: 'it is the contract of the planes, and belongs to neither' },
  { folder: 'config', may: ['base'], packages: ['zod', 'smol-toml'], because: 'settings are made here and passed down as arguments' },
  { folder: 'argon2', may: ['base'], packages: ['@node-rs/argon2'], because: 'it computes hashes for both planes and belongs to neither' },
  { folder: 'data', may: ['argon2', 'base', 'http1', 'http2', 'mux', 'signatures', 'wire', 'plane'], packages: ['jose'], because: 'it must be able to run in a thread or on a host of its own, without a database; jose verifies the JWTs of visitors' },
  { folder: 'control', may: ['base', 'plane', 'signatures', 'wire', 'control'], packages: [], because: 'its own files wire the control plane up' },
  { folder: 'control/db', may: ['base', 'signatures'], packages: ['better-sqlite3', 'drizzle-orm'], because: 'it holds the tables and no rules' },
  { folder: 'control/db/usage', may: ['base', 'plane', 'control/db'], packages: [], because: 'it stores records as the contract of the planes has them, and comes to SQLite as its neighbours do' },
  { folder: 'control/providers', may: ['base'], packages: ['jose', 'nodemailer', 'openid-client', '@peculiar/x509', 'reflect-metadata', 'stripe'], because: 'the outside world stands behind small interfaces' },
  { folder: 'agent', may: ['base', 'http1', 'mux', 'signatures', 'wire'], packages: ['hono'], because: 'it runs on a customer\'s machine, which loads no server; of hono it takes the table of content types' },
  { folder: 'dashboard', may: ['base/codes', 'wire/check-words.ts'], packages: ['@mantine/core', '@mantine/form', '@mantine/hooks', '@mantine/notifications', '@tabler/icons-react', '@tanstack/react-query', '@tanstack/react-virtual', 'get-nonce', 'openapi-fetch', 'react', 'react-dom', 'uplot', 'uqr', 'wouter'], because: 'it is a client of the REST API and of nothing else; the texts of codes and the words of a check phrase are the same everywhere' },
  { folder: 'docs-site', may: [], packages: [], because: 'it is the documentation in a browser, made when the program is built' },
  { folder: 'server', may: ['base', 'mux', 'wire', 'config', 'control', 'data', 'plane'], packages: ['@hono/node-server', '@peculiar/x509', 'reflect-metadata'], because: 'it is the one place where both planes meet, and knows no command line' },
  { folder: 'cli', may: ['base', 'config', 'signatures', 'wire', 'server', 'agent'], packages: ['commander', 'log-update', 'pino', 'pino-pretty', 'uqr', 'ws', 'zod'], because: 'commands start server and agent, they do not reach inside' },
  { folder: 'sdk', may: ['base', 'config', 'wire', 'agent', 'cli/agent/narrowing', 'cli/agent/upstream/upstream-form.ts', 'cli/agent/upstream/upstream-input.ts', 'cli/client', 'cli/terminal'], packages: ['@hono/node-server'], because: 'it is the agent for programs: it finds server and key as the command line does, and knows no command' },
  { folder: 'main.ts', may: ['base', 'cli'], packages: [], because: 'it turns argv into a command' },
];

/** What the features of control stand on, from the ground up. Each may import those before it. */
const GROUND: readonly Row[] = [
  {
    folder: 'control/core',
    may: ['argon2', 'base', 'plane', 'wire', 'control/db', 'control/providers'],
    packages: ['@hono/node-server', '@hono/zod-openapi', 'drizzle-orm', 'hono', 'jose', 'prom-client', 'uuidv7', 'zod'],
    because: 'it opens, mounts and connects features, and knows none of them',
  },
];

/** Slices (control/core/slice.ts) from the ground up, as control/open.ts lists them: a slice imports only those before it. */
const SLICES: readonly string[] = [
  'certificates',
  'organizations',
  'audit',
  'billing',
  'metrics',
  'projects',
  'access-keys',
  'subdomains',
  'auth/accounts',
  'auth/sessions',
  'auth/cli',
  'auth/oauth',
  'auth/mfa',
  'tunnels',
  'tunnels/access-control',
  'tunnels/policies',
  'tunnels/visitor-login',
  'tunnels/narrowing',
  'networks',
  'domains',
  'webhooks',
  'inspector',
  'organizations/export',
  'backups',
  'operator',
  'operator/instance',
  'attention',
  'attention/alerts',
  'download',
  'web',
];

interface SliceFile {
  /** Names and endings: `rows.ts` is also `key-rows.ts`. A file with none of the names is as `service.ts`. */
  readonly names: readonly string[];
  /** Folders of control and kinds of files, of any slice, that it never imports. */
  readonly never: readonly string[];
  readonly packages: readonly string[];
}

// biome-ignore format: a table
const SLICE_FILES: readonly SliceFile[] = [
  { names: ['index.ts'], never: [], packages: ['drizzle-orm'] },
  { names: ['routes.ts'], never: ['control/db', 'control/providers'], packages: ['@hono/zod-openapi', 'hono', 'ws'] },
  { names: ['schemas.ts', 'pages.ts', 'page.ts', 'cookie.ts', 'exposition.ts'], never: ['control/db', 'control/providers', 'routes.ts'], packages: ['@hono/zod-openapi', 'hono', 'prom-client'] },
  { names: ['service.ts'], never: ['control/core/http', 'index.ts', 'routes.ts', 'schemas.ts', 'pages.ts'], packages: ['cborg', 'drizzle-orm', 'ipaddr.js', 'jose', 'otplib', 'uuidv7', 'zod'] },
  { names: ['rows.ts'], never: ['control/core/http', 'index.ts', 'routes.ts', 'schemas.ts', 'pages.ts'], packages: ['drizzle-orm', 'uuidv7'] },
  { names: ['events.ts', 'messages.ts'], never: ['control/core/http', 'index.ts', 'routes.ts', 'schemas.ts', 'pages.ts'], packages: [] },
];

/** Who alone writes each table: a slice, or a folder that slices stand on. Others call its rows, or emit an event that it handles. */
// biome-ignore format: a table
const OWNERS: Readonly<Record<string, string>> = {
  acmeAccounts: 'certificates',
  agentCommands: 'tunnels',
  alertChannels: 'attention/alerts',
  alertIncidents: 'attention/alerts',
  alertMessages: 'attention/alerts',
  alertRules: 'attention/alerts',
  auditEvents: 'core/rules',
  basicGates: 'tunnels/access-control',
  billingEvents: 'billing',
  capabilityTokens: 'access-keys',
  certificates: 'certificates',
  counters: 'db',
  deviceLogins: 'auth/cli',
  domains: 'domains',
  dryRuns: 'tunnels/policies',
  emailCodes: 'auth/accounts',
  endedSessions: 'tunnels',
  identities: 'auth/oauth',
  inspectorSettings: 'inspector',
  instanceSettings: 'operator/instance',
  inspectorShares: 'inspector',
  invitations: 'organizations',
  knownAddresses: 'attention/alerts',
  latencyBuckets: 'metrics',
  memberships: 'organizations',
  metricKeys: 'metrics',
  mfaFactors: 'auth/mfa',
  networkDevices: 'networks',
  nodeCursors: 'tunnels',
  orgExports: 'organizations/export',
  organizations: 'organizations',
  outgoingMails: 'core/mail',
  passwordResets: 'auth/accounts',
  pendingWork: 'core',
  privateNetworks: 'networks',
  projects: 'projects',
  recoveryCodes: 'auth/mfa',
  refreshTokens: 'auth/sessions',
  reservedSubdomains: 'subdomains',
  restingNames: 'subdomains',
  restingPorts: 'core/rules',
  revokedNonces: 'access-keys',
  serverIdentity: 'core/secrets',
  sessions: 'auth/sessions',
  signingKeys: 'core/secrets',
  spentOnce: 'db',
  subscriptions: 'billing',
  tokenSpend: 'access-keys',
  tunnelPolicies: 'tunnels/policies',
  tunnels: 'tunnels',
  usageBuckets: 'metrics',
  users: 'auth/accounts',
  visitorGates: 'tunnels/visitor-login',
  webhookAttempts: 'webhooks',
  webhookDeliveries: 'webhooks',
  webhookForwards: 'webhooks',
  webhookReceivers: 'webhooks',
  webhookRefusals: 'webhooks',
};

const SLICE_ROWS: readonly Row[] = SLICES.map((folder, place) => ({
  folder: `control/${folder}`,
  may: [
    'base',
    'plane',
    'signatures',
    'wire',
    'control/db',
    'control/providers',
    'control/core',
    ...SLICES.slice(0, place).map((one) => `control/${one}`),
  ],
  packages: [...new Set(SLICE_FILES.flatMap(({ packages }) => packages))],
  because: 'a slice stands on the core and on the slices below it',
}));

/** A package that only one file may import, so that the build replaces its native part in one place. */
const ENTRY_POINT: Readonly<Record<string, string>> = {
  'better-sqlite3': 'src/control/db/open.ts',
  '@node-rs/argon2': 'src/argon2/argon2-worker.ts',
};

const scanned = scanImports('src');
const { imports } = scanned;
const files = scanned.files.filter((file) => file.startsWith('src/'));

const isTest = (file: string): boolean => /\.test\.ts$|\/testing\.ts$|\/testing\/|\/fixtures\//.test(file);

function rowOf(file: string): Row | undefined {
  const path = file.replace(/^src\//, '');
  const rows = [...TABLE, ...GROUND, ...SLICE_ROWS].filter(
    ({ folder }) => path === folder || path.startsWith(`${folder}/`),
  );
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

test('the scan names what is loaded, what is a type and what is loaded later', () => {
  const mentions = mentionsIn(
    'a.ts',
    `import 'a';
import b, { type B } from 'b';
import { type C } from 'c';
import type { D } from 'd';
import type * as e from 'e';
export * from 'f';
export type { G } from 'g';
export const text = "import 'none'"; // import 'none'
type H = typeof import('h');
const read = async (name: string): Promise<import('i').I> => {
  await import(name);
  return (await import(
    'j'
  )).read;
};`,
  );
  assert.deepEqual(
    mentions.map(({ specifier, kind }) => `${specifier} ${kind}`),
    ['a value', 'b value', 'c value', 'd type', 'e type', 'f value', 'g type', 'h type', 'i type', 'j lazy'],
  );
});

test('an import that is not there is an error', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-imports-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const name of ['./none.ts', 'none', 'hono/none']) {
    writeFileSync(`${folder}/a.ts`, `import '${name}';`);
    assert.throws(() => scanImports(folder), new RegExp(`imports ${name}, which is not there`));
  }
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

/** The place of a file's slice in SLICES; -1: it is in none. The longest match counts. */
function sliceOf(file: string): number {
  const found = SLICES.filter((folder) => file.startsWith(`src/control/${folder}/`));
  return SLICES.indexOf(found.sort((a, b) => b.length - a.length)[0] ?? '');
}

/** Which of the names the file has, as `rows.ts` of `src/control/projects/key-rows.ts`. */
function sliceFile(file: string): SliceFile {
  const found = SLICE_FILES.find(({ names }) =>
    names.some((name) => basename(file) === name || file.endsWith(`-${name}`)),
  );
  return found ?? (SLICE_FILES.find(({ names }) => names.includes('service.ts')) as SliceFile);
}

test('a slice imports only slices before it, and control/open.ts lists them in this order', () => {
  const up = product().filter(({ from, to }) => sliceOf(from) >= 0 && sliceOf(to) > sliceOf(from));
  assert.deepEqual(
    up.map(({ from, to }) => `${from} -> ${to}`),
    [],
  );
  const wiring = product().filter(({ from, to }) => sliceOf(from) >= 0 && /^src\/control\/[^/]+\.ts$/.test(to));
  assert.deepEqual(
    wiring.map(({ from, to }) => `${from} -> ${to}`),
    [],
  );
  const open = readFileSync('src/control/open.ts', 'utf8');
  const folderOf = new Map(
    Array.from(open.matchAll(/^import \{([^}]*)\} from '\.\/([\w/-]+)\/index\.ts';$/gm), ([, names = '', folder]) => {
      const name = names
        .split(',')
        .map((one) => one.trim())
        .find((one) => one !== '' && !one.startsWith('type '));
      return [name, folder];
    }),
  );
  const [, list = ''] = /const SLICES = \[([^\]]*)\]/.exec(open) ?? [];
  const listed = Array.from(list.matchAll(/\w+/g), ([name]) => folderOf.get(name));
  assert.deepEqual(listed, SLICES);
});

test('each file of a slice imports only what files of its name may', () => {
  const wrong: string[] = [];
  for (const { from, to } of product()) {
    if (sliceOf(from) < 0) continue;
    const { never, packages } = sliceFile(from);
    const isBad = (): boolean => {
      if (!to.startsWith('src/')) return !packages.includes(to);
      const folders = never.some((one) => to.startsWith(`src/${one}/`) && !to.startsWith('src/control/db/usage/'));
      return folders || (sliceOf(to) >= 0 && never.some((name) => sliceFile(to).names.includes(name)));
    };
    if (isBad()) wrong.push(`${from} imports ${to}`);
  }
  assert.deepEqual(wrong, []);
});

test('only the owner of a table writes it', () => {
  const schema =
    readFileSync('src/control/db/schema.ts', 'utf8') +
    globSync('src/control/db/schema/*.ts')
      .map((file) => readFileSync(file, 'utf8'))
      .join('');
  const tables = Array.from(schema.matchAll(/export const (\w+) = sqliteTable\(/g), ([, name = '']) => name);
  const sources = files
    .filter((file) => file.startsWith('src/control/') && !isTest(file))
    // It forgets rows of tables that no slice owns.
    .filter((file) => file !== 'src/control/core/retention.ts')
    .map((file) => [file, readFileSync(file, 'utf8')] as const);
  const writers = tables.map((table) => {
    const of = sources
      .filter(([, text]) => {
        const [, name = table] = new RegExp(`\\b${table} as (\\w+)[^;]* from '[./\\w]*/schema\\.ts'`).exec(text) ?? [];
        return new RegExp(`(\\.(insert|update|delete)|\\bforgetRows)\\((schema\\.)?${name}[,)]`).test(text);
      })
      .map(([file]) => SLICES[sliceOf(file)] ?? dirname(file).slice('src/control/'.length));
    return [table, [...new Set(of)].sort().join(', ')] as const;
  });
  assert.deepEqual(Object.fromEntries(writers), OWNERS);
});

const ARCHITECTURE = readFileSync(new URL('../ARCHITECTURE.md', import.meta.url), 'utf8');
const list = (names: readonly string[]): string => names.join(', ') || '–';

test('ARCHITECTURE.md shows the files of a slice', () => {
  assert.deepEqual(
    tableUnder(ARCHITECTURE, 'Files of a slice'),
    SLICE_FILES.map(({ names, never, packages }) => [list(names), list(never), list(packages)]),
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
  // Of the web framework's package it has a table without imports of its own.
  const types = 'src/agent/files/media-type.ts';
  assert.deepEqual(readFileSync(types, 'utf8').match(/from '.*'/g), ["from 'hono/utils/mime'"]);
  for (const file of files.filter((name) => name.startsWith('src/agent/'))) {
    const seen = reachable(file, types);
    for (const banned of ['better-sqlite3', 'drizzle-orm', 'hono', '@node-rs/argon2']) {
      assert.ok(!seen.has(banned), `${file} reaches ${banned}`);
    }
  }
});

/** Everything that is loaded together with a file: value imports, followed, but for those of `except`. */
function reachable(start: string, except?: string): Set<string> {
  const seen = new Set([start]);
  for (const file of seen) {
    if (file === except) continue;
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

/** Fewer than 25 children: what a reader takes in at a glance. */
const MAX_CHILDREN = 24;

test(`a folder has at most ${MAX_CHILDREN} children, and more than one file`, () => {
  const folders = readdirSync('src', { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `${entry.parentPath}/${entry.name}`);
  const counted = folders.map((folder) => [folder, readdirSync(folder).length] as const);
  const wide = counted.filter(([, count]) => count > MAX_CHILDREN);
  assert.deepEqual(wide, []);
  assert.deepEqual(
    counted.filter(([, count]) => count < 2),
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
