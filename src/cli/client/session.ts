/**
 * Acts as the user who ran `culvert login`: swaps the session's refresh token for an access token, which stays in memory. The new
 * refresh token is kept before anything else can fail; one command at a time does this, for a token that is shown twice ends the session.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import type { Outbound } from '../../base/net/outbound/outbound.ts';
import { Secret } from '../../base/secret.ts';
import { type Credentials, type Login, SESSION_WORK_MS, serverName } from '../../config/credentials.ts';
import { type ApiAnswer, callApi, complaint } from './api-call.ts';
import { EXIT, ExitError } from '../terminal/exit.ts';
import type { Io, Signal } from '../terminal/io.ts';
import { harmless } from '../terminal/paint.ts';
import { loginCommand } from './token.ts';

/** As the server names it. */
const COOKIE = 'qnt_refresh';
/** The server answers within 1 s. With the pauses below this stays within what the lock allows. */
const TIMEOUT_MS = 8_000;
/** How often a server that says "try again" is asked once more. */
const MAX_TRIES = 5;
const MAX_PAUSE_MS = 2_000;
/** How many other servers a message names. */
const MAX_NAMED = 5;

const refreshed = z.object({ access_token: z.string().min(1).max(4_096) });

/** The header in which a session's refresh token is shown. */
export function sessionCookie(login: Login): { cookie: string } {
  return { cookie: `${COOKIE}=${login.refresh_token.reveal()}` };
}

export interface SessionMeans {
  readonly credentials: Credentials;
  /** The way to the server. */
  readonly outbound: Outbound;
}

/** A new access token of the session that is kept for this server. @throws ExitError: not authorized when there is none or it is over. */
export async function openSession(io: Io, server: URL, { credentials, outbound }: SessionMeans): Promise<Secret> {
  const signals = holdSignals(io);
  try {
    const token = await credentials.alone(async () => {
      await credentials.probe(); // a refresh token that can't be kept is a session lost
      return refresh(io, server, { credentials, outbound });
    });
    await nextTurn(); // a signal is delivered after the answer that came with it
    if (signals.came()) throw new ExitError(EXIT.interrupted, 'interrupted');
    return token;
  } finally {
    signals.release();
  }
}

async function refresh(io: Io, server: URL, { credentials, outbound }: SessionMeans): Promise<Secret> {
  const until = performance.now() + SESSION_WORK_MS - TIMEOUT_MS;
  let shown: string | undefined;
  for (let tries = 0; tries < MAX_TRIES && performance.now() < until; tries += 1) {
    const login = credentials.of(server);
    if (login === undefined) throw notLoggedIn(server, credentials);
    const answer = await callApi(server, {
      path: '/auth/refresh',
      headers: sessionCookie(login),
      outbound,
      timeoutMs: TIMEOUT_MS,
    });
    if (answer.status === 200) return keep(server, login, { answer, credentials });
    if (answer.status !== 401) throw new ExitError(EXIT.failure, harmless(complaint(answer)));
    // A process without our lock (another machine with the same home) may have swapped it meanwhile: then the file has the new one.
    const isSame = shown === login.refresh_token.reveal();
    shown = login.refresh_token.reveal();
    const retryAfter = answer.retryAfter;
    if (retryAfter !== undefined) await io.pause(Math.min(retryAfter * 1000, MAX_PAUSE_MS));
    else if (isSame || credentials.of(server)?.refresh_token.reveal() === shown) throw over(server);
  }
  throw new ExitError(EXIT.failure, `${server.host}: other commands are using this login. Try again`);
}

async function keep(
  server: URL,
  login: Login,
  { answer, credentials }: { answer: ApiAnswer; credentials: Credentials },
): Promise<Secret> {
  const next = answer.cookies.flatMap((line) => cookieIn(line) ?? [])[0];
  if (next !== undefined) await credentials.renew(server, login, new Secret(next));
  const found = refreshed.safeParse(answer.body);
  if (next === undefined || !found.success)
    throw new ExitError(EXIT.failure, complaint({ ...answer, body: undefined }));
  return new Secret(found.data.access_token);
}

/** The value of our cookie in a `Set-Cookie`. */
function cookieIn(line: string): string | undefined {
  const value = line.split(';', 1)[0] ?? '';
  return value.startsWith(`${COOKIE}=`) && value.length > COOKIE.length + 1
    ? value.slice(COOKIE.length + 1)
    : undefined;
}

/** Between the server's swap and our write nothing may end the process but SIGKILL. */
function holdSignals(io: Io): { came(): boolean; release(): void } {
  let came = false;
  const names: readonly Signal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  const offs = names.map((name) =>
    io.onSignal(name, () => {
      came = true;
    }),
  );
  return {
    came: () => came,
    release: () => {
      for (const off of offs) off();
    },
  };
}

/** Lists the servers with a login. @throws ConfigError when the logins can't be read. */
export function notLoggedIn(server: URL, credentials: Credentials): ExitError {
  const others = credentials.servers().slice(0, MAX_NAMED).join(', ');
  const choice = others === '' ? '' : `, or use --server with a server where you are logged in: ${others}`;
  const text = `not logged in at ${serverName(server)}. Run ${loginCommand(server)}${choice}`;
  return new ExitError(EXIT.unauthorized, harmless(text));
}

function over(server: URL): ExitError {
  return new ExitError(EXIT.unauthorized, `Your login at ${serverName(server)} has ended. Run ${loginCommand(server)}`);
}
