/** What setup does to the machine besides files: users, units, starts. One argument, so that tests can play the machine. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSea } from 'node:sea';
import { codeOf } from '../../base/errors.ts';
import type { Owner } from './config-file.ts';

export interface Ran {
  readonly code: number;
  readonly output: string;
}

export interface Host {
  readonly isRoot: boolean;
  /** systemd runs this machine. */
  readonly hasSystemd: boolean;
  /** Absolute path of this program, as a unit names it. */
  readonly program: string;
  run(command: string, args: readonly string[]): Promise<Ran>;
  /** The user of the server, as the files below `root` know it. */
  serverUser(root: string): Owner | undefined;
}

const USER = 'culvert';

export const realHost: Host = {
  isRoot: process.getuid?.() === 0,
  hasSystemd: existsSync('/run/systemd/system'),
  program: isSea() ? process.execPath : '/usr/local/bin/culvert',
  run,
  serverUser,
};

function run(command: string, args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(command, args, (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`.trim();
      if (error === null) return resolve({ code: 0, output });
      const code = typeof error.code === 'number' ? error.code : 127;
      resolve({ code, output: output === '' ? (codeOf(error) ?? error.message) : output });
    });
  });
}

function serverUser(root: string): Owner | undefined {
  const file = join(root === '' ? '/' : root, 'etc/passwd');
  const line = existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .find((one) => one.startsWith(`${USER}:`))
    : undefined;
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}
