/** What the archives and the Linux packages hold besides the program. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { shareEntries, type ShareOptions } from './share/share.ts';
import { makeTar, type Entry } from './tar.ts';
import { ROOT } from './source.ts';
import { executableName, type TargetName } from './targets.ts';
import { makeZip } from './zip.ts';

/** What every artifact is made from. */
export interface Release {
  readonly version: string;
  readonly epoch: number;
  /** A throw-away key signs it, and every artifact says so. */
  readonly isTest: boolean;
  /** How hard the Linux packages are packed: 0 to 9. */
  readonly xzLevel: number;
}

export const TEST_FILE = 'TEST-RELEASE';
export const TEST_NOTE = `This is a test release of Culvert. A throw-away key signed it, so its origin can not be verified.
Do not use it in production.
`;

/** Where an installer has the public key. */
const KEY_MARK = '@RELEASE_KEY@';

const UNITS = [
  'culvert-agent@.service',
  'culvert-agents.socket',
  'culvert-api.socket',
  'culvert-https.socket',
  'culvert.service',
  'culvert.socket',
];
/** Settings of a server that sells nothing: only operators create accounts, and plans limit nothing. */
const SAFE = new Map([
  ['data_dir = "./data"', 'data_dir = "/var/lib/culvert"'],
  ['signup = "open"', 'signup = "closed"'],
  ['mode = "mock"', 'mode = "none"'],
  ['default = "free"', 'default = "enterprise"'],
]);

const source = (path: string): Buffer => readFileSync(join(ROOT, path));

const text = (name: string, content: Buffer | string, mode = 0o644): Entry => ({
  name,
  mode,
  content: Buffer.from(content),
});

/** What was made last: the archives of a release have the same files in `share`. */
let made: { readonly of: string; readonly entries: readonly Entry[] } | undefined;

function share(options: ShareOptions, folder: string): Entry[] {
  const of = JSON.stringify(options);
  if (made?.of !== of) made = { of, entries: shareEntries(options) };
  return made.entries.map((entry) => ({ ...entry, name: `${folder}/${entry.name}` }));
}

/** The archive for a platform: a zip for Windows, a tar.gz elsewhere. One folder, which names the version. */
export function makeArchive(target: TargetName, program: Buffer, { version, epoch, isTest }: Release) {
  const isLinux = target.startsWith('linux');
  const isWindows = target.startsWith('windows');
  const entries = [
    { name: executableName(target), mode: 0o755, content: program },
    ...['LICENSE', 'README.md', 'config.example.toml'].map((name) => text(name, source(name))),
    ...(isTest ? [text(TEST_FILE, TEST_NOTE)] : []),
    ...(isWindows ? [] : share({ version, epoch, system: 'other', isPacked: false }, 'share')),
    // At the places of a checkout, where install.sh looks for them.
    ...(isLinux ? [text('scripts/install.sh', source('scripts/install.sh'), 0o755)] : []),
    ...(isLinux ? UNITS.map((name) => text(`scripts/${name}`, source(`scripts/${name}`))) : []),
  ];
  const folder = `culvert-${version}-${target}`;
  const inFolder = entries.map((entry) => ({ ...entry, name: `${folder}/${entry.name}` }));
  if (isWindows) return { name: `${folder}.zip`, content: makeZip(inFolder, epoch) };
  return { name: `${folder}.tar.gz`, content: gzipSync(makeTar(inFolder, epoch), { level: 9 }) };
}

/** Scripts that install a release, with the key that verifies it. They are run alone, so nothing else can tell them the key. */
export function installers(publicKey: string): [string, Buffer][] {
  return ['get.sh', 'install.ps1'].map((name) => {
    const script = source(`scripts/${name}`).toString('utf8');
    if (!script.includes(KEY_MARK)) throw new Error(`scripts/${name} has no place for the key`);
    return [name, Buffer.from(script.replace(KEY_MARK, publicKey))];
  });
}

/** The files of .deb and .rpm, in the order of their paths. */
export function packageEntries(
  program: Buffer,
  { version, epoch, isTest }: Release,
  system: ShareOptions['system'],
): Entry[] {
  const doc = 'usr/share/doc/culvert';
  const units = UNITS.map((name) => {
    const unit = source(`scripts/${name}`).toString('utf8').replaceAll('/usr/local/bin/', '/usr/bin/');
    return text(`usr/lib/systemd/system/${name}`, unit);
  });
  const users = 'u culvert - "Culvert server" /var/lib/culvert\nu culvert-agent - "Culvert agent"\n';
  const entries = [
    { name: 'usr/bin/culvert', mode: 0o755, content: program },
    text('etc/culvert/culvert.toml', packageSettings(source('config.example.toml').toString('utf8')), 0o640),
    text(`${doc}/config.example.toml`, source('config.example.toml')),
    text(`${doc}/copyright`, source('LICENSE')),
    ...(isTest ? [text(`${doc}/${TEST_FILE}`, TEST_NOTE)] : []),
    text('usr/lib/sysusers.d/culvert.conf', users),
    ...units,
    ...share({ version, epoch, system, isPacked: true }, 'usr/share'),
  ];
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * The example with every key commented out but those of SAFE: what is left out keeps its default through upgrades.
 * @throws when the example has no longer a key of SAFE.
 */
export function packageSettings(example: string): string {
  const left = new Map(SAFE);
  const lines = example.split('\n').map((line) => {
    const found = [...left.keys()].find((key) => line.startsWith(key));
    if (found === undefined) return line.replace(/^[a-z0-9_]+ = /, '#$&');
    const safe = left.get(found) ?? '';
    left.delete(found);
    return line.replace(found, safe);
  });
  if (left.size > 0) throw new Error(`config.example.toml has not: ${[...left.keys()].join(', ')}`);
  return lines.join('\n');
}

/** Each folder above the entries, before what is in it. */
export function withFolders(entries: readonly Entry[]): Entry[] {
  const known = new Set<string>();
  return entries.flatMap((entry) => {
    const parts = entry.name.split('/').slice(0, -1);
    const above = parts.map((_, index) => parts.slice(0, index + 1).join('/')).filter((name) => !known.has(name));
    for (const name of above) known.add(name);
    if (entry.kind === 'folder') known.add(entry.name);
    const folders = above.map((name): Entry => ({ name, mode: 0o755, content: Buffer.alloc(0), kind: 'folder' }));
    return [...folders, entry];
  });
}
