/**
 * npm packages of other platforms, which `npm ci` leaves out here: Node and the native addons. They come through npm, are checked against
 * package-lock.json each time, and stay in node_modules/.cache/release.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { ROOT } from './source.ts';
import { readTar } from './tar.ts';

interface LockEntry {
  readonly version: string;
  readonly integrity?: string;
  readonly license?: string;
}

export interface NpmPackage {
  readonly name: string;
  readonly version: string;
  /** Of package-lock.json: `sha512-…`. */
  readonly integrity: string;
  /** Its files, without the folder that npm packs them in. */
  readonly files: ReadonlyMap<string, Buffer>;
}

const CACHE = join(ROOT, 'node_modules/.cache/release');

/** Entries of package-lock.json by the folder of the package: `node_modules/zod`. */
export function readLock(): Readonly<Record<string, LockEntry>> {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockEntry>>;
  };
  return lock.packages;
}

/** @throws when it can not be fetched or is not the package that package-lock.json names. */
export function fetchPackage(name: string): NpmPackage {
  const entry = readLock()[`node_modules/${name}`];
  if (entry?.integrity === undefined) throw new Error(`package-lock.json has no ${name}`);
  const { version, integrity } = entry;
  const file = join(CACHE, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
  if (!existsSync(file)) {
    mkdirSync(CACHE, { recursive: true });
    const args = ['pack', '--silent', '--prefer-offline', '--pack-destination', CACHE, `${name}@${version}`];
    execFileSync('npm', args, { cwd: CACHE, stdio: ['ignore', 'ignore', 'inherit'] });
  }
  const packed = readFileSync(file);
  if (!isIntact(packed, integrity)) {
    rmSync(file); // A download that was cut is fetched again the next time.
    throw new Error(`${name} ${version} is not the package of package-lock.json. It was removed from ${CACHE}.`);
  }
  const files = new Map(
    readTar(gunzipSync(packed)).map(({ name, content }) => [name.replace(/^[^/]*\//, ''), content]),
  );
  return { name, version, integrity, files };
}

/** A file of a package. @throws when the package has no such file. */
export function fileOf(pack: NpmPackage, find: (name: string) => boolean): Buffer {
  const found = [...pack.files].find(([name]) => find(name));
  if (found === undefined) throw new Error(`${pack.name} ${pack.version} has not the file that is needed`);
  return found[1];
}

export function isIntact(packed: Buffer, integrity: string): boolean {
  const [algorithm = '', digest] = integrity.split('-');
  return createHash(algorithm).update(packed).digest('base64') === digest;
}
