/**
 * `npm run build:sdk`: src/sdk → release/npm/, the package `culvert` for programs of Node 22 and later: one bundle without dependencies, its types,
 * README and licence. `npm run release` is followed by it; `--out FOLDER` writes elsewhere.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { readVersion, ROOT, shortCommit } from './release/source.ts';

/** What an install may weigh: larger, and something of the server has come in. */
const MAX_BYTES = 300_000;
/** Public declarations: they import each other and Node alone. */
const DECLARATIONS = ['index', 'error', 'forward', 'listen', 'types'];

/** zod's writers of JSON Schema, which its schemas name and no schema here calls: 18 KB. */
const noJsonSchema = {
  name: 'no-json-schema',
  setup(build) {
    build.onLoad({ filter: /\/zod\/v4\/core\/(?:to-json-schema|json-schema-processors)\.js$/ }, ({ path }) => {
      const names = [...readFileSync(path, 'utf8').matchAll(/^export (?:const|function|class) (\w+)/gm)];
      return { contents: names.map(([, name]) => `export function ${name}() {}`).join('\n'), loader: 'js' };
    });
  },
};

/** Hints about keys of ngrok's settings files, 4 KB: they are for users of the command line. */
const noForeignKeys = {
  name: 'no-foreign-keys',
  setup(build) {
    build.onLoad({ filter: /\/src\/config\/text\/foreign-keys\.ts$/ }, () => ({
      contents: "export const NOT_YAML = ''; export function foreignKeyHint() {} export function looksLikeYaml() {}",
      loader: 'js',
    }));
  },
};

/** Private networks, 24 KB: the package publishes tunnels alone. */
const noRelays = {
  name: 'no-relays',
  setup(build) {
    build.onLoad({ filter: /\/src\/agent\/relay\/relay\.ts$/ }, () => ({
      contents: 'export class Relay {}',
      loader: 'js',
    }));
  },
};

/** zod's namespace under one name keeps all of zod, 355 KB more: as a namespace of the file itself, what is unused goes. */
const leanZod = {
  name: 'lean-zod',
  setup(build) {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8').replace("import { z } from 'zod'", "import * as z from 'zod'");
      return { contents: text, loader: 'ts' };
    });
  },
};

async function makeBundle(file) {
  const info = { version: readVersion(), commit: shortCommit(), releaseKey: null, isTestRelease: false };
  const { metafile } = await build({
    entryPoints: [join(ROOT, 'src/sdk/index.ts')],
    outfile: file,
    bundle: true,
    platform: 'node',
    target: 'node22',
    format: 'esm',
    minify: true,
    // At the end, each once.
    legalComments: 'eof',
    define: { CULVERT_BUILD: JSON.stringify(info) },
    plugins: [noForeignKeys, noRelays, leanZod, noJsonSchema],
    metafile: true,
    logLevel: 'warning',
  });
  const [{ bytes, imports }] = Object.values(metafile.outputs);
  const outside = imports.filter(({ path }) => process.getBuiltinModule(path) === undefined);
  if (outside.length > 0) throw new Error(`left outside of the package: ${outside.map(({ path }) => path).join(', ')}`);
  if (bytes > MAX_BYTES) throw new Error(`the package has ${bytes} bytes, more than ${MAX_BYTES}`);
  return bytes;
}

function makeTypes(folder) {
  // Types of Node are found from where the settings are.
  const work = mkdtempSync(join(ROOT, 'node_modules/.sdk-types-'));
  try {
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const config = join(work, 'tsconfig.json');
    const compilerOptions = {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      outDir: work,
      rootDir: ROOT,
    };
    const files = [join(ROOT, 'src/sdk/index.ts')];
    writeFileSync(
      config,
      JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions, files, include: [] }),
    );
    execFileSync(tsc, ['-p', config], { stdio: 'inherit' });
    for (const name of DECLARATIONS) {
      const text = readFileSync(join(work, 'src/sdk', `${name}.d.ts`), 'utf8').replaceAll(
        /(from '\.\/[a-z-]+)\.ts'/g,
        "$1.js'",
      );
      const strangers = text.match(/from '\.\.\/[^']*'/g);
      if (strangers !== null)
        throw new Error(`${name}.d.ts imports what is not in the package: ${strangers.join(', ')}`);
      writeFileSync(join(folder, `${name}.d.ts`), text);
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Writes the package to `folder`, which is replaced. Gives the size of its code. */
export async function buildSdk(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const bytes = await makeBundle(join(folder, 'index.js'));
  makeTypes(folder);
  const manifest = {
    name: 'culvert',
    version: readVersion(),
    description:
      'Public URLs for programs: forward your service or listen without a port, through your own Culvert server.',
    license: 'Apache-2.0',
    type: 'module',
    engines: { node: '>=22.12' },
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
    types: './index.d.ts',
    sideEffects: false,
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(join(ROOT, 'src/sdk/README.md'), join(folder, 'README.md'));
  cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  return bytes;
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({ options: { out: { type: 'string', default: join(ROOT, 'release/npm') } } });
  const out = resolve(values.out);
  console.log(`${out}: ${((await buildSdk(out)) / 1000).toFixed(0)} KB`);
}
