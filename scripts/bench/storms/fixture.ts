/**
 * The setting of all storms: a server with a large database, the service and agent of the visited tenant, and another tenant with everything else.
 */
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { type Owner, ownerOf, stringIn } from '../api.ts';
import type { Bench } from '../bench.ts';
import { culvertBuild, type CulvertServer, startAgent, startServer } from '../culvert.ts';
import { startOrigin } from '../peers.ts';
import { say } from '../report/progress.ts';
import { HOST, type Subject } from '../subject.ts';
import { type Filled, fillForStorms } from './fill.ts';
import { ELSEWHERE_NICE } from './visitors.ts';

export const SERVER = 'server-storms';
const AGENT = 'agent-visited';
const ORIGIN = 'origin';
const TENANT = 'storm@localhost';
/** Has the log-ins of a storm: an account has 100 sessions at most, and the oldest ones end. */
const LOGGED_IN = 'log-ins@localhost';
/** Rows of the one long history, and fewer for a quick look. */
const HISTORY = 100_000;
const QUICK_HISTORY = 5_000;
/** An access token lives for 15 minutes. */
const LOGGED_IN_MS = 10 * 60_000;

export interface Account {
  readonly email: string;
  readonly password: string;
}

export interface Fixture {
  readonly bench: Bench;
  readonly server: CulvertServer;
  readonly originPort: number;
  readonly filled: Filled;
  /** An account for log-ins alone. */
  readonly loggedIn: Account;
  /** The tunnel of the visitors, and its name. */
  readonly visited: Subject;
  readonly host: string;
  /** The other tenant's session for one of its organizations. Kept for ten minutes, because a login is load too. */
  logIn(orgId?: string): Promise<Owner>;
  /** Delays each fsync of the server from now on. */
  slowDisk(ms: number): void;
  /** Starts the stopped server again. */
  restart(): void;
}

/** Starts everything. `deletions`: number of organizations, and of projects, to be deleted. */
export async function makeFixture(bench: Bench, { deletions }: { readonly deletions: number }): Promise<Fixture> {
  const { processes, tools, options } = bench;
  const origin = await startOrigin(processes, tools, { name: ORIGIN, address: '127.0.0.1' });
  const slowFile = join(processes.folder, 'slow-disk-ms');
  writeFileSync(slowFile, '0');
  const env = { LD_PRELOAD: tools.slowDisk, SLOW_DISK_FILE: slowFile };
  const build = culvertBuild(options);
  say(`storms: Culvert is ${build.command.join(' ')}, data_threads ${build.dataThreads ?? 'as it has them'}`);
  const server = await startServer(processes, build, { name: SERVER, edge: 'allow_private_jwks = true', env });
  const operator = await ownerOf(server);
  const tenant = await makeAccount(operator, TENANT);
  const loggedIn = await makeAccount(operator, LOGGED_IN);
  await processes.stop(SERVER);
  const history = options.quick ? QUICK_HISTORY : HISTORY;
  const filled = await fillForStorms(join(server.folder, 'data'), TENANT, { deletions, history });
  const restart = (): void =>
    processes.start(SERVER, [...server.command, 'serve', '--config', server.configFile], { env });
  restart();
  await processes.waitForPort(SERVER, server.apiPort);
  const visited = await startAgent(processes, server, { originPort: origin.port, name: AGENT });
  for (const name of [AGENT, ORIGIN]) standElsewhere(processes.pid(name));
  return {
    bench,
    server,
    originPort: origin.port,
    filled,
    loggedIn,
    visited,
    host: HOST,
    logIn: logIns({ apiPort: server.apiPort, ...tenant }),
    slowDisk: (ms) => writeFileSync(slowFile, String(ms)),
    restart,
  };
}

async function makeAccount(operator: Owner, email: string): Promise<Account> {
  const made = await operator.call('POST', '/superadmin/users', { email });
  return { email, password: stringIn(made, 'password') };
}

function logIns(account: { apiPort: number; email: string; password: string }): Fixture['logIn'] {
  const kept = new Map<string | undefined, { readonly owner: Owner; readonly since: number }>();
  return async (orgId) => {
    const found = kept.get(orgId);
    if (found !== undefined && performance.now() - found.since < LOGGED_IN_MS) {
      // Throws when the session has ended: refusals of it would pass for those of a storm.
      await found.owner.call('GET', '/auth/me');
      return found.owner;
    }
    const owner = await ownerOf({ ...account, ...(orgId === undefined ? {} : { orgId }) });
    kept.set(orgId, { owner, since: performance.now() });
    return owner;
  };
}

/** Without the privilege they compete with the storm for processors, as they do with the burning process in quiet. */
function standElsewhere(pid: number): void {
  try {
    setPriority(pid, ELSEWHERE_NICE);
  } catch {
    say('storms: no privilege for a higher priority: visitors compete with the storm for processors');
  }
}
