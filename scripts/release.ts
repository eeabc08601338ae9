/**
 * `npm run release`: everything that users download, for every platform, from one Linux machine. `--help` says what it takes; the parts are in
 * scripts/release/. The same commit, key and tools make the same bytes.
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { composeFile } from './release/compose.ts';
import { installers, type Release, TEST_FILE, TEST_NOTE } from './release/contents.ts';
import { openReleaseKey, publicKeyFile, type ReleaseKey, signFiles } from './release/keys.ts';
import type { NpmPackage } from './release/npm-packages.ts';
import { type Kind, KINDS, makePlatform, type PlatformResult } from './release/platform.ts';
import { makeProvenance } from './release/provenance.ts';
import { makeSbom } from './release/sbom.ts';
import { readSource, ROOT, type Source } from './release/source.ts';
import { TARGET_NAMES } from './release/targets.ts';

const HELP = `npm run release [-- options]

  --targets A,B      platforms: ${TARGET_NAMES.join(', ')}
  --kinds A,B        ${KINDS.join(', ')}; all unless given
  --out FOLDER       release/ unless given; an older release in it is replaced
  --xz-level N       how hard .deb and .rpm are packed, 0 to 9 (6)
  --allow-changes    sign files that differ from the commit

CULVERT_RELEASE_KEY_FILE names the private key (openssl genpkey -algorithm ed25519). Without it a throw-away key signs, and
every artifact says that it is a test release.`;

/** Programs that a kind needs, and the Debian package of each. */
const TOOLS: Readonly<Record<Kind, readonly (readonly [string, string])[]>> = {
  archive: [],
  deb: [['xz', 'xz-utils']],
  rpm: [['rpmbuild', 'rpm']],
  image: [],
};

const { values: options } = parseArgs({
  options: {
    'allow-changes': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
    kinds: { type: 'string', default: KINDS.join(',') },
    out: { type: 'string', default: join(ROOT, 'release') },
    targets: { type: 'string', default: TARGET_NAMES.join(',') },
    'xz-level': { type: 'string', default: '6' },
  },
});

function release(): void {
  const targets = listed(options.targets, TARGET_NAMES, '--targets');
  const kinds = new Set(listed(options.kinds, KINDS, '--kinds'));
  const out = resolve(options.out);
  const xzLevel = Number(options['xz-level']);
  if (!/^[0-9]$/.test(options['xz-level'])) throw new Error('--xz-level takes a number from 0 to 9');
  checkTools(kinds);
  checkPlace(out);
  const source = readSource();
  const key = openReleaseKey(process.env['CULVERT_RELEASE_KEY_FILE']);
  if (source.isChanged && !key.isThrowAway && !options['allow-changes']) {
    throw new Error('Files differ from the commit. Commit them, or sign them all the same with --allow-changes.');
  }
  const facts: Release = { version: source.version, epoch: source.epoch, isTest: key.isThrowAway, xzLevel };
  mkdirSync(dirname(out), { recursive: true });
  const work = mkdtempSync(join(dirname(out), '.release-'));
  try {
    const bundle = join(work, 'bundle');
    makeBundle(bundle, key, source);
    const results = targets.map((target) => {
      const started = performance.now();
      const result = makePlatform({ target, kinds, release: facts, bundle, work: join(work, target) });
      console.log(`${target}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
      if (result.strip === null && !target.startsWith('windows')) console.log(`  no strip for ${target} is installed`);
      return result;
    });
    const files = new Map([...results.flatMap((result) => [...result.files]), ...commonFiles(facts, key)]);
    const bundled = JSON.parse(readFileSync(join(bundle, 'inputs.json'), 'utf8')) as string[];
    describe(files, {
      results,
      bundled,
      facts,
      source,
      key,
      parameters: { targets, kinds: [...kinds], xzLevel: [options['xz-level']] },
    });
    signFiles(files, key);
    putInPlace(files, join(work, 'release'), out);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function listed<T extends string>(text: string, known: readonly T[], flag: string): T[] {
  return text.split(',').map((word) => {
    const found = known.find((name) => name === word);
    if (found === undefined) throw new Error(`${flag} does not know "${word}". It takes: ${known.join(', ')}`);
    return found;
  });
}

function checkTools(kinds: ReadonlySet<Kind>): void {
  for (const [program, debian] of [...kinds].flatMap((kind) => TOOLS[kind])) {
    try {
      execFileSync(program, ['--version'], { stdio: 'ignore' });
    } catch {
      throw new Error(
        `${program} is not installed (Debian: ${debian}). Install it, or leave its packages out with --kinds.`,
      );
    }
  }
}

/** Only an older release is replaced, and the package that `npm run build:sdk` makes. */
function checkPlace(out: string): void {
  const others = existsSync(out) ? readdirSync(out).filter((name) => name !== 'npm') : [];
  if (others.length > 0 && !others.includes('SHA256SUMS')) {
    throw new Error(`${out} has files and is no release. Choose another folder with --out.`);
  }
}

function makeBundle(out: string, { publicKey, isThrowAway }: ReleaseKey, { epoch }: Source): void {
  mkdirSync(out);
  const args = ['--bundle', '--out', out, '--inputs', join(out, 'inputs.json'), '--release-key', publicKey];
  execFileSync(
    process.execPath,
    [join(ROOT, 'scripts/build.mjs'), ...args, ...(isThrowAway ? ['--test-release'] : [])],
    {
      cwd: ROOT,
      env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
}

function commonFiles(facts: Release, key: ReleaseKey): [string, Buffer][] {
  return [
    ['compose.yaml', Buffer.from(composeFile(facts))],
    ['culvert.pub', publicKeyFile(key)],
    ...installers(key.publicKey),
    ...(facts.isTest ? [[TEST_FILE, Buffer.from(TEST_NOTE)] satisfies [string, Buffer]] : []),
  ];
}

interface Account {
  readonly results: readonly PlatformResult[];
  readonly bundled: readonly string[];
  readonly facts: Release;
  readonly source: Source;
  readonly key: ReleaseKey;
  readonly parameters: Readonly<Record<string, readonly string[]>>;
}

/** Adds the list of what is inside and the account of how it was made. */
function describe(files: Map<string, Buffer>, { results, bundled, facts, source, key, parameters }: Account): void {
  const packages: readonly NpmPackage[] = results.flatMap((result) => result.packages);
  const libraries = results.flatMap((result) => result.libraries);
  const strips = new Set(results.map(({ strip }) => strip).filter((strip) => strip !== null));
  const names = [...files.keys()].join(' ');
  const used = [...strips, ...(names.includes('.deb') ? ['xz'] : []), ...(names.includes('.rpm') ? ['rpmbuild'] : [])];
  const tools = used.sort().map((name) => [name, '--version']);
  const json = (value: object): Buffer => Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
  files.set(`culvert-${facts.version}.cdx.json`, json(makeSbom({ bundled, packages, libraries }, facts)));
  const made = { files, packages, libraries, tools, parameters, publicKey: key.publicKey };
  files.set(`culvert-${facts.version}.provenance.json`, json(makeProvenance(made, source, facts)));
}

function putInPlace(files: ReadonlyMap<string, Buffer>, staged: string, out: string): void {
  mkdirSync(staged);
  for (const [name, content] of files) writeFileSync(join(staged, name), content);
  rmSync(out, { recursive: true, force: true });
  renameSync(staged, out);
  for (const [name, content] of files)
    console.log(`${(content.length / 1e6).toFixed(1).padStart(7)} MB  ${join(out, name)}`);
}

if (options.help) {
  console.log(HELP);
} else {
  try {
    release();
  } catch (error) {
    console.error(`release: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
