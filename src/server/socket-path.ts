/**
 * Where the operators' socket of a data folder is, by a path that the system takes: an address of a Unix socket holds about a hundred
 * bytes, a folder's path may be longer. Used by both ends: admin-socket.ts and admin-client.ts.
 */
import { closeSync, constants, openSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const SOCKET_FILE = 'admin.sock';

/** `sun_path` of the system's `sockaddr_un`, less the zero at its end. */
const MAX_BYTES = process.platform === 'linux' ? 107 : 103;

export interface SocketPath {
  readonly path: string;
  /** The path is good until then. May be called twice. */
  release(): void;
}

/** Throws when the folder can't be opened, and, where a path can't be shortened, with what to do about a long one. */
export function socketPath(dataDir: string): SocketPath {
  const folder = resolve(dataDir);
  const file = join(folder, SOCKET_FILE);
  if (Buffer.byteLength(file) <= MAX_BYTES) return { path: file, release: () => {} };
  if (process.platform !== 'linux') {
    throw new Error(
      `${file} is too long for a socket (${MAX_BYTES} bytes here): choose a data_dir with a shorter path`,
    );
  }
  // The folder by its handle: short, and the same folder even after a rename meanwhile.
  let fd: number | undefined = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  return {
    path: `/proc/self/fd/${fd}/${SOCKET_FILE}`,
    release: () => {
      if (fd !== undefined) closeSync(fd);
      fd = undefined;
    },
  };
}
