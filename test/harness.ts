/**
 * The whole product for a test, on free ports in a temporary folder, and closed when the test is over. Two forms with the same face:
 * `startCulvert` runs server and agents in this process, `spawnCulvert` (harness/spawned.ts) as child processes, from the source or
 * from the built file in CULVERT_BIN. Nothing is faked in either; in this process passwords cost next to nothing, and the tables are there already.
 *
 *   const origin = await startOrigin(t, (request, response) => response.end('hello'));
 *   const culvert = await startCulvert(t);
 *   const tunnel = await culvert.publish('http', origin.port, { subdomain: 'shop' });
 *   assert.equal((await culvert.get(tunnel.url)).body, 'hello');
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Agent, startAgent } from '../src/agent/agent.ts';
import { makeConnector } from '../src/agent/connect/connect.ts';
import type { AgentEvent } from '../src/agent/events.ts';
import { parseTarget } from '../src/agent/local/target.ts';
import { silentLog } from '../src/base/log.ts';
import type { AskedNarrowing } from '../src/wire/narrowing.ts';
import { checkServerConfig } from '../src/config/load.ts';
import { startInThisThread } from '../src/server/data-node.ts';
import { type Server, startServer } from '../src/server/start.ts';
import { Account } from './harness/account.ts';
import { configText, freePorts } from './harness/config.ts';
import { fillDataFolder } from './harness/data-folder.ts';
import { type Ends, inReverse } from './harness/ends.ts';
import { makeQuickHasher } from './harness/quick-hasher.ts';
import { type Answer, get } from './harness/visitor.ts';

export { Account } from './harness/account.ts';
export { startOrigin } from './harness/origin.ts';
export { spawnCulvert } from './harness/spawned.ts';
export { get, type Answer } from './harness/visitor.ts';

export interface PublishOptions {
  readonly subdomain?: string;
  /** A key of its own; else the one that the harness minted. */
  readonly token?: string;
  /** What flags add in front of the tunnel. */
  readonly narrow?: AskedNarrowing;
}

/** An agent with one tunnel, live. */
export interface LocalTunnel {
  readonly url: string;
  readonly agent: Agent;
  readonly events: readonly AgentEvent[];
}

export interface Culvert {
  readonly server: Server;
  readonly account: Account;
  readonly token: string;
  readonly httpPort: number;
  readonly httpsPort: number;
  /** Starts an agent of its own for a local port; resolves when the public name is live. */
  publish(protocol: 'http' | 'https' | 'tcp', target: number | string, options?: PublishOptions): Promise<LocalTunnel>;
  /** GET of a public URL, by way of loopback. */
  get(url: string, bearer?: string): Promise<Answer>;
  /** Ends the server at once; for tests that look at what a close leaves behind. */
  close(): Promise<void>;
}

/** Starts a server in this process. `toml` is added to its settings, `edge` to those under [edge]. */
export async function startCulvert(context: Ends, toml = '', edge = ''): Promise<Culvert> {
  const t = inReverse(context);
  const folder = mkdtempSync(join(tmpdir(), 'culvert-harness-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const ports = await freePorts();
  const { settings } = checkServerConfig(configText({ folder, ports, toml, edge }), 'harness.toml');
  fillDataFolder(settings.data_dir);
  const server = await startServer(settings, {
    version: '0.0.0-test',
    log: silentLog,
    startNode: startInThisThread,
    makeHasher: makeQuickHasher,
  });
  t.after(() => server.close());
  const owner = server.firstOwner;
  if (owner === undefined) throw new Error('a new data folder has an owner already');
  const account = await Account.logIn(server.apiUrl, owner.email, owner.password.reveal());
  const token = await account.mint();
  return {
    server,
    account,
    token,
    httpPort: ports.http,
    httpsPort: ports.https,
    publish: publisher(t, new URL(server.apiUrl), token),
    get: (url, bearer) => get(url, url.startsWith('https:') ? ports.https : ports.http, undefined, bearer),
    close: () => server.close(),
  };
}

/** Starts agents of a server, which end with the test. */
export function publisher(t: Ends, server: URL, token: string): Culvert['publish'] {
  return (protocol, target, options = {}) =>
    publish(t, { protocol, target: String(target), server, token, ...options });
}

interface Publication extends PublishOptions {
  readonly protocol: 'http' | 'https' | 'tcp';
  readonly target: string;
  readonly server: URL;
  readonly token: string;
}

function publish(t: Ends, { protocol, target, server, token, subdomain, narrow }: Publication): Promise<LocalTunnel> {
  const connector = makeConnector({ server, log: silentLog });
  const events: AgentEvent[] = [];
  const live = Promise.withResolvers<LocalTunnel>();
  const agent = startAgent({
    server: server.href,
    tunnels: [{ ...parseTarget(target, protocol), name: 'test', subdomain, narrow }],
    identity: { version: '0.0.0-test', os: 'test', hostname: 'harness' },
    token: async () => token,
    open: connector.open,
    reach: connector.reach,
    log: silentLog,
    onEvent: (event) => {
      events.push(event);
      if (event.kind === 'tunnel_online') live.resolve({ url: event.tunnel.url ?? '', agent, events });
      if (event.kind === 'stopped') live.reject(new Error(`the agent stopped: ${event.reason.message}`));
    },
  });
  t.after(async () => {
    agent.destroy();
    await agent.done;
    connector.close();
  });
  return live.promise;
}
