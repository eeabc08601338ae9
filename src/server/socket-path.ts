/**
 * Where a socket of a data folder is, by a path that the system takes: an address of a Unix socket holds about a hundred bytes, a folder's path may
 * be longer. Used by both ends of the operators' socket (admin-socket.ts, admin-client.ts) and of the one for the API at the edge (parts/).
 */
import { createHash } from 'node:crypto';
import { closeSync, constants, openSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { namedPipe } from '../base/net/local-socket.ts';

export const SOCKET_FILE = 'admin.sock';
/** By it the data plane hands on connections for the API that came to the edge. */
export const API_SOCKET_FILE = 'api.sock';

/** `sun_path` of the system's `sockaddr_un`, less the zero at its end. */
const MAX_BYTES = process.platform === 'linux' ? 107 : 103;

export interface SocketPath {
  readonly path: string;
  /** The path is good until then. May be called twice. */
  release(): void;
}

/**
 * Throws when the folder can't be opened, and, where a path can't be shortened, with what to do about a long one. On Windows the socket is a
 * named pipe, whose name stands for the folder.
 */
export function socketPath(dataDir: string, name: string = SOCKET_FILE, platform = process.platform): SocketPath {
  const folder = resolve(dataDir);
  if (platform === 'win32') return { path: pipeOf(folder, name), release: () => {} };
  const file = join(folder, name);
  if (Buffer.byteLength(file) <= MAX_BYTES) return { path: file, release: () => {} };
  if (process.platform !== 'linux') {
    throw new Error(
      `${file} is too long for a socket (${MAX_BYTES} bytes here): choose a data_dir with a shorter path`,
    );
  }
  // The folder by its handle: short, and the same folder even after a rename meanwhile.
  let fd: number | undefined = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  return {
    path: `/proc/self/fd/${fd}/${name}`,
    release: () => {
      if (fd !== undefined) closeSync(fd);
      fd = undefined;
    },
  };
}

/** Two data folders have two names, and one folder has one, however it is written: Windows knows short names and no case. */
function pipeOf(folder: string, name: string): string {
  const written = realpathSync.native(folder).toLowerCase();
  const id = createHash('sha256').update(written).digest('hex').slice(0, 32);
  return namedPipe(`culvert-${id}-${name}`);
}
