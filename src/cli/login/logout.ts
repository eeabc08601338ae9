/**
 * `culvert logout`: ends the key and the session that `login` got, on the server and on this machine. What is here goes in any case; when the
 * server can't be reached, the output says so, because the key is then still valid.
 */
import { Credentials, type Login, SESSION_WORK_MS, serverName } from '../../config/credentials.ts';
import type { Invocation } from '../terminal/command.ts';
import { endLogin } from '../client/end-login.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { type Io, print, writeLine } from '../terminal/io.ts';
import type { Outbound } from '../../base/net/outbound/outbound.ts';
import { outboundOf } from '../client/outbound.ts';
import { serverOf } from '../client/server-here.ts';
import { keptLogin } from '../client/kept-login.ts';
import { harmless, jsonText } from '../terminal/paint.ts';

/** Exit code 0 when nothing is left anywhere, 1 when the server can't be reached or the login can't be read. */
export async function logout(io: Io, { flags }: Invocation): Promise<ExitCode> {
  const named = typeof flags['server'] === 'string' ? flags['server'] : undefined;
  const server = await serverOf(io, { server: named });
  const credentials = new Credentials(io.env);
  const { login, mistake } = keptLogin(credentials, server);
  const problem =
    login === undefined ? mistake : await end(io, server, { credentials, outbound: outboundOf(io, flags) });

  const name = serverName(server);
  if (flags['json'] === true) {
    const fields = {
      server: name,
      account: login?.account ?? null,
      revoked: login !== undefined && problem === undefined,
      problem: problem ?? null,
    };
    await print(io.stdout, jsonText({ event: 'logged_out', at: new Date().toISOString(), ...fields }));
  } else {
    for (const line of describe(name, login, problem)) writeLine(io.stderr, line);
  }
  return problem === undefined ? EXIT.ok : EXIT.failure;
}

/** Ends and forgets what is kept by then: another command may be about to renew the session. */
function end(
  io: Io,
  server: URL,
  { credentials, outbound }: { credentials: Credentials; outbound: Outbound },
): Promise<string | undefined> {
  return credentials.alone(async () => {
    const login = credentials.of(server);
    if (login === undefined) return undefined;
    const problem = await endLogin(io, { server, login, outbound, signal: AbortSignal.timeout(SESSION_WORK_MS) });
    await credentials.remove(server, login);
    return problem;
  });
}

function describe(server: string, login: Login | undefined, problem: string | undefined): string[] {
  if (login === undefined) {
    if (problem === undefined) return [`not logged in at ${server}`];
    return [`culvert: ${problem}`, 'no key was revoked: the keys in that file are still valid'];
  }
  if (problem === undefined) return [`logged out at ${server}: the key of ${harmless(login.account)} is revoked`];
  const until = login.expires_at.slice(0, 10);
  const label = harmless(login.label);
  return [
    `culvert: ${problem}`,
    `logged out on this machine only: ${server} accepts the key ${label} until ${until}. Revoke it there.`,
  ];
}
