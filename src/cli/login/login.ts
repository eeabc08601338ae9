/**
 * `culvert login`: makes a code, sends the person to the server's page with it, and waits until they have approved it there. What comes back
 * is kept for this server (config/credentials.ts).
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { discover } from '../../agent/connect/discovery.ts';
import type { Outbound } from '../../base/net/outbound/outbound.ts';
import { messageOf } from '../../base/errors.ts';
import { Secret } from '../../base/secret.ts';
import { DEFAULT_SERVER, loadAgentConfig } from '../../config/agent.ts';
import { Credentials, type Login, serverName } from '../../config/credentials.ts';
import { checkPhrase } from '../../wire/check-phrase.ts';
import { type ApiAnswer, callApi, complaint, urlAt } from '../client/api-call.ts';
import { networkFlags, outboundBy } from '../client/outbound.ts';
import { openBrowser } from '../terminal/browser.ts';
import type { Invocation } from '../terminal/command.ts';
import { endLogin, endReplaced } from '../client/end-login.ts';
import { EXIT, type ExitCode, ExitError, usageError } from '../terminal/exit.ts';
import { asker, findServerBy } from './find-server.ts';
import type { Io } from '../terminal/io.ts';
import { LoginJson, type LoginOutput, LoginText } from './login-output.ts';
import { harmless } from '../terminal/paint.ts';
import { plainHttpWarning } from '../client/plain-http.ts';

/** A person may have to look for their password. */
const PATIENCE_MS = 15 * 60_000;
/** The server holds a question for this long. */
const WAIT_SECONDS = 25;
/** Questions that are answered at once are not asked faster than the server's limit gives back: the person's own login needs the rest. */
const PACE_MS = 12_000;
const RETRY_MS = 3_000;

const answer = z.object({
  wire_bytes_b64: z.string().min(1).max(16_384),
  label: z.string().max(200),
  refresh_token: z.string().min(1).max(1_024),
  account: z.string().max(400),
  organization: z.string().max(400),
  expires_at: z.iso.datetime(),
});

export async function login(io: Io, { args, flags }: Invocation): Promise<ExitCode> {
  const flag = typeof flags['server'] === 'string' ? flags['server'] : undefined;
  const [argument] = args;
  if (argument !== undefined && flag !== undefined)
    throw usageError('name the server once: as an argument or with --server');
  const named = argument ?? flag;
  // A mistake in the settings files is reported before the server is asked.
  const settings = loadAgentConfig({ flags: { server: named, ...networkFlags(flags) }, env: io.env, cwd: io.cwd });
  const outbound = outboundBy(settings.network, io.env);
  const credentials = new Credentials(io.env);
  const interrupt = new AbortController();
  const off = io.onSignal('SIGINT', () => interrupt.abort());
  const output = flags['json'] === true ? new LoginJson(io) : new LoginText(io);
  try {
    const name = named ?? (io.env['CULVERT_SERVER'] || undefined);
    const found = name === undefined ? undefined : await findServerBy(name, interrupt.signal, asker(outbound));
    const server = found ?? settings.server;
    if (found === undefined) await reach(server, interrupt.signal, outbound);
    await credentials.probe(); // a key that can't be stored would stay valid without an owner
    const code = randomBytes(32).toString('base64url');
    const until = Date.now() + PATIENCE_MS;
    invite(io, { server, code, until, output, browser: flags['browser'] !== false });
    const kept = await awaitKey(io, { server, code, until, output, outbound, signal: interrupt.signal });
    const replaced = await keep(io, credentials, { server, login: kept, outbound });
    output.done({ server: serverName(server), login: kept, file: credentials.path, next: nextStep(io, server, flags) });
    const { signal } = interrupt;
    const left =
      replaced === undefined ? undefined : await endReplaced(io, { server, login: replaced, outbound, signal });
    if (left !== undefined) output.left({ server: serverName(server), left });
    return EXIT.ok;
  } catch (error) {
    if (interrupt.signal.aborted && !(error instanceof ExitError)) return EXIT.interrupted;
    throw error;
  } finally {
    output.end();
    off();
  }
}

async function reach(server: URL, signal: AbortSignal, outbound: Outbound): Promise<void> {
  try {
    await discover(server, signal, outbound);
  } catch (cause) {
    const isDefault = server.href === new URL(DEFAULT_SERVER).href;
    const next = isDefault ? '. If your server is elsewhere, name it: culvert login example.com' : '';
    throw new ExitError(EXIT.failure, harmless(messageOf(cause)) + next, { cause });
  }
}

interface Invitation {
  readonly server: URL;
  readonly code: string;
  readonly until: number;
  readonly output: LoginOutput;
  readonly browser: boolean;
}

function invite(io: Io, { server, code, until, output, browser }: Invitation): void {
  const url = urlAt(server, '/app/cli');
  url.searchParams.set('device_code', code);
  const phrase = checkPhrase(code);
  output.started({ server: serverName(server), url: url.href, phrase, until, warning: plainHttpWarning(server) });
  // Without a terminal there is no user at the screen, or a script runs.
  if (browser && io.stderr.isTTY === true) openBrowser(url.href, io.env);
}

interface Wait {
  readonly server: URL;
  readonly code: string;
  readonly until: number;
  readonly output: LoginOutput;
  readonly outbound: Outbound;
  readonly signal: AbortSignal;
}

/** Asks until the key is there. @throws ExitError when no user approves in time, or the server refuses the question itself. */
async function awaitKey({ pause }: Io, wait: Wait): Promise<Login> {
  while (Date.now() < wait.until) {
    const asked = performance.now();
    const pauseMs = await ask(wait).catch((error: unknown) => troubled(wait, error));
    if (typeof pauseMs !== 'number') return pauseMs;
    const spent = performance.now() - asked;
    await pause(Math.max(0, pauseMs - spent), wait.signal);
  }
  throw new ExitError(EXIT.failure, 'the login was not approved in time. Run `culvert login` again');
}

/** The key, or how long from now the next question must wait, in milliseconds. */
async function ask({ server, code, output, outbound, signal }: Wait): Promise<Login | number> {
  const found = await callApi(server, {
    path: '/auth/cli/token',
    body: { device_code: code, wait: WAIT_SECONDS, session: true },
    outbound,
    timeoutMs: (WAIT_SECONDS + 10) * 1000,
    signal,
  });
  if (found.status === 200) return toLogin(found);
  if (found.status === 429) return (found.retryAfter ?? PACE_MS / 1000) * 1000;
  // What a proxy says while the server behind it restarts.
  if (found.status >= 502) throw new Error(`the server responded with ${found.status}`);
  if (found.status !== 400 || !isPending(found)) throw new ExitError(EXIT.failure, refusal(server, found));
  output.trouble(undefined);
  return PACE_MS;
}

/** A network that fails is no reason to give up on a person who is typing a password. */
function troubled({ output, signal }: Wait, error: unknown): number {
  signal.throwIfAborted();
  if (error instanceof ExitError) throw error;
  output.trouble(harmless(messageOf(error)));
  return RETRY_MS;
}

/** Keeps the login and returns the one that it replaces. @throws ExitError when it can't be kept; it is ended on the server then. */
async function keep(
  io: Io,
  credentials: Credentials,
  { server, login, outbound }: { server: URL; login: Login; outbound: Outbound },
): Promise<Login | undefined> {
  try {
    return await credentials.alone(() => credentials.store(server, login));
  } catch (cause) {
    const problem = await endLogin(io, { server, login, outbound });
    const rest =
      problem === undefined
        ? 'the new key was revoked'
        : `the new key is still valid (${problem}): revoke ${harmless(login.label)} at ${serverName(server)}`;
    throw new ExitError(EXIT.usage, `${messageOf(cause)}; ${rest}`, { cause });
  }
}

function toLogin({ body }: ApiAnswer): Login {
  const found = answer.safeParse(body);
  if (!found.success)
    throw new ExitError(EXIT.failure, 'the server approved the login, but its response has no valid key');
  const { wire_bytes_b64: wire, refresh_token: refresh, ...rest } = found.data;
  return { ...rest, wire_bytes_b64: new Secret(wire), refresh_token: new Secret(refresh) };
}

function isPending({ body }: ApiAnswer): boolean {
  return typeof body === 'object' && body !== null && 'error' in body && body.error === 'authorization_pending';
}

function refusal(server: URL, found: ApiAnswer): string {
  if (found.status >= 300 && found.status < 400) {
    return `${server.host} redirects. Use the final URL with --server`;
  }
  return harmless(complaint(found));
}

/** With the flags that led to the server. */
function nextStep(io: Io, server: URL, flags: Invocation['flags']): string {
  const meant = loadAgentConfig({ flags: {}, env: io.env, cwd: io.cwd }).server;
  const isDefault = serverName(meant) === serverName(server);
  const { proxy, caFile } = networkFlags(flags);
  const words = [
    ...(isDefault ? [] : ['--server', serverName(server)]),
    ...(proxy === undefined ? [] : ['--proxy', proxy === '' ? '""' : proxy]),
    ...(caFile === undefined ? [] : ['--ca-file', caFile]),
  ];
  return ['culvert http 3000', ...words].join(' ');
}
