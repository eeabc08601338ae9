/**
 * `culvert serve`: settings → server → signals. Standard output says where it listens and, at the first start, the owner's password;
 * the log goes to standard error.
 */
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { formatHostPort } from '../../base/net/addr.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { within } from '../../base/limits/within.ts';
import { loadServerConfig } from '../../config/load.ts';
import type { Settings } from '../../config/schema.ts';
import { type HeldSockets, idleSocket, isHeld, takeHeldSockets } from '../../server/held-sockets.ts';
import { type Server, type ServerOptions, startServer } from '../../server/start.ts';
import type { Invocation } from '../terminal/command.ts';
import { EXIT, type ExitCode, ExitError, usageError } from '../terminal/exit.ts';
import { handOver, hasColor, type Io, writeLine } from '../terminal/io.ts';
import { makeLog } from '../terminal/log.ts';
import { newLogCounts } from '../terminal/log-lines.ts';
import { retyped } from '../admin/operator.ts';
import { VERSION } from '../terminal/version.ts';

/** For what must be stored, when one of the two threads has ended. */
const LAST_WORDS_MS = 5_000;

export function serve(io: Io, invocation: Invocation): Promise<ExitCode> {
  return serveThen(io, invocation, async () => {});
}

/** The same; `onStart` runs once the server listens and its owner's password was printed. */
export async function serveThen(
  io: Io,
  { flags }: Invocation,
  onStart: (server: Server) => Promise<void>,
): Promise<ExitCode> {
  const named = typeof flags['config'] === 'string' ? flags['config'] : undefined;
  const held = heldSockets(io.env);
  const { settings, warnings, file } = loadServerConfig(named, io);
  const color = hasColor(io.stderr, io.env);
  const logLines = newLogCounts();
  const log = await makeLog({ ...settings.log, output: io.stderr, color, counts: logLines });
  log.info({ version: VERSION, settings: file ?? 'defaults', data_dir: settings.data_dir }, 'culvert is starting');
  // At a level that is written, whichever is set: each of them is for the operator to act on, and this is the only time that it is said.
  const say: keyof Logger = settings.log.level === 'error' ? 'error' : 'warn';
  for (const warning of warnings) log[say]({ settings: file ?? 'defaults' }, warning);
  io.onCrash((error) => log.error({ err: error, thread: 'control' }, 'fatal error: the server is stopping'));
  // Before the start: a signal that comes while the database migrates must not kill half way.
  const signals = stopSignals(io);
  const settingsFile = file === null ? null : resolve(io.cwd, file);
  const options = {
    version: VERSION,
    log,
    logLines,
    held,
    settingsFile,
    newServer: flags['newServer'] === true,
    output: io.stdout,
  };
  const server = await start(settings, options);
  // A closed pipe or a full disk must not stop the server.
  io.stdout.on('error', () => undefined);
  // Standard output has the access log: other lines, above all the owner's password, go to standard error.
  const told = settings.log.access.path === '-' ? { ...io, stdout: io.stderr } : io;
  announce(told, settings, server);
  await tellOwner(told, server, { log, file, owner: settings.accounts.owner });
  await onStart(server);
  return untilStopped(io, { server, log, signals });
}

/** Those of systemd. Starting again would change nothing about a wrong unit: exit code 2. */
function heldSockets(env: NodeJS.ProcessEnv): HeldSockets {
  try {
    return takeHeldSockets(env, process.pid);
  } catch (cause) {
    throw usageError(messageOf(cause), cause);
  }
}

async function start(settings: Settings, options: ServerOptions & { held: HeldSockets }): Promise<Server> {
  const { held, log } = options;
  const idle = idleSocket(settings, held);
  if (idle !== undefined) throw usageError(idle);
  if (isHeld(held)) log.info({ sockets: Object.keys(held) }, 'listening on sockets passed by systemd');
  try {
    return await startServer(settings, options);
  } catch (cause) {
    // A restart would meet the same: the service manager leaves it to the operator, as it does with a mistake in the settings.
    if (cause instanceof Error && cause.name === 'RemainsError') throw usageError(cause.message, cause);
    const isSetting = cause instanceof Error && cause.name === 'ConfigError';
    const code = isSetting ? EXIT.usage : EXIT.failure;
    throw new ExitError(code, `the server could not start: ${messageOf(cause)}`, { cause });
  }
}

function announce(io: Io, settings: Settings, server: Server): void {
  const { http, https, agents, metrics } = server.addresses;
  const line = (what: string, where: string): void => writeLine(io.stdout, `  ${what.padEnd(10)}${where}`);
  writeLine(io.stdout, `culvert ${VERSION} is running`);
  line('API', server.apiUrl);
  if (http !== null) line('visitors', `http://<name>.${settings.edge.domain} on ${addressText(http)}`);
  if (https !== null) line('visitors', `https://<name>.${settings.edge.domain} on ${addressText(https)}`);
  line('agents', addressText(agents));
  if (metrics !== null) line('metrics', `http://${addressText(metrics)}/metrics`);
  line('data', settings.data_dir);
}

interface Telling {
  readonly log: Logger;
  readonly file: string | null;
  /** `accounts.owner`. */
  readonly owner: string | null;
}

/** At the first start, the owner's password: alone on the line after the address, for scripts. A named owner gets a link on request instead. */
async function tellOwner(io: Io, server: Server, { log, file, owner }: Telling): Promise<void> {
  if (owner !== null) return tellOfLink(io, server.firstOwner?.email ?? server.unseenOwner, file);
  if (server.unseenOwner !== undefined) sayUnseen(io, server.unseenOwner, file);
  if (server.firstOwner === undefined) return;
  const { email, password } = server.firstOwner;
  const heading = "\nFirst start: this account owns the server. Copy the password now. You won't see it again.";
  const lost = `The owner's password is lost: ${retyped(`admin reset-password ${email}`, file)} prints a new one`;
  try {
    await handOver(io.stdout, `${heading}\n${email}\n${password.reveal()}`, lost);
  } catch (error) {
    log.error({ cause: messageOf(error) }, 'the first start could not print the password of the owner');
    return;
  }
  try {
    server.ownerShown();
  } catch (error) {
    log.warn(
      { cause: messageOf(error) },
      "could not store that the owner's password was shown: the next start may print another",
    );
  }
}

/** Until the owner has a password. No secret is printed: the log of a service keeps what is. */
function tellOfLink(io: Io, email: string | undefined, file: string | null): void {
  if (email === undefined) return;
  writeLine(io.stdout, `\n${email} owns the server and has no password yet. Get a one-time link that sets it:`);
  writeLine(io.stdout, `  ${retyped(`admin password-link ${email}`, file)}`);
}

/** The first start was cut short: the account is there, and its password is nowhere. */
function sayUnseen(io: Io, email: string, file: string | null): void {
  writeLine(io.stdout, `\n${email} owns the server. The first start ended before it showed the password. Set another:`);
  writeLine(io.stdout, `  ${retyped(`admin reset-password ${email}`, file)}`);
}

function addressText({ address, port }: AddressInfo): string {
  return formatHostPort({ host: address, port });
}

interface StopSignals {
  readonly first: Promise<'SIGINT' | 'SIGTERM'>;
  readonly second: Promise<void>;
}

function stopSignals(io: Io): StopSignals {
  const first = Promise.withResolvers<'SIGINT' | 'SIGTERM'>();
  const second = Promise.withResolvers<void>();
  let count = 0;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    io.onSignal(signal, () => {
      if (++count === 1) first.resolve(signal);
      else second.resolve();
    });
  }
  return { first: first.promise, second: second.promise };
}

interface Run {
  readonly server: Server;
  readonly log: Logger;
  readonly signals: StopSignals;
}

/** The first signal drains, the second cuts. */
async function untilStopped(io: Io, { server, log, signals }: Run): Promise<ExitCode> {
  // A terminal that closes, or an operator who expects a reload: neither may stop a server.
  io.onSignal('SIGHUP', () => {
    log.info(
      {},
      'SIGHUP: reloading the certificate files, reopening the access log; changes to the settings need a restart',
    );
    server.reopenLogs();
    void server.reloadCertificates();
  });
  const signal = await Promise.race([signals.first, server.failed]);
  if (signal instanceof Error) return failed(server, log, signal);
  const { drainSeconds } = server;
  log.info(
    { signal },
    `stopping: requests in flight have ${drainSeconds} s to finish; a second signal stops immediately`,
  );
  const stopped = Promise.race([server.drain(), signals.second.then(() => server.close())]);
  const fault = await Promise.race([server.failed, stopped]);
  if (fault instanceof Error) return failed(server, log, fault);
  log.info({}, 'culvert stopped');
  return signal === 'SIGINT' ? EXIT.interrupted : EXIT.ok;
}

/** Half a server is none: what is left of it stores what it has and ends, so that the service manager starts a whole one. */
async function failed(server: Server, log: Logger, error: Error): Promise<never> {
  log.error({ err: error, thread: 'data' }, 'fatal error: the data thread ended, so the server is stopping');
  await within(
    server.close().catch(() => undefined),
    LAST_WORDS_MS,
    { holdsProcess: true },
  );
  throw new ExitError(EXIT.failure, `the data thread ended: ${error.message}`, { cause: error });
}
