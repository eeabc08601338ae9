/** `culvert backup FILE`: a checked copy of the database, and what else has to be kept. */
import { join, resolve } from 'node:path';
import { loadServerConfig } from '../../config/load.ts';
import { backupDatabase } from '../../server/backup.ts';
import type { Invocation } from '../terminal/command.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { type Io, print } from '../terminal/io.ts';
import { configFlag, retyped } from '../admin/operator.ts';

export async function backup(io: Io, invocation: Invocation): Promise<ExitCode> {
  const [file = ''] = invocation.args;
  const loaded = loadServerConfig(configFlag(invocation), io);
  const folder = resolve(loaded.settings.data_dir);
  const bytes = backupDatabase(loaded.settings, resolve(io.cwd, file), retyped(`backup ${file}`, loaded.file));
  const lines = [
    `${file}: ${bytes} bytes, checked`,
    'A restore also needs these. Keep them too, in another place if you can:',
    `  ${join(folder, 'seal.key')}       decrypts the secrets in the database`,
    `  ${join(folder, 'certificates')}   the keys that identify this server to agents`,
  ];
  if (loaded.file !== null) {
    lines.push(`  ${resolve(io.cwd, loaded.file)}   the settings, and the files that they refer to`);
  }
  await print(io.stdout, lines.join('\n'));
  return EXIT.ok;
}
