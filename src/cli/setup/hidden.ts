/** Files that the unit hides from the server: it could not start a program or read a file there. */
import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { usageError } from '../terminal/exit.ts';
import type { SetupArguments } from './arguments.ts';
import type { Host } from './host.ts';
import { hasForeignUnit } from './service.ts';

/** By ProtectHome=yes and PrivateTmp=yes. */
const HIDDEN = ['/home', '/root', '/run/user', '/tmp', '/var/tmp'];

/** @throws ExitError (usage) with the command that puts the file elsewhere. */
export function requireVisible(host: Host, { root, dnsHook, acmeCaFile }: SetupArguments): void {
  if (!hasForeignUnit(root)) refuse(host.program, ['755', '/usr/local/bin/culvert'], 'run culvert setup again');
  for (const [flag, file, mode, folder] of [
    ['--dns-hook', dnsHook, '755', '/usr/local/bin'],
    ['--acme-ca-file', acmeCaFile, '644', '/etc/ssl/certs'],
  ] as const) {
    if (file === null) continue;
    const target = `${folder}/${basename(file)}`;
    refuse(file, [mode, target], `set ${flag} ${inShell(target)}`);
    // Links of an image lead into the image.
    if (root === '') refuse(realpathSync(file), [mode, target], `set ${flag} ${inShell(target)}`);
  }
}

function refuse(file: string, [mode, target]: readonly [string, string], next: string): void {
  const folder = HIDDEN.find((one) => file.startsWith(`${one}/`));
  if (folder === undefined) return;
  const install = `sudo install -m ${mode} ${inShell(file)} ${inShell(target)}`;
  throw usageError(`the service can't use ${file}: its unit hides ${folder}. Install it: ${install}. Then ${next}`);
}

function inShell(path: string): string {
  return /^[\w./@:+,%=-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
