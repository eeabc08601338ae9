/** Sockets between programs of one user on this machine: a Unix socket, which is a file, or a named pipe of Windows, which is none. */
import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import type { Server } from 'node:net';

const PIPES = '\\\\.\\pipe\\';

/** The path of a named pipe; any program of the machine can name it, so the name is no secret. */
export function namedPipe(name: string): string {
  return `${PIPES}${name}`;
}

/**
 * Listens for the own user alone, and takes the place of a file that a killed server left. Throws the system's error when it can't.
 *
 * A pipe ends with its server, and needs no mode: Node makes it with the default rights of Windows. Its user, administrators and the
 * system have full access; others may only read, and nothing is sent before a request was written. Node makes the first pipe of a name or
 * fails, so a pipe that another user made before is an error here, not a server that gets the requests.
 */
export async function listenLocal(server: Pick<Server, 'listen' | 'once'>, path: string): Promise<void> {
  const isFile = !path.startsWith(PIPES);
  if (isFile) rmSync(path, { force: true });
  server.listen(path);
  await once(server as Server, 'listening');
  if (isFile) chmodSync(path, 0o600);
}
