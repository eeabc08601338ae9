/**
 * Files inside the single executable. Called by the modules that scripts/esbuild-native.mjs puts in the place of native packages;
 * code that runs from source never comes here.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { getRawAsset, isSea } from 'node:sea';

/**
 * Loads a native addon from the executable. Undefined when this program is not a single executable.
 * The system's loader wants a file: it is written to a new folder that nobody else can enter, loaded, and removed at once.
 * @throws when no folder can be written to and executed from.
 */
export function loadAddon(name: string): unknown {
  if (!isSea()) return undefined;
  const bytes = new Uint8Array(getRawAsset(name));
  const failures: unknown[] = [];
  for (const base of writableFolders()) {
    try {
      return loadFrom(base, name, bytes);
    } catch (error) {
      failures.push(error); // A folder may be read-only or mounted noexec: the next one may do.
    }
  }
  throw new AggregateError(
    failures,
    `cannot load ${name}: no folder to unpack it to; make TMPDIR writable without noexec`,
  );
}

/** In the order of preference; a hardened service has at least one of them. */
function writableFolders(): string[] {
  const runtime = process.env['XDG_RUNTIME_DIR'];
  return [tmpdir(), ...(runtime === undefined ? [] : [runtime]), join(homedir(), '.cache')];
}

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
