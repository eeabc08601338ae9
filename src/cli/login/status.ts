/**
 * `culvert status`: the agents that run on this machine, who is logged in, and whether the server answers. Exit code 0 when it does, 1 when not.
 * With `--org`: org-status.ts.
 */
import { discover } from '../../agent/connect/discovery.ts';
import type { Outbound } from '../../base/net/outbound/outbound.ts';
import { messageOf } from '../../base/errors.ts';
import { Credentials, type Login } from '../../config/credentials.ts';
import type { Invocation } from '../terminal/command.ts';
import { EXIT, type ExitCode, ExitError } from '../terminal/exit.ts';
import { hasColor, type Io, print } from '../terminal/io.ts';
import { openSession } from '../client/session.ts';
import { outboundOf } from '../client/outbound.ts';
import { serverOf } from '../client/server-here.ts';
import { type KeptLogin, keptLogin } from '../client/kept-login.ts';
import { jsonText, type Line, paint, span } from '../terminal/paint.ts';
import { orgStatus } from './org-status.ts';
import { type AgentRecord, listAgents, runtimeDir } from '../client/state-file.ts';

interface ServerAnswer {
  readonly url: string;
  readonly ok: boolean;
  readonly version: string | undefined;
  readonly problem: string | undefined;
}

export async function status(io: Io, invocation: Invocation): Promise<ExitCode> {
  const { flags } = invocation;
  if (flags['org'] === true) return orgStatus(io, invocation);
  const named = typeof flags['server'] === 'string' ? flags['server'] : undefined;
  const url = await serverOf(io, { server: named });
  const agents = listAgents(runtimeDir(io.env));
  const outbound = outboundOf(io, flags);
  const answer = await ask(url, outbound);
  const credentials = new Credentials(io.env);
  const login = await holding(io, {
    ...{ kept: keptLogin(credentials, url), url, credentials, outbound },
    ok: answer.ok,
  });
  if (flags['json'] === true) {
    const problem = login.mistake ?? null;
    const fields = { server: serverJson(answer), login: loginJson(login), login_problem: problem };
    await print(io.stdout, jsonText({ ...fields, agents: agents.map(agentJson) }));
  } else {
    const color = hasColor(io.stdout, io.env);
    const lines = describe(answer, login, agents).map((line) => paint(line, color));
    await print(io.stdout, lines.join('\n'));
  }
  return answer.ok ? EXIT.ok : EXIT.failure;
}

async function ask(url: URL, outbound: Outbound): Promise<ServerAnswer> {
  try {
    const found = await discover(url, undefined, outbound);
    return { url: url.href, ok: true, version: String(found.version), problem: undefined };
  } catch (error) {
    return { url: url.href, ok: false, version: undefined, problem: messageOf(error) };
  }
}

interface Holding {
  readonly kept: KeptLogin;
  readonly url: URL;
  readonly credentials: Credentials;
  readonly outbound: Outbound;
  /** The server answered. */
  readonly ok: boolean;
}

/** The login, and whether the server still takes it: it may have been ended there. One that can't be checked is shown as it is kept. */
async function holding(io: Io, { kept, url, credentials, outbound, ok }: Holding): Promise<KeptLogin> {
  if (!ok || kept.login === undefined || isOver(kept.login)) return kept;
  try {
    await openSession(io, url, { credentials, outbound });
    return kept;
  } catch (error) {
    if (!(error instanceof ExitError) || error.exitCode === EXIT.interrupted) throw error;
    return { ...kept, mistake: error.message };
  }
}

function isOver({ expires_at }: Login): boolean {
  return Date.parse(expires_at) <= Date.now();
}

function describe(answer: ServerAnswer, login: KeptLogin, agents: readonly AgentRecord[]): Line[] {
  const verdict = answer.ok ? span(`online, version ${answer.version}`, 'green') : span(answer.problem ?? '', 'red');
  const lines: Line[] = [[span('server  ', 'bold'), span(answer.url), span('  '), verdict], loginLine(login)];
  if (agents.length === 0) return [...lines, [span('agents  ', 'bold'), span('none on this machine', 'dim')]];
  for (const agent of agents) {
    const state = span(agent.state, agent.state === 'online' ? 'green' : 'yellow');
    lines.push([span('agent   ', 'bold'), span(`pid ${agent.pid}  ${agent.server}  `), state]);
    for (const tunnel of agent.tunnels) {
      const live = tunnel.state === 'online' && agent.state === 'online';
      const label = span(tunnel.url ?? tunnel.name, ...(live ? (['cyan'] as const) : (['dim'] as const)));
      const reason = live || tunnel.reason === null ? '' : `  ${tunnel.reason}`;
      const network = tunnel.network === null ? [] : [span(`  network ${tunnel.network}`)];
      lines.push([
        span('        '),
        label,
        span(`  ${tunnel.target}`),
        ...network,
        ...(live ? wayOf(tunnel) : [span(reason, 'dim')]),
      ]);
      if (live && tunnel.fault !== null) lines.push([span(`          ${tunnel.fault}`, 'yellow')]);
      if (tunnel.manages_fault !== null) lines.push([span(`          ${peersFault(tunnel)}`, 'yellow')]);
    }
    if (agent.page !== null) lines.push([span('        requests  ', 'dim'), span(agent.page)]);
  }
  return lines;
}

/** As the agent's screen says it. */
function peersFault({ manages, manages_fault: fault }: AgentRecord['tunnels'][number]): string {
  return `the peers of ${manages} are not in step with the devices: ${fault}`;
}

/** Of a relay, which way its datagrams go, and why not by UDP. */
function wayOf({ path, path_why: why }: AgentRecord['tunnels'][number]): Line {
  if (path === null) return [];
  if (path === 'udp') return [span('  over UDP', 'green')];
  return [span(`  over the TLS session${why === null ? '' : `: ${why}`}`, 'yellow')];
}

function loginLine({ login, mistake }: KeptLogin): Line {
  const label = span('login   ', 'bold');
  if (mistake !== undefined) return [label, span(mistake, 'red')];
  if (login === undefined) return [label, span('not logged in at this server', 'dim')];
  const { account, organization, expires_at } = login;
  const term = isOver(login) ? span('  expired: run culvert login', 'red') : span(`  until ${expires_at.slice(0, 10)}`);
  return [label, span(`${account}, organization ${organization}`), term];
}

function loginJson({ login }: KeptLogin): object | null {
  if (login === undefined) return null;
  const { account, organization, label, expires_at } = login;
  return { account, organization, label, expires_at };
}

function serverJson(answer: ServerAnswer): object {
  return { url: answer.url, ok: answer.ok, version: answer.version ?? null, problem: answer.problem ?? null };
}

function agentJson(agent: AgentRecord): object {
  const { pid, server, state, version, page, tunnels } = agent;
  return { pid, server, state, version, started_at: new Date(agent.startedAt).toISOString(), page, tunnels };
}
