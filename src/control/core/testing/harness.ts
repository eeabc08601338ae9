/**
 * A server on port 0 in a temp folder with a data node that only remembers: the control plane as its clients see it. `call` is one
 * request of the API; `node` is what the data plane received and reports.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { silentLog } from '../../../base/log.ts';
import { checkServerConfig } from '../../../config/load.ts';
import type { StartNode } from '../../../server/data-node.ts';
import type { ConnectionInfo, Link, NodeAccess } from '../../../plane/link.ts';
import type { Delta } from '../../../plane/routes.ts';
import { type Server, startServer } from '../../../server/start.ts';
import { newDataFolder } from '../../../../test/harness/data-folder.ts';
import { makeQuickHasher } from '../../../../test/harness/quick-hasher.ts';
import { STATS } from '../../operator/testing.ts';
import { IDLE_NODE } from './idle-node.ts';

export class FakeNode {
  link: Link | undefined;
  readonly deltas: Delta[] = [];
  readonly kicked: string[] = [];
  readonly online = new Set<string>();
  sessions: ConnectionInfo[] = [];

  readonly start: StartNode = async (_settings, deps) => {
    this.link = deps.link;
    const off = deps.link.onDelta((delta) => this.deltas.push(delta));
    const at = { address: '127.0.0.1', family: 'IPv4', port: 18_080 };
    const node: NodeAccess = {
      ...IDLE_NODE,
      addresses: { http: at, https: null, agents: { ...at, port: 17_443 } },
      connections: () => this.sessions,
      disconnect: (agentId) => {
        this.kicked.push(agentId);
        return true;
      },
      isOnline: (tunnelId) => this.online.has(tunnelId),
      isTaken: (tunnelId) => this.online.has(tunnelId),
      stats: async () => STATS,
      setCertificates: async () => {},
      setChallenges: async () => {},
      setAgentCertificate: async () => {},
      drain: async () => {},
      close: async () => off(),
    };
    return { node, failed: new Promise(() => undefined) };
  };

  get lnk(): Link {
    assert.ok(this.link !== undefined);
    return this.link;
  }
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown> & unknown[];
  readonly text: string;
}

export interface Harness {
  readonly server: Server;
  readonly node: FakeNode;
  readonly dataDir: string;
  readonly settings: ReturnType<typeof settingsFor>;
  /** `as`: an access token. */
  call(
    method: string,
    path: string,
    options?: { as?: string; body?: unknown; headers?: Record<string, string>; raw?: string },
  ): Promise<Answer>;
  /** Access token of the first owner. */
  readonly owner: string;
  /** A new account with an organization of its own, made by an operator. */
  account(email: string): Promise<{ readonly id: string; readonly password: string }>;
  /** Access token of a new account with an organization of its own. */
  stranger(email: string): Promise<string>;
  close(): Promise<void>;
}

/** `edge`: more keys of that table. */
export function settingsFor(dataDir: string, extra = '', edge = '') {
  const text = `data_dir = "${dataDir}"
[api]
listen = "127.0.0.1:0"
trusted_proxies = ["127.0.0.1"]
[edge]
http_listen = "127.0.0.1:0"
tcp_ports = "20000-20003"
${edge}
[agents]
listen = "127.0.0.1:0"
${extra}`;
  return checkServerConfig(text, 'test.toml').settings;
}

export const LOOSE = '[limits]\nauth_burst = 1000';

/** Requests of the API that is served at this address. */
export function callerOf(apiUrl: string): Harness['call'] {
  return async (method, path, options = {}) => {
    const headers: Record<string, string> = { ...options.headers };
    if (options.as !== undefined) headers['authorization'] = `Bearer ${options.as}`;
    const text = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    if (text !== undefined) headers['content-type'] ??= 'application/json';
    const response = await fetch(apiUrl + path, {
      method,
      headers,
      redirect: 'manual',
      ...(text === undefined ? {} : { body: text }),
    });
    const answer = await response.text();
    const body =
      response.headers.get('content-type')?.startsWith('application/json') && answer !== '' ? JSON.parse(answer) : {};
    return { status: response.status, headers: response.headers, body, text: answer };
  };
}

export async function startHarness(extra = LOOSE, edge = ''): Promise<Harness> {
  const dataDir = newDataFolder();
  const settings = settingsFor(dataDir, extra, edge);
  const node = new FakeNode();
  const server = await startServer(settings, {
    version: '9.9.9',
    log: silentLog,
    startNode: node.start,
    makeHasher: makeQuickHasher,
  });
  const call = callerOf(server.apiUrl);
  const login = async (email: string, password: string): Promise<string> => {
    const { status, body } = await call('POST', '/auth/login', { body: { email, password } });
    assert.equal(status, 200);
    return String(body['access_token']);
  };
  const first = server.firstOwner;
  assert.ok(first !== undefined);
  const account: Harness['account'] = async (email) => {
    const { status, body, text } = await call('POST', '/superadmin/users', { as: owner, body: { email } });
    assert.equal(status, 201, text);
    return { id: String(body['id']), password: String(body['password']) };
  };
  const owner = await login(first.email, first.password.reveal());
  return {
    server,
    node,
    dataDir,
    settings,
    call,
    owner,
    account,
    stranger: async (email) => login(email, (await account(email)).password),
    close: async () => {
      await server.close();
      rmSync(dataDir, { recursive: true });
    },
  };
}
