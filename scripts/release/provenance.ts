/** How a release was made: an in-toto statement with SLSA's predicate. It has no time of its own, so a second build makes the same bytes. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../src/base/release/verify.ts';
import type { Release } from './contents.ts';
import type { Library } from './image.ts';
import { type NpmPackage, readLock } from './npm-packages.ts';
import { ROOT, type Source } from './source.ts';

export interface Made {
  /** Content by file name. */
  readonly files: ReadonlyMap<string, Buffer>;
  readonly packages: readonly NpmPackage[];
  readonly libraries: readonly Library[];
  /** Programs that took part, with what makes each say its version. */
  readonly tools: readonly (readonly string[])[];
  readonly parameters: Readonly<Record<string, readonly string[]>>;
  readonly publicKey: string;
}

interface Dependency {
  readonly uri: string;
  readonly digest: Readonly<Record<string, string>>;
}

export function makeProvenance(made: Made, source: Source, { version, epoch, isTest }: Release): object {
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...made.files].map(([name, content]) => ({ name, digest: { sha256: sha256(content) } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:culvert:npm-run-release',
        externalParameters: { command: 'npm run release', ...made.parameters },
        internalParameters: {
          version,
          sourceDateEpoch: epoch,
          hasUncommittedChanges: source.isChanged,
          isTestRelease: isTest,
          releaseKey: made.publicKey,
        },
        resolvedDependencies: [
          ...sourceOf(source),
          ...npmDependencies(),
          ...made.packages.map(ofPackage),
          ...made.libraries.map(ofLibrary),
        ],
      },
      runDetails: {
        builder: {
          id: 'urn:culvert:npm-run-release',
          version: { node: process.versions.node, ...toolVersions(made.tools) },
        },
      },
    },
  };
}

/** The commit, and the lock file by its own hash: it fixes the rest. */
function sourceOf({ commit }: Source): Dependency[] {
  const lock = { uri: 'package-lock.json', digest: { sha256: sha256(readFileSync(join(ROOT, 'package-lock.json'))) } };
  return commit === null ? [lock] : [{ uri: 'git:culvert', digest: { gitCommit: commit } }, lock];
}

/** Every package that `npm ci` installs: what is bundled, and what bundles. */
function npmDependencies(): Dependency[] {
  return Object.entries(readLock()).flatMap(([folder, { version, integrity }]) => {
    if (integrity === undefined) return [];
    const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
    return [{ uri: npmUri(name, version), digest: digestOf(integrity) }];
  });
}

const npmUri = (name: string, version: string): string => `pkg:npm/${name.replace('@', '%40')}@${version}`;

const ofPackage = ({ name, version, integrity }: NpmPackage): Dependency => ({
  uri: npmUri(name, version),
  digest: digestOf(integrity),
});

const ofLibrary = ({ path, content }: Library): Dependency => ({
  uri: `file:${path}`,
  digest: { sha256: sha256(content) },
});

function digestOf(integrity: string): Readonly<Record<string, string>> {
  const [algorithm = '', digest = ''] = integrity.split('-');
  return { [algorithm]: Buffer.from(digest, 'base64').toString('hex') };
}

/** First line of what each prints about itself. */
function toolVersions(tools: readonly (readonly string[])[]): Readonly<Record<string, string>> {
  const versions = tools.map(([name = '', ...args]): [string, string] => {
    const printed = execFileSync(name, args, { encoding: 'utf8' }).trim().split('\n');
    return [name, printed.find((line) => /\d\.\d/.test(line))?.trim() ?? printed[0] ?? ''];
  });
  return Object.fromEntries(versions);
}
