/**
 * Files inside the single executable, and where they are when the program runs from its bundle or from source. Used by the modules that
 * scripts/esbuild-native.mjs puts in the place of native packages, and by code that starts a thread or serves a file.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants, homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { getAsset, getRawAsset, isSea } from 'node:sea';
import { Worker } from 'node:worker_threads';

/**
 * Loads a native addon from the executable. Undefined when this program is not a single executable.
 * The system's loader wants a file: it is written to a new folder for this user alone, loaded, and removed at once.
 * @throws when no folder can be written to and executed from.
 */
export function loadAddon(name: string): unknown {
  if (!isSea()) return undefined;
  const bytes = new Uint8Array(getRawAsset(name));
  const failures: unknown[] = [];
  for (const folder of WRITABLE_FOLDERS) {
    try {
      const base = folder();
      if (base !== undefined) return loadFrom(base, name, bytes);
    } catch (error) {
      failures.push(error); // A folder may be read-only or mounted noexec: the next one may do.
    }
  }
  throw new AggregateError(
    failures,
    `can't load ${name}: there is no folder to unpack it to. Set TMPDIR to a writable folder on a file system without noexec`,
  );
}

/**
 * A file of an npm package that the program serves, by the name that one would import it with. In the executable it is an asset.
 * @throws when the package is not installed, or the build has left the file out.
 */
export function readPackageFile(name: string): Uint8Array {
  if (isSea()) return new Uint8Array(getRawAsset(name));
  return readFileSync(createRequire(import.meta.url).resolve(name));
}

/**
 * A file that the build has made, by its path below `dist/`. In the executable it is an asset; the plain bundle has it beside it, and what runs
 * from source reads what was built last, in `dist/` or the folder of CULVERT_DIST. Undefined when it was not built.
 */
export function readBuiltFile(path: string): Uint8Array | undefined {
  if (isSea()) return new Uint8Array(getRawAsset(path));
  const here = new URL(import.meta.url);
  const isSource = here.pathname.endsWith('/base/process/assets.ts');
  const elsewhere = process.env['CULVERT_DIST'];
  const folder =
    isSource && elsewhere !== undefined ? pathToFileURL(`${elsewhere}/`) : isSource ? '../../../dist/' : './';
  const file = new URL(path, new URL(folder, here));
  return existsSync(file) ? readFileSync(file) : undefined;
}

/**
 * Starts a thread. In the executable its code is the asset `<name>.cjs`, which scripts/build.mjs also puts beside the plain bundle; from
 * source it is the file at `source`, whose types Node strips. `data` is what the thread begins with (`workerData`).
 */
export function startWorker(name: string, source: URL, data?: unknown): Worker {
  const options = { execArgv: [], workerData: data };
  if (isSea()) return new Worker(getAsset(`${name}.cjs`, 'utf8'), { eval: true, ...options });
  const beside = new URL(`./${name}.cjs`, source);
  return new Worker(existsSync(beside) ? beside : source, options);
}

/** In the order of preference; a hardened service has at least one of them. A user without an entry in /etc/passwd may have no home. */
const WRITABLE_FOLDERS: readonly (() => string | undefined)[] = [
  tmpdir,
  () => process.env['XDG_RUNTIME_DIR'],
  () => join(homedir(), '.cache'),
];

function loadFrom(base: string, name: string, bytes: Uint8Array): unknown {
  mkdirSync(base, { recursive: true });
  const folder = mkdtempSync(join(base, 'culvert-'));
  try {
    const file = join(folder, name);
    writeFileSync(file, bytes, { mode: 0o700, flag: 'wx' });
    const module = { exports: {} };
    process.dlopen(module, file, constants.dlopen.RTLD_NOW | constants.dlopen.RTLD_LOCAL);
    return module.exports;
  } finally {
    // Windows holds a loaded file; its temporary folder is the user's own.
    if (process.platform !== 'win32') rmSync(folder, { recursive: true, force: true });
  }
}
