/**
 * Which server an agent was online with at each address: `known-servers.json` in the state folder that systemd gives a unit, else beside what
 * `culvert login` keeps. 0600, replaced whole, bounded. No secret is in it, and nothing breaks without it: an agent that can't keep it goes by
 * what it has seen since its start.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { writeDurably } from '../base/process/durable-file.ts';
import { codeOf, messageOf } from '../base/errors.ts';
import { serverName, userFolder } from './credentials.ts';

/** Addresses that are kept; beyond them the one whose server was new longest ago is forgotten. */
const MAX_SERVERS = 200;
/** A larger file is none of ours. */
const MAX_BYTES = 1 << 20;

const file = z.object({
  version: z.literal(1),
  servers: z.record(
    z.string(),
    z.object({
      server_id: z.uuid(),
      since: z.iso.datetime(),
      /** `host:port` where the server last took a key. */
      agent_address: z.string().max(300).optional(),
    }),
  ),
});
type Servers = z.output<typeof file>['servers'];

/** Where an agent keeps what it has to know at its next start: of systemd, or of its user. */
export function stateFolder(env: NodeJS.ProcessEnv): string {
  // systemd may give several folders, apart by colons.
  const [state = ''] = (env['STATE_DIRECTORY'] ?? '').split(':');
  return state === '' ? userFolder(env) : state;
}

export class KnownServers {
  readonly path: string;
  readonly #onFault: (message: string) => void;

  /** `onFault` gets a message about a file that can't be read or written; nothing is thrown. */
  constructor(env: NodeJS.ProcessEnv, onFault: (message: string) => void) {
    this.path = join(stateFolder(env), 'known-servers.json');
    this.#onFault = onFault;
  }

  /** The id of the server at this address; undefined when none is known. */
  of(server: URL): string | undefined {
    return this.#read()[serverName(server)]?.server_id;
  }

  /** Where the server at this URL last took a key; undefined when none is known. */
  wayTo(server: URL): string | undefined {
    return this.#read()[serverName(server)]?.agent_address;
  }

  /** Keeps the way to a server whose id is known. */
  keepWay(server: URL, address: string): void {
    const known = this.#read()[serverName(server)];
    if (known !== undefined) this.#write(server, { ...known, agent_address: address });
  }

  /** Two agents that do this at once may forget one of two addresses, which its agent keeps again at its next start. */
  keep(server: URL, serverId: string, nowMs: number): void {
    this.#write(server, { server_id: serverId, since: new Date(nowMs).toISOString() });
  }

  #write(server: URL, mine: Servers[string]): void {
    try {
      const others = Object.entries(this.#read()).filter(([name]) => name !== serverName(server));
      const newest = others.sort(([, a], [, b]) => b.since.localeCompare(a.since)).slice(0, MAX_SERVERS - 1);
      const servers = Object.fromEntries([[serverName(server), mine], ...newest]);
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
      writeDurably(this.path, `${JSON.stringify({ version: 1, servers }, undefined, 2)}\n`, { replaces: true });
    } catch (error) {
      this.#onFault(`${this.path} can't be written: ${messageOf(error)}. The agent forgets this server when it stops`);
    }
  }

  #read(): Servers {
    try {
      const text = readFileSync(this.path, 'utf8');
      if (text.length > MAX_BYTES) throw new Error('it is too long');
      return file.parse(JSON.parse(text)).servers;
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return {};
      const why = codeOf(error) === undefined ? 'it was not written by culvert' : messageOf(error);
      this.#onFault(`${this.path} can't be read: ${why}. Delete it. The agent continues without it`);
      return {};
    }
  }
}
