/**
 * `culvert logout`: ends the key and the session that `login` got, on the server and on this machine. What is here goes in any case; when the
 * server could not be told, that is said, for the key then lives on over there.
 */
import { messageOf } from '../base/errors.ts';
import { loadAgentConfig } from '../config/agent.ts';
import { Credentials, type Login, serverName } from '../config/credentials.ts';
import { complaint, post } from './api-call.ts';
import type { Invocation } from './commands.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { type Io, writeLine } from './io.ts';
import { harmless } from './paint.ts';

const TIMEOUT_MS = 10_000;
/** As the server names it. */
const COOKIE = 'qnt_refresh';

/** Exit code 0 when nothing is left anywhere, 1 when the server could not be told. */
export async function logout(io: Io, { flags }: Invocation): Promise<ExitCode> {
  const named = typeof flags['server'] === 'string' ? flags['server'] : undefined;
  const { server } = loadAgentConfig({ flags: { server: named }, env: io.env, cwd: io.cwd });
  const credentials = new Credentials(io.env);
  const login = credentials.of(server);
  const problem = login === undefined ? undefined : await end(server, login);
  credentials.remove(server);

  const name = serverName(server);
  if (flags['json'] === true) {
    const fields = {
      server: name,
      account: login?.account ?? null,
      revoked: login !== undefined && problem === undefined,
      problem: problem ?? null,
    };
    writeLine(io.stdout, JSON.stringify({ event: 'logged_out', at: new Date().toISOString(), ...fields }));
  } else if (login === undefined) {
    writeLine(io.stderr, `not logged in at ${name}`);
  } else if (problem === undefined) {
    writeLine(io.stderr, `logged out at ${name}: the key of ${harmless(login.account)} is over`);
  } else {
    const until = login.expires_at.slice(0, 10);
    writeLine(io.stderr, `culvert: ${problem}`);
    writeLine(
      io.stderr,
      `logged out here alone: until ${until} ${name} would still take the key ${harmless(login.label)}. Revoke it there.`,
    );
  }
  return problem === undefined ? EXIT.ok : EXIT.failure;
}

/** What kept the server from ending key and session; undefined when both are over. */
async function end(server: URL, login: Login): Promise<string | undefined> {
  try {
    const body = { wire_bytes_b64: login.wire_bytes_b64.reveal() };
    const answer = await post(server, { path: '/auth/cli/logout', body, timeoutMs: TIMEOUT_MS });
    // 401: it was over already.
    if (answer.status !== 200 && answer.status !== 401) return harmless(complaint(answer));
    await endSession(server, login);
    return undefined;
  } catch (error) {
    return harmless(messageOf(error));
  }
}

/** Ends the session of a log-in, and not its key. A session that is over already is as good. @throws Error when the server does not answer. */
export async function endSession(server: URL, login: Login): Promise<void> {
  const headers = { cookie: `${COOKIE}=${login.refresh_token.reveal()}` };
  const answer = await post(server, { path: '/auth/logout', headers, timeoutMs: TIMEOUT_MS });
  if (answer.status !== 200 && answer.status !== 401) throw new Error(complaint(answer));
}
