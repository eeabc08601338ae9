/**
 * Runs one agent in the foreground until it is over: output, log, signals, state file, exit code. The body of `http`, `https`,
 * `tcp`, `udp` and `start`.
 */
import { hostname, release } from 'node:os';
import { resolve } from 'node:path';
import { type Agent, startAgent } from '../../agent/agent.ts';
import { makeConnector } from '../../agent/connect/connect.ts';
import type { AgentEvent, ExitReason, RelayView } from '../../agent/events.ts';
import { type AgentPage, startPage, USUAL_PORT } from '../../agent/inspect/page-server.ts';
import type { RelaySpec } from '../../agent/relay/spec.ts';
import type { PinStore } from '../../agent/connect/server-pin.ts';
import type { WayStore } from '../../agent/connect/ways.ts';
import type { TunnelSpec } from '../../agent/tunnel.ts';
import { messageOf } from '../../base/errors.ts';
import { DescriptorWatch } from '../../base/process/descriptor-watch.ts';
import { type Logger, silentLog } from '../../base/log.ts';
import type { AgentSettings } from '../../config/agent.ts';
import { KnownServers } from '../../config/known-servers.ts';
import { type AgentOutput, JsonLines, UrlLines } from './agent-output.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { canDraw, hasColor, type Io, writeLine } from '../terminal/io.ts';
import { makeLog } from '../terminal/log.ts';
import { harmless } from '../terminal/paint.ts';
import { type AgentRecord, bootIdOf, runtimeDir, StateFile } from '../client/state-file.ts';
import { outboundBy } from '../client/outbound.ts';
import { plainHttpWarning } from '../client/plain-http.ts';
import { loginCommand, readAgentKey } from '../client/token.ts';
import { requireInterface } from './managed-interface.ts';
import { Reloader, type ReadSettings, type Reloadable } from './reload.ts';
import { RunningTunnels } from './tunnel-list.ts';
import { UrlFile } from './url-file.ts';
import { NewerVersion } from './newer-version.ts';
import { VERSION } from '../terminal/version.ts';

/** Ctrl-C is a person at a keyboard: what is in flight gets a moment, not the 30 s of a service's stop. */
const INTERRUPT_GRACE_MS = 2_000;

export interface AgentFlags {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly urlFile?: string;
  /** false: no page, whatever the settings say. */
  readonly inspect: boolean;
  readonly inspectPort?: number;
}

export interface AgentRun {
  readonly settings: AgentSettings;
  readonly tunnels: readonly TunnelSpec[];
  readonly relays: readonly RelaySpec[];
  readonly flags: AgentFlags;
  /** Where the settings come from again when they change; none: all is on the command line. */
  readonly reload?: { readonly source: Reloadable; readonly first: ReadSettings };
}

/** Resolves with the exit code. @throws ExitError when it can't start. */
export async function runAgent(io: Io, run: AgentRun): Promise<ExitCode> {
  const { settings, flags } = run;
  const outbound = outboundBy(settings.network, io.env);
  // A key file that the settings name may be another one later.
  let current = settings;
  for (const { manage } of run.relays) if (manage !== undefined) await requireInterface(manage.name);
  const first = await readAgentKey(settings, io.env); // a mistake here is the user's: say it now instead of retrying
  const drawn = flags.json !== true && flags.quiet !== true && canDraw(io.stdout, io.env);
  const log = await agentLog(io, { quiet: flags.quiet === true, drawn });
  const warning = plainHttpWarning(settings.server);
  if (warning !== undefined) log.warn({ server: settings.server.href }, warning);
  sayIgnored(io, settings.ignored, { log, quiet: flags.quiet === true });

  const stopWatch = new DescriptorWatch({ log, monotonic: () => performance.now() }).start();
  const choose = tunnelChooser(run);
  const tunnels = choose(run.tunnels);
  const page = await pageFor(run, tunnels, log);
  const connector = makeConnector({
    server: settings.server,
    log,
    watch: page?.watch,
    ways: waysOf(settings.server, io, log),
    outbound,
  });
  const lost = Promise.withResolvers<void>();
  const output = await chooseOutput(io, { json: flags.json === true, drawn, warning, onLost: lost.resolve });
  const records = new Records(io, { log, urlFile: flags.urlFile, server: settings.server.href, page: page?.url });
  records.runsWith(first.loginLabel);
  if (page !== undefined) output.onEvent({ kind: 'inspector_online', url: page.url });
  const newer = new NewerVersion(VERSION, log);
  const onEvent = (event: AgentEvent): void => {
    // First: a reader of what is printed finds the files, and `culvert status` knows it.
    records.onEvent(event, agent);
    output.onEvent(event);
    page?.onEvent(event);
    newer.onEvent(event);
  };
  const list = new RunningTunnels(tunnels, run.relays, {
    agent: () => agent,
    watch: (specs) => page?.watch.replace(specs),
  });
  const agent = startAgent({
    server: settings.server.href,
    tunnels,
    relays: run.relays,
    identity: { version: VERSION, os: `${process.platform} ${release()}`, hostname: hostname() },
    token: async () => {
      const key = await readAgentKey(current, io.env);
      records.runsWith(key.loginLabel);
      return key.text;
    },
    open: connector.open,
    reach: connector.reach,
    tryAnother: connector.tryAnother,
    pins: pinsOf(settings.server, io, log),
    log,
    watch: drawn || flags.json === true,
    onEvent,
  });
  const reloader =
    run.reload &&
    new Reloader(run.reload.source, run.reload.first, {
      agent: { reload: ({ tunnels: specs, relays }) => list.replace(choose(specs), relays) },
      log,
      emit: onEvent,
      onLoaded: (next) => {
        current = next;
      },
    });
  page?.attach(agent, { meter: connector.meter, list });
  void lost.promise.then(() => agent.drain());
  const signals = listenToSignals(io, agent, () => {
    reloader?.reload();
    agent.retryNow();
  });
  output.start(() => agent.view());
  records.save(agent);

  const reason = await agent.done;
  stopWatch();
  reloader?.close();
  signals.close();
  output.end();
  page?.close();
  connector.close();
  records.close();
  return exitCode(io, withAdvice(settings, reason), signals.interrupted());
}

/** A server's file in this folder is no reason to stop, but its user may have meant it for the agent. */
function sayIgnored(io: Io, file: string | undefined, { log, quiet }: { log: Logger; quiet: boolean }): void {
  if (file === undefined || quiet) return;
  const text = 'the settings file here is of a server: the agent goes on without it';
  if (log === silentLog) writeLine(io.stderr, `culvert: ${file}: ${text}`);
  else log.info({ file }, text);
}

/** Where the server at this address is remembered between runs. */
function pinsOf(server: URL, io: Io, log: Logger): PinStore {
  const known = new KnownServers(io.env, (fault) => log.warn({}, fault));
  return { read: () => known.of(server), keep: (serverId) => known.keep(server, serverId, Date.now()) };
}

/** Where the way to it is remembered. */
function waysOf(server: URL, io: Io, log: Logger): WayStore {
  const known = new KnownServers(io.env, (fault) => log.warn({}, fault));
  return { read: () => known.wayTo(server), keep: (address) => known.keepWay(server, address) };
}

/** The tunnels of this run: where the page is switched off, the server is asked to keep nothing of them either. The same object for the same one. */
function tunnelChooser({ flags, settings }: AgentRun): (tunnels: readonly TunnelSpec[]) => readonly TunnelSpec[] {
  if (flags.inspect && settings.inspect) return (tunnels) => tunnels;
  const made = new WeakMap<TunnelSpec, TunnelSpec>();
  return (tunnels) =>
    tunnels.map((tunnel) => {
      const quiet = made.get(tunnel) ?? { ...tunnel, inspect: false };
      made.set(tunnel, quiet);
      return quiet;
    });
}

/** Undefined: it is switched off, or could not start. */
async function pageFor(
  { flags, settings }: AgentRun,
  tunnels: readonly TunnelSpec[],
  log: Logger,
): Promise<AgentPage | undefined> {
  if (!flags.inspect || !settings.inspect) return undefined;
  const named = flags.inspectPort ?? settings.inspectPort;
  // Datagrams are not recorded. A port by name opens the page all the same, for its metrics.
  if (tunnels.length === 0 && named === undefined) return undefined;
  return startPage({ port: named ?? USUAL_PORT, tunnels, version: VERSION, log });
}

function exitCode(io: Io, reason: ExitReason, interrupted: boolean): ExitCode {
  if (reason.code !== EXIT.ok) writeLine(io.stderr, `culvert: ${harmless(reason.message)}`);
  return reason.code === EXIT.ok && interrupted ? EXIT.interrupted : reason.code;
}

/** A key that `login` stored is replaced by another login: the server does not know where its key came from. */
function withAdvice({ token, server }: AgentSettings, reason: ExitReason): ExitReason {
  if (reason.code !== EXIT.unauthorized || token?.kind !== 'login') return reason;
  return { code: reason.code, message: `${reason.message} Run ${loginCommand(server)}` };
}

async function agentLog(io: Io, how: { quiet: boolean; drawn: boolean }): Promise<Logger> {
  // A screen and log lines on one terminal would tear each other; the screen shows what matters.
  if (how.drawn && io.stderr.isTTY === true) return silentLog;
  const color = hasColor(io.stderr, io.env);
  return makeLog({ level: how.quiet ? 'error' : 'info', format: 'auto', output: io.stderr, color });
}

async function chooseOutput(
  io: Io,
  how: { json: boolean; drawn: boolean; warning: string | undefined; onLost: () => void },
): Promise<AgentOutput> {
  if (how.drawn) {
    const { Screen } = await import('./screen.ts');
    return new Screen({ stdout: io.stdout, env: io.env, warning: how.warning, onLost: how.onLost });
  }
  // A reader that takes one URL and leaves (`| head -1`) does not end the tunnel.
  io.stdout.on('error', () => undefined);
  return how.json ? new JsonLines(io.stdout, Date.now) : new UrlLines(io.stdout);
}

/** SIGTERM drains, SIGINT drains shortly, the second of either cuts; SIGHUP reads the settings again and tries again now. */
function listenToSignals(io: Io, agent: Agent, onHangup: () => void): { close(): void; interrupted(): boolean } {
  let stopping = false;
  let interrupted = false;
  const stop = (graceMs: number | undefined): void => {
    if (stopping) agent.destroy();
    else agent.drain(graceMs);
    stopping = true;
  };
  const offs = [
    io.onSignal('SIGTERM', () => stop(undefined)),
    io.onSignal('SIGINT', () => {
      interrupted = true;
      stop(INTERRUPT_GRACE_MS);
    }),
    io.onSignal('SIGHUP', onHangup),
  ];
  return {
    close: () => {
      for (const off of offs) off();
    },
    interrupted: () => interrupted,
  };
}

/** The traces that a running agent leaves for others: the file of `--url-file` and the one that `status` reads. */
class Records {
  readonly #log: Logger;
  readonly #server: string;
  readonly #page: string | null;
  readonly #urlFile: UrlFile | undefined;
  readonly #stateFile: StateFile | undefined;
  readonly #startedAt = Date.now();
  readonly #bootId = bootIdOf(process.pid);
  #loginLabel: string | undefined;

  constructor(io: Io, options: { log: Logger; urlFile: string | undefined; server: string; page: string | undefined }) {
    this.#log = options.log;
    this.#server = options.server;
    this.#page = options.page ?? null;
    this.#urlFile = options.urlFile === undefined ? undefined : new UrlFile(resolve(io.cwd, options.urlFile));
    try {
      this.#stateFile = new StateFile(runtimeDir(io.env), process.pid);
    } catch (error) {
      this.#log.warn({ cause: messageOf(error) }, '`culvert status` will not show this agent');
    }
  }

  /** Which login the key of the next connect is of; undefined for a key from elsewhere. */
  runsWith(loginLabel: string | undefined): void {
    this.#loginLabel = loginLabel;
  }

  onEvent(event: AgentEvent, agent: Agent): void {
    if (event.kind === 'request' || event.kind === 'stopped') return;
    if (event.kind === 'target') return;
    this.save(agent);
    if (!['tunnel_online', 'relay_online', 'settings_reloaded'].includes(event.kind)) return;
    const { tunnels, relays } = agent.view();
    const places = [...tunnels.map(({ url }) => url), ...relays.map(({ endpoint }) => endpoint)];
    const urls = places.flatMap((place) => (place === undefined ? [] : harmless(place)));
    try {
      this.#urlFile?.write(urls);
    } catch (error) {
      this.#log.error({ cause: messageOf(error) }, 'could not write the file of --url-file');
    }
  }

  save(agent: Agent): void {
    const { state, tunnels, relays } = agent.view();
    if (state === 'stopped') return;
    const record = {
      pid: process.pid,
      bootId: this.#bootId,
      startedAt: this.#startedAt,
      version: VERSION,
      server: this.#server,
      loginLabel: this.#loginLabel ?? null,
      page: this.#page,
      state,
      tunnels: [
        ...tunnels.map(({ name, protocol, target, state, url, reason }) => {
          const none = { path: null, path_why: null, network: null, fault: null, manages: null, manages_fault: null };
          return { name, protocol, target, state, url: url ?? null, reason: reason ?? null, ...none };
        }),
        ...relays.map(relayRecord),
      ],
    };
    try {
      this.#stateFile?.write(record);
    } catch (error) {
      this.#log.debug({ cause: messageOf(error) }, 'could not write the state file');
    }
  }

  close(): void {
    this.#stateFile?.remove();
    this.#urlFile?.remove();
  }
}

function relayRecord(relay: RelayView): AgentRecord['tunnels'][number] {
  const { name, target, state, network, endpoint, reason, path, pathWhy, fault, manages } = relay;
  const place = { url: endpoint ?? null, reason: reason ?? null, path: path ?? null, path_why: pathWhy ?? null };
  const managed = { manages: manages?.interface ?? null, manages_fault: manages?.fault ?? null };
  return { name, protocol: 'udp', target, state, network, fault: fault ?? null, ...managed, ...place };
}
