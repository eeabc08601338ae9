/**
 * What a traffic policy costs: processor time per request, server and agent together, of a tunnel with four actions and a Basic gate, and of
 * one with a JWT check among its four actions, against one without any. On a server of its own, turn by turn in each round.
 *
 * The gate and the JWT check are two tunnels: both read the field Authorization, and a request has one.
 */
import { ownerOf, tunnelId } from '../api.ts';
import type { Bench } from '../bench.ts';
import { culvertBuild, startAgent, startServer } from '../culvert.ts';
import { startOrigin } from '../peers.ts';
import { measureWays, type Way } from '../ways.ts';

const NAME = 'policy';
const SERVER = 'server-policy';
const CONNECTIONS = 64;
const USER = 'preview';
const PASSWORD = 'correct horse battery staple';
/** As many as a policy may let pass in a minute. */
const MAX_RATE = 1_000_000;

const KINDS = ['none', 'gate', 'jwt'] as const;
type Kind = (typeof KINDS)[number];
const TITLES: Readonly<Record<Kind, string>> = {
  none: 'no policy',
  gate: 'four actions and a Basic gate',
  jwt: 'four actions, a JWT check among them',
};

/**
 * All of it passes: a refused request would be a cheap one. Each round has a limit of its own, which begins a new window: the requests of several
 * rounds could be more than one lets pass.
 */
function actionsOf(kind: Exclude<Kind, 'none'>, round: number): object[] {
  return [
    kind === 'jwt' ? { kind: 'jwt_validation' } : { kind: 'deny', path_prefix: '/admin' },
    { kind: 'ip_allow', networks: ['10.0.0.0/8', '192.168.0.0/16', '127.0.0.0/8'] },
    { kind: 'rate_limit', requests_per_minute: MAX_RATE - round, per_client_ip: true },
    { kind: 'header_set', name: 'X-Tenant', value: 'blue' },
  ];
}

/** Measures and keeps the ratios under `policy`; the text is the table for the report. */
export async function measurePolicy(bench: Bench): Promise<string> {
  const ways = await startWays(bench);
  return measureWays(bench, { name: NAME, server: SERVER, connections: CONNECTIONS, ways });
}

async function startWays(bench: Bench): Promise<readonly Way[]> {
  const { processes, tools, options } = bench;
  const origin = await startOrigin(processes, tools, { name: 'origin', address: '127.0.0.1' });
  const server = await startServer(processes, culvertBuild(options), { name: SERVER });
  const owner = await ownerOf(server);
  const ways: Way[] = [];
  for (const kind of KINDS) {
    const subdomain = `policy-${kind}`;
    const name = `agent-${kind}`;
    const subject = await startAgent(processes, server, { originPort: origin.port, name, subdomain });
    const id = await tunnelId(owner, subdomain);
    let headers: string[] = [];
    if (kind === 'gate') {
      await owner.call('PUT', `/tunnels/${id}/auth`, { username: USER, password: PASSWORD });
      headers = [`Authorization: Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`];
    } else if (kind === 'jwt') {
      headers = [`Authorization: Bearer ${owner.bearer}`];
    }
    const begin = async (round: number): Promise<unknown> =>
      kind === 'none' ? undefined : owner.call('PUT', `/tunnels/${id}/policy`, { actions: actionsOf(kind, round) });
    await begin(0);
    ways.push({ key: kind, title: TITLES[kind], subject, host: `${subdomain}.localhost`, headers, begin });
  }
  return ways;
}
