/**
 * Ends a login on its server: key and session. Called by logout.ts, and by login.ts for a login that a new one replaced or that could not be
 * kept. It reports what it can't end, because this machine has no copy left.
 */
import { messageOf } from '../../base/errors.ts';
import type { Outbound } from '../../base/net/outbound/outbound.ts';
import { type Login, serverName } from '../../config/credentials.ts';
import { type ApiAnswer, type ApiCall, callApi, complaint } from './api-call.ts';
import type { Io } from '../terminal/io.ts';
import { harmless } from '../terminal/paint.ts';
import { sessionCookie } from './session.ts';
import { listAgents, runtimeDir } from './state-file.ts';

const TIMEOUT_MS = 10_000;
/** A login uses up most of what the server's limit allows: an answer that asks for less patience than this is waited for, twice. */
const MAX_WAIT_SECONDS = 15;
const MAX_WAITS = 2;

/** What is left of a login that a new one replaced. */
export interface LeftLogin {
  readonly login: Login;
  /** Process ids of the agents that run with its key. */
  readonly agents: readonly number[];
  /** What kept the server from ending it, when no agent was the reason. */
  readonly problem: string | undefined;
}

interface EndedLogin {
  readonly server: URL;
  readonly login: Login;
  /** The way to the server. */
  readonly outbound: Outbound;
}

/** What kept the server from ending key and session; undefined when both are over, be it already before. */
export async function endLogin(
  io: Io,
  { server, login, outbound, signal }: EndedLogin & { readonly signal?: AbortSignal },
): Promise<string | undefined> {
  const key = { wire_bytes_b64: login.wire_bytes_b64.reveal() };
  const by = { outbound, timeoutMs: TIMEOUT_MS, ...(signal === undefined ? {} : { signal }) };
  try {
    await end(io, server, { path: '/auth/cli/logout', body: key, ...by });
    await end(io, server, { path: '/auth/logout', headers: sessionCookie(login), ...by });
    return undefined;
  } catch (error) {
    return harmless(messageOf(error));
  }
}

/**
 * Ends the login that a new one replaced, unless agents of this machine run with its key: those would be cut off. Undefined when nothing of it
 * is left. Never throws: the new login is good in any case.
 */
export async function endReplaced(
  io: Io,
  { server, login, outbound, signal }: EndedLogin & { readonly signal: AbortSignal },
): Promise<LeftLogin | undefined> {
  try {
    const agents = listAgents(runtimeDir(io.env))
      .filter((agent) => agent.loginLabel === login.label && isAt(server, agent.server))
      .map(({ pid }) => pid);
    if (agents.length > 0) return { login, agents, problem: undefined };
  } catch (error) {
    return { login, agents: [], problem: `cannot list the running agents: ${harmless(messageOf(error))}` };
  }
  const problem = await endLogin(io, { server, login, outbound, signal });
  return problem === undefined ? undefined : { login, agents: [], problem };
}

function isAt(server: URL, text: string): boolean {
  const url = URL.parse(text);
  return url !== null && serverName(url) === serverName(server);
}

/** @throws Error with the reason when the server does not say that it is over. */
async function end({ pause }: Io, server: URL, call: ApiCall): Promise<void> {
  let answer: ApiAnswer = await callApi(server, call);
  for (let waits = 0; waits < MAX_WAITS && isBusy(answer); waits += 1) {
    await pause((answer.retryAfter ?? 0) * 1000, call.signal);
    answer = await callApi(server, call);
  }
  // 401: it was over already.
  if (answer.status !== 200 && answer.status !== 401) throw new Error(complaint(answer));
}

function isBusy({ status, retryAfter }: ApiAnswer): boolean {
  return status === 429 && retryAfter !== undefined && retryAfter >= 0 && retryAfter <= MAX_WAIT_SECONDS;
}
