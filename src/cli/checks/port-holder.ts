/** Which program listens on a TCP port, read from Linux's /proc. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { codeOf } from '../../base/errors.ts';

/** State of a listening socket in /proc/net/tcp. */
const LISTENING = '0A';

/** `nginx, pid 812`; undefined where the system or the rights of this user don't tell. */
export function portHolder(port: number): string | undefined {
  const inodes = new Set(['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => listenersOn(file, port)));
  if (inodes.size === 0) return undefined;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    if (!holdsOne(pid, inodes)) continue;
    return `${readFileSync(`/proc/${pid}/comm`, 'utf8').trim()}, pid ${pid}`;
  }
  return undefined;
}

function listenersOn(file: string, port: number): string[] {
  if (!existsSync(file)) return [];
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/ +/))
    .filter(([, local = '', , state]) => local.endsWith(wanted) && state === LISTENING)
    .flatMap((fields) => (fields[9] === undefined ? [] : [fields[9]]));
}

function holdsOne(pid: string, inodes: ReadonlySet<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      const inode = /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`))?.[1];
      return inode !== undefined && inodes.has(inode);
    });
  } catch (error) {
    // Another user's process, or one that has ended meanwhile.
    if (['EACCES', 'EPERM', 'ENOENT', 'ESRCH'].includes(codeOf(error) ?? '')) return false;
    throw error;
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  }
}
