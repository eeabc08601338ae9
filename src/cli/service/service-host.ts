/** The machine that a service is installed on, as one argument, so that tests can play it. */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { homedir, userInfo } from 'node:os';
import { isSea } from 'node:sea';
import { realHost, type Ran } from '../setup/host.ts';

export interface ServiceHost {
  readonly platform: NodeJS.Platform;
  readonly isRoot: boolean;
  /** Who the agent runs as: the user of `sudo`, else the caller. */
  readonly user: string;
  readonly uid: number;
  /** The home of that user. */
  readonly home: string;
  /** systemd runs this machine. */
  readonly hasSystemd: boolean;
  /** The words that start this program: the executable, or Node and the file. */
  readonly program: readonly string[];
  /** Stands before each path of a system service; empty but in tests. */
  readonly root: string;
  run(command: string, args: readonly string[]): Promise<Ran>;
}

export function realServiceHost(env: NodeJS.ProcessEnv): ServiceHost {
  const isRoot = process.getuid?.() === 0;
  const sudo = isRoot ? accountOf(env['SUDO_USER']) : undefined;
  const { username, uid } = userInfo();
  const domain = process.platform === 'win32' && env['USERDOMAIN'] ? `${env['USERDOMAIN']}\\` : '';
  return {
    platform: process.platform,
    isRoot,
    ...(sudo ?? { user: domain + username, uid, home: env['HOME'] || homedir() }),
    hasSystemd: realHost.hasSystemd,
    program: isSea() ? [process.execPath] : [process.execPath, resolve(process.argv[1] ?? '')],
    root: '',
    run: (command, args) => realHost.run(command, args),
  };
}

/** A user by the name; undefined where there is none. */
function accountOf(name: string | undefined): Pick<ServiceHost, 'user' | 'uid' | 'home'> | undefined {
  if (name === undefined || name === '' || name === 'root' || !existsSync('/etc/passwd')) return undefined;
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((one) => one.startsWith(`${name}:`));
  const [, , uid, , , home] = line?.split(':') ?? [];
  return uid === undefined || home === undefined ? undefined : { user: name, uid: Number(uid), home };
}
