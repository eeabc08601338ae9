/** Why a server could not start, in one line that names the setting or the file, the cause, and what to do. */
import { join } from 'node:path';
import { codeOf, messageOf } from '../base/errors.ts';
import { formatHostPort, type HostPort } from '../base/net/addr.ts';
import { FileError, fileFault, oneLine } from '../base/process/file-fault.ts';
import type { Settings } from '../config/schema.ts';
import { DATABASE_FILE, DAMAGED_DATABASE } from '../control/db/open.ts';

/** What the system says of a listener that it refuses: `listen EADDRINUSE: address already in use 127.0.0.1:80`. */
const LISTEN = /^listen (E[A-Z]+): .*?(\[?[\da-fA-F:.]+\]?):(\d+)$/;

/** The error as the operator reads it. One that says all that already is returned as it is. */
export function startFault(error: unknown, settings: Settings): Error {
  if (error instanceof FileError) return error;
  const listener = LISTEN.exec(messageOf(error));
  if (listener !== null) return listenerFault(error, settings, listener);
  if (codeOf(error)?.startsWith('SQLITE_') === true) {
    const file = join(settings.data_dir, DATABASE_FILE);
    return fileFault(error, { doing: `${file} can't be used`, file, damaged: DAMAGED_DATABASE });
  }
  if (error instanceof Error && !error.message.includes('\n')) return error;
  return new Error(oneLine(messageOf(error)), { cause: error });
}

function listenerFault(
  cause: unknown,
  settings: Settings,
  [, code = '', host = '', port = '']: RegExpExecArray,
): Error {
  const key = keyOf(settings, Number(port));
  const at = formatHostPort({ host: host.replace(/^\[|\]$/g, ''), port: Number(port) });
  const error = new Error(textOf(code, { key, at, port: Number(port) }), { cause });
  return Object.assign(error, { code });
}

interface Refused {
  readonly key: string;
  readonly at: string;
  readonly port: number;
}

function textOf(code: string, { key, at, port }: Refused): string {
  switch (code) {
    case 'EADDRINUSE':
      return `${at} is in use by another program (another culvert serve?). Stop it, or set ${key} to another port.`;
    case 'EACCES':
      return port < 1_024
        ? `this user is not allowed to listen on ${at}: ports below 1024 need a permission. Give the unit AmbientCapabilities=CAP_NET_BIND_SERVICE, or set ${key} to a port from 1024 on.`
        : `this user is not allowed to listen on ${at}: the system forbids it. Allow it, or set ${key} to another port.`;
    case 'EADDRNOTAVAIL':
      return `no interface of this machine has the address of ${at}. Correct ${key}; 0.0.0.0 means all interfaces.`;
    default:
      return `can't listen on ${at}: ${code}. Correct ${key}.`;
  }
}

/** No two listeners share a port unless they are on different addresses, and then both keys are named. */
function keyOf({ api, edge, agents, metrics }: Settings, port: number): string {
  const listeners: ReadonlyArray<readonly [string, HostPort | null]> = [
    ['api.listen', api.listen],
    ['edge.http_listen', edge.http_listen],
    ['edge.https_listen', edge.https_listen],
    ['agents.listen', agents.listen],
    ['metrics.listen', metrics.listen],
  ];
  const keys = listeners.filter(([, at]) => at?.port === port).map(([key]) => key);
  return keys.length === 0 ? 'its listener' : keys.join(' or ');
}
