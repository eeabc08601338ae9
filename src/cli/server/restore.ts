/** `culvert restore FILE`: a data folder out of a backup, and what to do with it. With `--check` nothing is kept. */
import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { readPassphrase } from '../../server/backup/encryption.ts';
import { checkBackup, type Restored, restoreBackup } from '../../server/backup/restore.ts';
import type { Names, Served } from '../../server/backup/summary.ts';
import type { Invocation } from '../terminal/command.ts';
import { EXIT, type ExitCode, usageError } from '../terminal/exit.ts';
import { refuseFlags, textFlag } from '../terminal/flags.ts';
import { type Io, print } from '../terminal/io.ts';

export async function restore(io: Io, { args, flags }: Invocation): Promise<ExitCode> {
  const [file = ''] = args;
  const pathOf = (name: string): string | undefined => {
    const text = textFlag(flags, name);
    return text === undefined ? undefined : resolve(io.cwd, text);
  };
  const passphraseFile = pathOf('passphraseFile');
  const passphrase = passphraseFile === undefined ? undefined : readPassphrase(passphraseFile);
  const opening = { file: resolve(io.cwd, file), passphrase, now: Date.now() };
  if (flags['check'] === true) {
    refuseFlags(flags, ['dataDir', 'config', 'settingsOut'], '--check keeps nothing. Leave this out, or --check');
    const { manifest, bytes, served } = checkBackup(opening, io.env['TMPDIR'] || tmpdir());
    await print(io.stdout, [`${file}: ok. ${madeBy(manifest, bytes)}`, ...servedLines(served)].join('\n'));
    return EXIT.ok;
  }
  const dataDir = pathOf('dataDir');
  if (dataDir === undefined) throw usageError('--data-dir is missing: name the new data folder, or use --check');
  const settingsFile = pathOf('config');
  const settingsFolder = pathOf('settingsOut');
  const restored = restoreBackup({ ...opening, dataDir, settingsFile, settingsFolder });
  await print(io.stdout, report(file, dataDir, restored).join('\n'));
  return EXIT.ok;
}

function madeBy({ created_at: at, culvert }: Restored['manifest'], bytes: number): string {
  return `Made at ${at} by Culvert ${culvert}, ${bytes} bytes`;
}

function servedLines({ organizations, users, accessKeys, tunnels, domains, networks }: Served): string[] {
  return [
    'Its server serves:',
    `  ${counted(organizations, 'organization')}, ${counted(users, 'user')}`,
    `  ${counted(accessKeys, 'access key')} of agents and commands`,
    `  ${list(tunnels, 'tunnel')}`,
    `  ${list(domains, 'custom domain')}`,
    `  ${list(networks, 'private network')}`,
  ];
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function list({ count, first }: Names, noun: string): string {
  if (count === 0) return counted(count, noun);
  const more = count > first.length ? ` and ${count - first.length} more` : '';
  return `${counted(count, noun)}: ${first.join(', ')}${more}`;
}

function report(file: string, dataDir: string, restored: Restored): string[] {
  const { manifest, bytes, served } = restored;
  const steps = nextSteps(dataDir, restored);
  return [
    `${file}: restored to ${dataDir}. ${madeBy(manifest, bytes)}`,
    ...servedLines(served),
    'Next:',
    ...steps.map((step, index) => `  ${index + 1}. ${step}`),
  ];
}

/** On a new machine there may be no user of the server yet. */
const SETUP =
  'Run culvert setup with the same arguments as on the old machine. It gives the data to the user culvert and starts the server';

const isOfRoot = (dataDir: string): boolean => process.getuid?.() === 0 && statSync(dataDir).uid === 0;

function nextSteps(dataDir: string, { manifest, written, named }: Restored): string[] {
  const [config] = written;
  const steps: string[] = [];
  if (config !== undefined) steps.push(`Check the settings: culvert config check ${config}`);
  else if (manifest.settings_file !== null) steps.push(`Put the settings back: they were in ${manifest.settings_file}`);
  if (manifest.data_dir !== dataDir) steps.push(`Set data_dir = ${JSON.stringify(dataDir)} in the settings`);
  for (const { path, exists } of named) if (!exists) steps.push(`Put back ${path}, which the settings name`);
  steps.push(isOfRoot(dataDir) ? SETUP : `Start the server as the user who owns ${dataDir}`);
  steps.push('On a new machine: point the DNS records to it');
  steps.push(`Revoke and remove again what was revoked or removed after ${manifest.created_at}`);
  return steps;
}
