/**
 * Starts Culvert as a user would: `culvert serve` with a configuration file in an empty folder, a log-in with the
 * password of the first start, a token, and `culvert http` with that token as a process of its own.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SocketHolder } from '../quickstart/socket-holder.ts';
import { ownerOf, stringIn } from './api.ts';
import { waitForAnswer } from './load.ts';
import type { Options } from './options.ts';
import type { Certificate } from './peers.ts';
import { freePort, type Processes } from './processes.ts';
import { serverConfig, writeConfig } from './server-config.ts';
import type { Subject, SubjectName } from './subject.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const SUBDOMAIN = 'bench';
/** Tunnels that the token may open at once: the memory scenario opens one per agent. */
const TUNNEL_QUOTA = 5_000;
/** For each half of a restart; a busy machine takes its time. */
const RESTART_MS = 30_000;
/** The instant of a start is a figure. */
const RUNNING_POLL_MS = 2;
/** As much is no limit. */
const NO_LIMIT_MBPS = 10_000;

/** A build to measure. */
export interface CulvertBuild {
  /** The words before the subcommand. */
  readonly command: readonly string[];
  /** `server.data_threads` of its servers; undefined: its default, and older builds don't know the key. */
  readonly dataThreads: number | undefined;
}

/** The build of `--culvert`, or the first of bundle, binary and source. Throws when there is none. */
export function culvertBuild({ culvert, dataThreads }: Pick<Options, 'culvert' | 'dataThreads'>): CulvertBuild {
  const path =
    culvert === undefined
      ? ['dist/culvert.mjs', 'dist/culvert', 'src/main.ts'].map((name) => join(ROOT, name)).find(existsSync)
      : resolve(culvert);
  if (path === undefined || !existsSync(path)) throw new Error(`there is no Culvert to measure at ${path ?? ROOT}`);
  return { command: /\.(mjs|js|ts)$/.test(path) ? [process.execPath, path] : [path], dataThreads };
}

/** The build of `--other`, `--other-threads`; undefined without both. */
export function otherBuild({ culvert, other, otherThreads }: Options): CulvertBuild | undefined {
  if (other === undefined && otherThreads === undefined) return undefined;
  return culvertBuild({ culvert: other ?? culvert, dataThreads: otherThreads });
}

/** The build script of this checkout, when it has one. */
export async function buildCulvert(processes: Processes): Promise<string> {
  const outcome = await processes.run(['npm', '--prefix', ROOT, 'run', '--if-present', 'build'], {
    timeoutMs: 300_000,
  });
  return outcome.code === 0 ? '' : `the build failed, measuring what is there: ${outcome.stderr.trim().slice(-300)}`;
}

export interface ServerPlace {
  /** Name of the server's process; the folder is named after it. */
  readonly name: string;
  readonly certificate?: Certificate;
  /** Tables of the configuration file besides. */
  readonly more?: string;
  /** Keys of [edge] besides. */
  readonly edge?: string;
  /** Keys of [edge.limits] besides. */
  readonly limits?: string;
  /** This process holds its sockets, as systemd does, and can restart it (`restartServer`). */
  readonly isHeld?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

export interface CulvertServer {
  readonly name: string;
  readonly command: readonly string[];
  readonly folder: string;
  readonly configFile: string;
  readonly apiPort: number;
  readonly httpPort: number;
  readonly httpsPort: number;
  readonly agentPort: number;
  readonly token: string;
  /** Of the account that the first start made. */
  readonly password: string;
  /** Where API and agent listener are. Visitors are beside the server, on its loopback. */
  readonly address: string;
  readonly netns?: string;
  /** Holder of its sockets. The starter of the server closes it. */
  readonly holder?: SocketHolder | undefined;
  /** Keys of [edge] besides, and tables besides: they stay when it is moved. */
  readonly edge: string;
  readonly more: string;
}

/** Starts a server with an empty database and mints a token. */
export async function startServer(
  processes: Processes,
  { command, dataThreads }: CulvertBuild,
  place: ServerPlace,
): Promise<CulvertServer> {
  const folder = processes.makeFolder(place.name);
  const ports = {
    apiPort: await freePort(),
    httpPort: await freePort(),
    httpsPort: await freePort(),
    agentPort: await freePort(),
  };
  const configFile = join(folder, 'culvert.toml');
  const { certificate, edge = '', limits } = place;
  const { apiPort: api, httpPort: http, agentPort: agents } = ports;
  const holder = place.isHeld === true ? new SocketHolder({ api, http, agents }) : undefined;
  const threads = dataThreads === undefined ? '' : `\n[server]\ndata_threads = ${dataThreads}\n`;
  const more = `${threads}${place.more ?? ''}`;
  const config = serverConfig({ folder, ports, address: '127.0.0.1', certificate, edge, limits });
  await writeConfig(processes, { command, file: configFile, text: `${config}${more}` });
  processes.start(place.name, [...command, 'serve', '--config', configFile], { env: place.env ?? {}, holder });
  // The password is on the line after the address.
  const password = (await processes.waitForOutput(place.name, /admin@localhost[^\n]*\n\s*(\S+)[^\n]*\n/))[1] ?? '';
  await processes.waitForPort(place.name, ports.apiPort);
  await processes.waitForPort(place.name, ports.agentPort);
  const token = await mintToken(
    { apiPort: ports.apiPort, password },
    { name: 'bench', tunnelQuota: TUNNEL_QUOTA, bandwidthLimitMbps: NO_LIMIT_MBPS },
  );
  const own = { name: place.name, command, folder, configFile, ...ports, token, password, holder, edge, more };
  return { ...own, address: '127.0.0.1' };
}

/**
 * Stops a server whose sockets are held as `systemctl restart` does, and starts it again on the same folder. Resolves with the instant (milliseconds
 * since the epoch) at which the new process said that it runs.
 */
export async function restartServer(
  processes: Processes,
  { name, command, configFile, holder }: CulvertServer,
): Promise<number> {
  await processes.stop(name, RESTART_MS);
  processes.start(name, [...command, 'serve', '--config', configFile], { holder });
  await processes.waitForOutput(name, / is running\n/, RESTART_MS, RUNNING_POLL_MS);
  return Date.now();
}

/** Starts the same server again at another address, in a network namespace: token and certificate are in its folder. */
export async function moveServer(
  processes: Processes,
  server: CulvertServer,
  place: { readonly address: string; readonly netns: string; readonly certificate?: Certificate },
): Promise<CulvertServer> {
  await processes.stop(server.name);
  const { folder, configFile, edge, more } = server;
  const { address, certificate } = place;
  const config = serverConfig({ folder, ports: server, address, certificate, edge, httpsAddress: address });
  await writeConfig(processes, { command: server.command, file: configFile, text: `${config}${more}` });
  processes.start(server.name, [...server.command, 'serve', '--config', configFile], { netns: place.netns });
  const moved = { ...server, address: place.address, netns: place.netns };
  await waitForApi(processes, moved);
  return moved;
}

async function waitForApi(processes: Processes, server: CulvertServer): Promise<void> {
  const url = `http://${server.address}:${server.apiPort}/ready`;
  const outcome = await processes.run(
    ['curl', '-sf', '-o', '/dev/null', '--retry', '60', '--retry-delay', '1', '--retry-all-errors', '-m', '30', url],
    { netns: server.netns },
  );
  if (outcome.code !== 0) throw new Error(`${server.name} is not ready: ${processes.lastWords(server.name)}`);
}

/** Starts `culvert http` for an origin and waits until a visitor gets an answer through it. */
export async function startAgent(
  processes: Processes,
  server: CulvertServer,
  options: {
    readonly originPort: number;
    readonly name: string;
    readonly netns?: string;
    readonly env?: Readonly<Record<string, string>>;
    /** Other than the ones that all subjects have. */
    readonly subdomain?: string;
    readonly token?: string;
    /** Events as JSON lines in its log. */
    readonly json?: boolean;
    /** `culvert` unless given. */
    readonly subject?: SubjectName;
    /** Flags besides. */
    readonly flags?: readonly string[];
  },
): Promise<Subject> {
  processes.start(
    options.name,
    [
      ...[...server.command, 'http', String(options.originPort), '--subdomain', options.subdomain ?? SUBDOMAIN],
      ...['--server', `http://${server.address}:${server.apiPort}`],
      ...(options.json === true ? ['--json'] : []),
      ...(options.flags ?? []),
    ],
    { env: { ...options.env, CULVERT_TOKEN: options.token ?? server.token }, netns: options.netns },
  );
  const subject = { ...httpSubject(server, options.name), name: options.subject ?? 'culvert' };
  if (options.subdomain === undefined) await waitForAnswer(processes, subject, server.netns);
  else await processes.waitForOutput(options.name, new RegExp(`${options.subdomain}\\.localhost`));
  return subject;
}

function httpSubject(server: CulvertServer, agent: string): Omit<Subject, 'name'> {
  const { httpPort: port } = server;
  return { scheme: 'http', address: '127.0.0.1', port, processes: [server.name, agent] };
}

export function httpsSubject(server: CulvertServer, agent: string, name: SubjectName = 'culvert-tls'): Subject {
  const { httpsPort: port } = server;
  return { name, scheme: 'https', address: '127.0.0.1', port, processes: [server.name, agent] };
}

/** A key of the account that the first start made. */
export async function mintToken(
  server: Pick<CulvertServer, 'apiPort' | 'password'>,
  input: { readonly name: string; readonly tunnelQuota: number; readonly bandwidthLimitMbps: number },
): Promise<string> {
  const owner = await ownerOf(server);
  return stringIn(await owner.call('POST', '/tokens', input), 'apiKey');
}
