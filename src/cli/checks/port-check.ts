/** Can the server listen on its ports, and does something else hold them? */
import { formatHostPort } from '../../base/net/addr.ts';
import { type Check, fail, ok, warn, sentence } from './check.ts';
import type { Place, System } from './system.ts';

export interface PortToCheck extends Place {
  /** The key of the listener, e.g. `edge.https_listen`. */
  readonly key: string;
}

/** Before a start: each must be free. `isRunning`: this server holds them already. */
export async function checkFreePorts(
  system: Pick<System, 'tryListen' | 'holderOf'>,
  ports: readonly PortToCheck[],
  isRunning: boolean,
): Promise<Check[]> {
  return Promise.all(
    ports.map(async ({ host, port, key }) => {
      const name = `port_${port}`;
      const code = await system.tryListen({ host, port });
      if (code === undefined) return ok(name, `Port ${port} is free.`);
      if (code === 'EADDRINUSE') {
        if (isRunning) return ok(name, `Port ${port} is in use by this server.`);
        const holder = system.holderOf(port);
        if (holder === 'systemd, pid 1') return ok(name, `Port ${port} is held by systemd for this server.`);
        const by = holder === undefined ? 'by another program' : `(${holder})`;
        return fail(name, `Port ${port} is in use ${by}.`, `Stop that program, or set ${key} to another port.`);
      }
      if (code === 'EACCES') {
        return warn(name, `Port ${port} can't be checked by this user.`, 'Run the command as root (sudo).');
      }
      return fail(name, `${formatHostPort({ host, port })} can't be used: ${sentence(code)}`, `Correct ${key}.`);
    }),
  );
}

/** While the server runs: does each listener accept connections from this machine? */
export async function checkInside(system: Pick<System, 'tryConnect'>, ports: readonly PortToCheck[]): Promise<Check[]> {
  return Promise.all(
    ports.map(async ({ host, port, key }) => {
      const name = `inside_${port}`;
      const at = { host: localOf(host), port };
      const reason = await system.tryConnect(at);
      if (reason === undefined) return ok(name, `${formatHostPort(at)} (${key}) accepts connections.`);
      return fail(
        name,
        `${formatHostPort(at)} (${key}) accepts no connection: ${sentence(reason)}`,
        'Start the server, and read its log: journalctl -u culvert',
      );
    }),
  );
}

/** The address by which this machine reaches its own listener. */
export function localOf(host: string): string {
  // `::` takes both families, and a machine with IPv6 turned off has no ::1.
  return host === '0.0.0.0' || /^[0:]+$/.test(host) ? '127.0.0.1' : host;
}
