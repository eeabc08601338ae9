/** `culvert backup FILE`: the server in one file. A name that ends with `.db` gives a copy of the database alone, as before. */
import { join, resolve } from 'node:path';
import { loadServerConfig } from '../../config/load.ts';
import { backupDatabase, backupServer, type ServerBackup } from '../../server/backup/command.ts';
import { readPassphrase } from '../../server/backup/encryption.ts';
import type { Invocation } from '../terminal/command.ts';
import { EXIT, type ExitCode, usageError } from '../terminal/exit.ts';
import { textFlag } from '../terminal/flags.ts';
import { type Io, print, writeLine } from '../terminal/io.ts';
import { configFlag, retyped } from '../admin/operator.ts';
import { VERSION } from '../terminal/version.ts';

export async function backup(io: Io, invocation: Invocation): Promise<ExitCode> {
  const [file = ''] = invocation.args;
  const named = textFlag(invocation.flags, 'passphraseFile');
  const { settings, file: config } = loadServerConfig(configFlag(invocation), io);
  const target = resolve(io.cwd, file);
  const command = retyped(`backup ${file}`, config);
  io.lowerPriority?.(); // the server's threads come first
  if (file.endsWith('.db')) {
    if (named !== undefined)
      throw usageError(`--passphrase-file: a copy of the database (.db) is not encrypted. Name it ${file}.culvert`);
    const bytes = backupDatabase(settings, target, command);
    await print(
      io.stdout,
      databaseReport(file, bytes, { dataDir: resolve(settings.data_dir), config: resolved(io, config) }).join('\n'),
    );
    return EXIT.ok;
  }
  const passphrase = named === undefined ? undefined : readPassphrase(resolve(io.cwd, named));
  const made = await backupServer(settings, {
    ...{ file: target, passphrase, command, version: VERSION },
    settingsFile: resolved(io, config),
  });
  for (const reason of made.leftOut) writeLine(io.stderr, `culvert: not in the backup: ${reason}`);
  await print(io.stdout, report(file, made).join('\n'));
  return EXIT.ok;
}

function resolved(io: Io, config: string | null): string | null {
  return config === null ? null : resolve(io.cwd, config);
}

function report(file: string, { bytes, isEncrypted, settingsFile, certificates, named }: ServerBackup): string[] {
  const files = named === 0 ? '' : ` and ${named} files that they name`;
  const settings =
    settingsFile === null ? 'no settings file, for the defaults are in use' : `settings (${settingsFile}${files})`;
  const lines = [
    `${file}: ${bytes} bytes, checked, ${isEncrypted ? 'encrypted' : 'not encrypted'}`,
    `In it: database, keys, ${certificates} certificate files, ${settings}`,
    `Check it: culvert restore ${file} --check${isEncrypted ? ' --passphrase-file FILE' : ''}`,
  ];
  if (!isEncrypted)
    lines.push(
      'It contains the keys of this server. Keep it where only you can read it, or encrypt it with --passphrase-file.',
    );
  return lines;
}

function databaseReport(
  file: string,
  bytes: number,
  { dataDir, config }: { readonly dataDir: string; readonly config: string | null },
): string[] {
  const lines = [
    `${file}: ${bytes} bytes, checked`,
    'A restore also needs these. Keep them too, in another place if you can:',
    `  ${join(dataDir, 'seal.key')}       decrypts the secrets in the database`,
    `  ${join(dataDir, 'certificates')}   the keys that identify this server to agents`,
  ];
  if (config !== null) lines.push(`  ${config}   the settings, and the files that they refer to`);
  return lines;
}
