/**
 * A network with a breakable middle, in namespaces: a server, a router, and agents behind it. `cut` makes the router drop every packet of
 * one agent, silently and in both directions: both ends keep a connection without a peer. Needs root. Used by scenarios.ts.
 *
 *   server 10.99.0.2 ── 10.99.0.1 router 10.99.N.1 ── 10.99.N.2 agent N
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ends } from '../../test/harness/ends.ts';

export const SERVER_ADDRESS = '10.99.0.2';
/** In /proc/net/tcp. */
const ESTABLISHED = '01';
/** Where `ip netns exec` looks for files that stand for those of /etc. */
const ETC = '/etc/netns';

export class Network {
  readonly server: string;
  readonly #router: string;
  readonly #prefix: string;
  readonly #agents: number;
  /** Agents that are at their second address. */
  readonly #moved = new Set<number>();

  constructor(t: Ends, agents: number) {
    this.#prefix = `culvert-chaos-${randomBytes(4).toString('hex')}`;
    this.server = `${this.#prefix}-s`;
    this.#router = `${this.#prefix}-r`;
    this.#agents = agents;
    t.after(() => this.#remove());
    ip('netns', 'add', this.#router);
    inside(this.#router, 'sysctl', '-qw', 'net.ipv4.ip_forward=1');
    this.#join(this.server, 0);
    for (let agent = 1; agent <= agents; agent++) this.#join(this.agent(agent), agent);
  }

  /** Namespace of an agent, counted from 1. */
  agent(number: number): string {
    return `${this.#prefix}-a${number}`;
  }

  /** From now on nothing passes between this agent and the server: silently, or with an ICMP error for the agent. */
  cut(agent: number, how: 'blackhole' | 'unreachable' = 'blackhole'): void {
    inside(this.#router, 'ip', 'rule', 'add', 'iif', `e${agent}`, 'pref', String(agent), how);
    inside(this.#router, 'ip', 'route', 'add', 'blackhole', `10.99.${agent}.2/32`);
  }

  restore(agent: number): void {
    inside(this.#router, 'ip', 'rule', 'del', 'pref', String(agent));
    inside(this.#router, 'ip', 'route', 'del', 'blackhole', `10.99.${agent}.2/32`);
  }

  /** The agent's machine gets another address and loses the one it has, as when it changes from one wifi to another. */
  changeAddress(agent: number): void {
    const [before, after] = this.#moved.has(agent) ? [5, 1] : [1, 5];
    if (after === 5) this.#moved.add(agent);
    else this.#moved.delete(agent);
    const [name, ends] = [this.agent(agent), (end: number) => `10.99.${agent}.${end}`];
    ip('-n', this.#router, 'addr', 'replace', `${ends(after)}/30`, 'dev', `e${agent}`);
    ip('-n', name, 'addr', 'add', `${ends(after + 1)}/30`, 'dev', 'e0');
    ip('-n', name, 'addr', 'del', `${ends(before + 1)}/30`, 'dev', 'e0');
    ip('-n', name, 'route', 'replace', 'default', 'via', ends(after));
  }

  /** Drops every packet of the agent's connection to this port of the server, and of no later one: a NAT that has forgotten it. */
  forgetFlow(agent: number, serverPort: number): void {
    const table = execFileSync('ip', ['netns', 'exec', this.agent(agent), 'cat', '/proc/net/tcp'], {
      encoding: 'utf8',
    });
    const hex = serverPort.toString(16).toUpperCase().padStart(4, '0');
    // A set: the kernel may list a connection twice when others begin or end meanwhile.
    const ports = new Set<string>();
    for (const line of table.split('\n')) {
      const [, local = '', far = '', state] = line.trim().split(/\s+/);
      if (state !== ESTABLISHED || !far.endsWith(`:${hex}`)) continue;
      ports.add(String(Number.parseInt(local.split(':')[1] ?? '', 16)));
    }
    for (const port of ports) {
      const flow = ['ipproto', 'tcp', 'pref', String(agent)];
      inside(this.#router, 'ip', 'rule', 'add', 'iif', `e${agent}`, 'sport', port, ...flow, 'blackhole');
      inside(
        this.#router,
        'ip',
        'rule',
        'add',
        'iif',
        'e0',
        'to',
        `10.99.${agent}.2`,
        'dport',
        port,
        ...flow,
        'blackhole',
      );
    }
  }

  /** Programs that start in the agent's namespace from now on resolve names at the server's address only. */
  useServerForNames(agent: number): void {
    const folder = join(ETC, this.agent(agent));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'resolv.conf'), `nameserver ${SERVER_ADDRESS}\n`);
  }

  #join(name: string, number: number): void {
    ip('netns', 'add', name);
    inside(name, 'ip', 'link', 'set', 'lo', 'up');
    ip('-n', this.#router, 'link', 'add', `e${number}`, 'type', 'veth', 'peer', 'name', 'e0', 'netns', name);
    ip('-n', this.#router, 'addr', 'add', `10.99.${number}.1/30`, 'dev', `e${number}`);
    ip('-n', this.#router, 'link', 'set', `e${number}`, 'up');
    ip('-n', name, 'addr', 'add', `10.99.${number}.2/30`, 'dev', 'e0');
    ip('-n', name, 'link', 'set', 'e0', 'up');
    ip('-n', name, 'route', 'add', 'default', 'via', `10.99.${number}.1`);
  }

  #remove(): void {
    const agents = Array.from({ length: this.#agents }, (_, index) => this.agent(index + 1));
    // Those that were never made are no failure here.
    for (const name of [...agents, this.server, this.#router]) {
      spawnSync('ip', ['netns', 'del', name]);
      rmSync(join(ETC, name), { recursive: true, force: true });
    }
  }
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

function inside(name: string, ...command: string[]): void {
  ip('netns', 'exec', name, ...command);
}
