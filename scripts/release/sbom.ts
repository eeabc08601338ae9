/**
 * The list of what is inside (CycloneDX 1.6): every npm package of which a file was bundled, also those that are devDependencies; the native addons; Node with
 * the libraries that are compiled into it; the system's libraries of the image.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../src/base/release/verify.ts';
import type { Release } from './contents.ts';
import type { Library } from './image.ts';
import { type NpmPackage, readLock } from './npm-packages.ts';
import { ROOT } from './source.ts';

export interface Component {
  readonly type: 'library' | 'application' | 'data';
  readonly name: string;
  readonly version?: string;
  readonly purl?: string;
  readonly licenses?: readonly { readonly license?: { readonly id: string }; readonly expression?: string }[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly components?: readonly Component[];
}

export interface Inside {
  /** Paths that esbuild read, relative to the root. */
  readonly bundled: readonly string[];
  /** Node and addons of every platform. */
  readonly packages: readonly NpmPackage[];
  readonly libraries: readonly Library[];
}

/** Packages whose files are inside without being bundled. */
const AS_THEY_ARE = ['better-sqlite3', '@node-rs/argon2', 'swagger-ui-dist'];
/** Versions of interfaces, not of something that is inside. */
const NO_PARTS = new Set(['node', 'modules', 'napi']);
const DATA = new Set(['cldr', 'tz', 'unicode']);

export function makeSbom(inside: Inside, { version, epoch, isTest }: Release): object {
  const folders = new Set([
    ...inside.bundled.map(packageFolder).filter((folder) => folder !== undefined),
    ...AS_THEY_ARE.map((name) => `node_modules/${name}`),
  ]);
  const lock = readLock();
  const components = [
    ...[...folders].map((folder) => npmComponent(folder, lock[folder]?.integrity)),
    ...inside.packages.map(({ name, version, integrity }) =>
      name.startsWith('node-') ? nodeComponent(name, version, integrity) : library(name, version, integrity),
    ),
    ...inside.libraries.map(systemComponent),
  ];
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      component: {
        type: 'application',
        'bom-ref': `pkg:npm/culvert@${version}`,
        name: 'culvert',
        version,
        licenses: [{ license: { id: 'Apache-2.0' } }],
      },
      properties: [{ name: 'culvert:test-release', value: String(isTest) }],
    },
    components: components.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
  };
}

const keyOf = ({ purl, name, version }: Component): string => purl ?? `${name}@${version}`;

/** `node_modules/a/node_modules/b` of a path in it; undefined for a file of our own. */
export function packageFolder(path: string): string | undefined {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
}

function npmComponent(folder: string, integrity: string | undefined): Component {
  const manifest = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as {
    readonly name: string;
    readonly version: string;
    readonly license?: string;
  };
  const { name, version, license } = manifest;
  const parts = name === 'better-sqlite3' ? { components: [sqliteComponent(folder)] } : {};
  return {
    ...library(name, version, integrity),
    ...parts,
    ...(license === undefined ? {} : { licenses: [licenseOf(license)] }),
  };
}

/** The addon has a SQLite of its own. */
function sqliteComponent(folder: string): Component {
  const header = readFileSync(join(ROOT, folder, 'deps/sqlite3/sqlite3.h'), 'utf8');
  const version = /^#define SQLITE_VERSION\s+"([^"]+)"/m.exec(header)?.[1];
  if (version === undefined) throw new Error('sqlite3.h names no version');
  return { type: 'library', name: 'sqlite', version };
}

function library(name: string, version: string, integrity: string | undefined): Component {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return { type: 'library', name, version, purl, ...(integrity === undefined ? {} : { hashes: [hashOf(integrity)] }) };
}

/** An expression when it is more than the name of one license. */
function licenseOf(license: string): { license: { id: string } } | { expression: string } {
  return /\s/.test(license) ? { expression: license } : { license: { id: license } };
}

/** Of npm's `sha512-<base64>`. */
function hashOf(integrity: string): { alg: string; content: string } {
  const [algorithm = '', digest = ''] = integrity.split('-');
  return {
    alg: algorithm.toUpperCase().replace('SHA', 'SHA-'),
    content: Buffer.from(digest, 'base64').toString('hex'),
  };
}

/** The Node that builds has the same version as the one inside (scripts/release.ts checks it). */
function nodeComponent(name: string, version: string, integrity: string): Component {
  const parts = Object.entries(process.versions).filter(([part, value]) => !NO_PARTS.has(part) && value);
  return {
    ...library(name, version, integrity),
    type: 'application',
    components: parts.map(([part, value]) => ({
      type: DATA.has(part) ? 'data' : 'library',
      name: part,
      version: value ?? '',
    })),
  };
}

function systemComponent({ path, name, content }: Library): Component {
  const machine = /aarch64|x86_64/.exec(path)?.[0] ?? '';
  return { type: 'library', name: `${name} (${machine})`, hashes: [{ alg: 'SHA-256', content: sha256(content) }] };
}
