/** Everything of a release for one platform: its executable, archive and packages. */
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { makeArchive, type Release } from './contents.ts';
import { makeDeb } from './deb.ts';
import { makeExecutable } from './executable.ts';
import { findLibraries, type Library, makeImage } from './image.ts';
import { fetchPackage, fileOf, type NpmPackage } from './npm-packages.ts';
import { makeRpm } from './rpm.ts';
import { ROOT } from './source.ts';
import { TARGETS, type Target, type TargetName } from './targets.ts';

export const KINDS = ['archive', 'deb', 'rpm', 'image'] as const;
export type Kind = (typeof KINDS)[number];

export interface Job {
  readonly target: TargetName;
  readonly kinds: ReadonlySet<Kind>;
  readonly release: Release;
  /** Has what `npm run build -- --bundle` made. */
  readonly bundle: string;
  /** A folder for this platform alone. */
  readonly work: string;
}

export interface PlatformResult {
  readonly files: ReadonlyMap<string, Buffer>;
  readonly packages: readonly NpmPackage[];
  readonly libraries: readonly Library[];
  readonly strip: string | null;
}

export function makePlatform({ target, kinds, release, bundle, work }: Job): PlatformResult {
  const { machine }: Target = TARGETS[target];
  mkdirSync(work);
  const { program, packages, strip } = buildProgram(target, bundle, work);
  const files = new Map<string, Buffer>();
  const name = `culvert-${release.version}-${target}`;
  const archive = makeArchive(target, program, release);
  if (kinds.has('archive')) files.set(archive.name, archive.content);
  let libraries: Library[] = [];
  if (machine !== undefined) {
    if (kinds.has('deb')) files.set(`${name}.deb`, makeDeb(machine, program, release));
    if (kinds.has('rpm')) files.set(`${name}.rpm`, makeRpm(machine, program, { release, work: join(work, 'rpm') }));
    if (kinds.has('image')) {
      libraries = findLibraries(machine);
      files.set(`culvert-${release.version}-image-${target}.tar`, makeImage(machine, program, { release, libraries }));
    }
  }
  return { files, packages, libraries, strip };
}

function buildProgram(target: TargetName, bundle: string, work: string) {
  const { node, program, argon2, sqlite }: Target = TARGETS[target];
  const nodePackage = fetchPackage(node);
  if (nodePackage.version !== process.versions.node) {
    throw new Error(`package.json has ${node} ${nodePackage.version}, and this is Node ${process.versions.node}`);
  }
  const argon2Package = fetchPackage(`@node-rs/argon2-${argon2}`);
  const put = (name: string, content: Buffer): string => {
    const file = join(work, name);
    writeFileSync(file, content);
    return file;
  };
  symlinkSync(join(bundle, 'culvert.mjs'), join(work, 'culvert.mjs'));
  const { file, strip } = makeExecutable({
    target,
    node: put(
      'node',
      fileOf(nodePackage, (name) => name === program),
    ),
    folder: work,
    assets: {
      'argon2.node': put(
        'argon2.node',
        fileOf(argon2Package, (name) => name.endsWith('.node')),
      ),
      'sqlite.node': join(ROOT, `node_modules/better-sqlite3/prebuilds/${sqlite}.node`),
      ...servedFiles(),
      ...builtFiles(bundle),
    },
  });
  const content = readFileSync(file);
  for (const name of readdirSync(work)) rmSync(join(work, name));
  return { program: content, packages: [nodePackage, argon2Package], strip };
}

/** Files of npm packages that the server serves as they are (src/base/process/assets.ts, readPackageFile). */
export function servedFiles(): Record<string, string> {
  const { resolve } = createRequire(join(ROOT, 'package.json'));
  const names = ['swagger-ui-dist/swagger-ui-bundle.js', 'swagger-ui-dist/swagger-ui.css'];
  return Object.fromEntries(names.map((name) => [name, resolve(name)]));
}

/** Dashboard, documentation and the code of threads. */
function builtFiles(bundle: string): Record<string, string> {
  const names = ['dashboard', 'docs'].flatMap((folder) =>
    readdirSync(join(bundle, folder)).map((name) => `${folder}/${name}`),
  );
  const threads = readdirSync(bundle).filter((name) => name.endsWith('.cjs'));
  return Object.fromEntries([...names, ...threads].map((name) => [name, join(bundle, name)]));
}
