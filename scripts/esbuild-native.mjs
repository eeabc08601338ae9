/**
 * esbuild plugin: puts a small loader in the place of the native part of each native package. In the single executable the addon comes
 * from the assets, in the plain bundle from node_modules. Used by build.mjs, which also asks here for the addon files to embed.
 */
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';

const root = join(import.meta.dirname, '..');
const require = createRequire(import.meta.url);

/** What @node-rs/argon2 exports; the test of the build would fail on a missing one. */
const ARGON2_NAMES = ['hash', 'hashSync', 'hashRaw', 'hashRawSync', 'verify', 'verifySync', 'Algorithm', 'Version'];

const LOADERS = {
  argon2: `
    import { createRequire } from 'node:module';
    import { loadAddon } from './src/base/process/assets.ts';
    const load = createRequire(import.meta.url);
    export const { ${ARGON2_NAMES.join(', ')} } = loadAddon('argon2.node') ?? load('@node-rs/argon2');
  `,
  sqlite: `
    import { createRequire } from 'node:module';
    import { dirname, join } from 'node:path';
    import { loadAddon } from './src/base/process/assets.ts';
    const load = createRequire(import.meta.url);
    let addon;
    export function getBinding(given) {
      if (typeof given === 'object' && given !== null) return given;
      addon ??= loadAddon('sqlite.node') ?? load(join(dirname(load.resolve('better-sqlite3')), 'binding.js')).getBinding();
      return addon;
    }
  `,
};

export const nativePlugin = {
  name: 'native',
  setup(build) {
    const inNative = (path) => ({ path, namespace: 'native' });
    build.onResolve({ filter: /^@node-rs\/argon2$/ }, () => inNative('argon2'));
    build.onResolve({ filter: /^\.\/binding$/ }, ({ importer }) =>
      importer.includes(`${sep}better-sqlite3${sep}`) ? inNative('sqlite') : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'native' }, ({ path }) => ({
      contents: LOADERS[path],
      loader: 'js',
      resolveDir: root,
    }));
  },
};

/** The addon files of this machine's platform, by asset name. Throws when one is not installed. */
export function addonFiles() {
  const target = `${process.platform}-${process.arch}`;
  const sqlite = join(dirname(require.resolve('better-sqlite3')), '..', 'prebuilds', `${target}.node`);
  if (!existsSync(sqlite)) throw new Error(`better-sqlite3 has no addon for ${target}`);
  return { 'argon2.node': argon2File(target), 'sqlite.node': sqlite };
}

/** npm installs the fitting platform package alone: `argon2-linux-x64-gnu`, `argon2-darwin-arm64`, … */
function argon2File(target) {
  const scope = join(root, 'node_modules', '@node-rs');
  const folder = readdirSync(scope).find((name) => name.startsWith(`argon2-${target}`));
  const file = folder && readdirSync(join(scope, folder)).find((name) => name.endsWith('.node'));
  if (!file) throw new Error(`@node-rs/argon2 has no addon for ${target} in node_modules: run npm ci`);
  return join(scope, folder, file);
}
