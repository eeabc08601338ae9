/** Two programs of different versions from the files of this checkout, and a signed release of the newer one, whose database has one migration more. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeArchive } from '../../release/contents.ts';
import { openReleaseKey, publicKeyFile, signFiles } from '../../release/keys.ts';
import { readVersion, ROOT } from '../../release/source.ts';
import { hostTarget } from '../../release/targets.ts';

const NEXT_VERSION = '99.0.0';
const MIGRATIONS = 'src/control/db/migrations.gen.ts';

export interface Programs {
  /** Version of this checkout. */
  readonly version: string;
  readonly program: string;
  readonly next: {
    readonly version: string;
    /** Folder of its release. */
    readonly release: string;
    readonly publicKey: string;
  };
}

/** Builds both below `folder`: takes half a minute. */
export function makePrograms(folder: string): Programs {
  const target = hostTarget();
  if (target === undefined) throw new Error(`no executable can be made for ${process.platform}-${process.arch}`);
  const key = openReleaseKey(undefined);
  const program = build(ROOT, join(folder, 'this'), key.publicKey);
  const next = build(copyOfSource(join(folder, 'source')), join(folder, 'next'), key.publicKey);
  const facts = { version: NEXT_VERSION, epoch: 1_700_000_000, isTest: true, xzLevel: 0 };
  const archive = makeArchive(target, readFileSync(next), facts);
  const files = new Map([
    ['culvert.pub', publicKeyFile(key)],
    [archive.name, archive.content],
  ]);
  signFiles(files, key);
  const release = join(folder, 'release');
  mkdirSync(release);
  for (const [name, content] of files) writeFileSync(join(release, name), content);
  return { version: readVersion(), program, next: { version: NEXT_VERSION, release, publicKey: key.publicKey } };
}

function build(source: string, out: string, releaseKey: string): string {
  const args = ['scripts/build.mjs', '--out', out, '--release-key', releaseKey, '--test-release'];
  execFileSync(process.execPath, args, { cwd: source, stdio: ['ignore', 'ignore', 'inherit'] });
  return join(out, 'culvert');
}

/** The files that git knows, as they are now, with the next version and one migration more. */
function copyOfSource(folder: string): string {
  mkdirSync(folder);
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
  const archive = `${folder}.tar`;
  execFileSync('tar', ['-cf', archive, '--null', '--files-from=-'], { cwd: ROOT, input: listed });
  execFileSync('tar', ['-xf', archive, '-C', folder]);
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  change(join(folder, 'package.json'), (text) => text.replace(/"version": "[^"]+"/, `"version": "${NEXT_VERSION}"`));
  change(join(folder, MIGRATIONS), withOneMore);
  return folder;
}

function withOneMore(text: string): string {
  const index = text.match(/^ {4}"index": /gm)?.length ?? 0;
  const migration = { index: index + 1, tag: 'next', hash: 'next', statements: ['CREATE TABLE next (a TEXT) STRICT'] };
  const end = text.lastIndexOf('];');
  return `${text.slice(0, end).trimEnd()},\n${JSON.stringify(migration)}\n${text.slice(end)}`;
}

/** Throws when nothing changes: the form of the file is another by now. */
function change(file: string, edit: (text: string) => string): void {
  const before = readFileSync(file, 'utf8');
  const after = edit(before);
  if (after === before) throw new Error(`${file} could not be changed`);
  writeFileSync(`${file}.new`, after);
  renameSync(`${file}.new`, file);
}
