/**
 * Where the peers of a private network stand, in network namespaces: a hub, which is the Internet and the machine of the Culvert server at once,
 * clients that reach it, and a home. Needs root. Used by the test with real WireGuard and by the bench.
 *
 *   client 1 10.97.1.2 ── 10.97.1.1 ┐                             ┌ NAT (nftables: masquerades, lets replies in and nothing else) ── home 192.168.77.2
 *   client 2 10.97.2.2 ── 10.97.2.1 ┴ hub, server 10.97.255.1 ────┤ or
 *                                                                 └ a link with delay and loss (linkemu) ── home 10.97.100.2
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome, Processes } from '../bench/processes.ts';

/** The Culvert server's, reachable from everywhere. */
export const SERVER_ADDRESS = '10.97.255.1';
/** From outside: the NAT's first, or the home's own behind a link. */
export const HOME_OUTSIDE = '10.97.100.2';
/** The NAT's second. */
export const HOME_MOVED = '10.97.100.3';
const HUB_TO_HOME = '10.97.100.1';
const HOME_BEHIND_NAT = '192.168.77.2';
export const NAT_INSIDE = '192.168.77.1';

export interface LinkQuality {
  /** Milliseconds each way. */
  readonly delayMs: number;
  /** Of packets, each way. */
  readonly lossPercent: number;
  readonly rateMbit: number;
}

export class Places {
  readonly hub: string;
  readonly home: string;
  /** Between both, where the home is behind a NAT. */
  readonly nat: string;
  /** A prefix that is this run's alone. */
  readonly #prefix: string;
  readonly #processes: Processes;
  readonly #made = new Set<string>();
  #link: string | undefined;

  private constructor(processes: Processes) {
    this.#processes = processes;
    this.#prefix = `culvert-wg-${randomBytes(4).toString('hex')}`;
    this.hub = `${this.#prefix}-hub`;
    this.home = `${this.#prefix}-home`;
    this.nat = `${this.#prefix}-nat`;
    processes.atEnd(() => this.#remove());
  }

  /** Makes the hub and so many clients. The namespaces go when `processes` is closed. */
  static async make(processes: Processes, clients: number): Promise<Places> {
    const places = new Places(processes);
    await places.#add(places.hub);
    await places.ip(places.hub, 'addr', 'add', `${SERVER_ADDRESS}/32`, 'dev', 'lo');
    await places.#forwards(places.hub);
    for (let number = 1; number <= clients; number++) {
      const client = places.client(number);
      await places.#add(client);
      await places.#join([places.hub, `10.97.${number}.1/30`, `c${number}`], [client, `10.97.${number}.2/30`, 'out']);
      await places.ip(client, 'route', 'add', 'default', 'via', `10.97.${number}.1`);
    }
    return places;
  }

  /** Namespace of a client, counted from 1. */
  client(number: number): string {
    return `${this.#prefix}-c${number}`;
  }

  /** The home behind a NAT that forwards no port. */
  async homeBehindNat(): Promise<void> {
    await this.#add(this.nat);
    await this.#addHome();
    await this.#join([this.hub, `${HUB_TO_HOME}/29`, 'home'], [this.nat, `${HOME_OUTSIDE}/29`, 'out']);
    await this.#join([this.nat, `${NAT_INSIDE}/30`, 'in'], [this.home, `${HOME_BEHIND_NAT}/30`, 'out']);
    await this.ip(this.nat, 'route', 'add', 'default', 'via', HUB_TO_HOME);
    await this.ip(this.home, 'route', 'add', 'default', 'via', NAT_INSIDE);
    await this.#forwards(this.nat);
    await this.#nft(`table ip nat {
      chain out { type nat hook postrouting priority srcnat; oifname "out" masquerade; }
    }
    table ip filter {
      chain blocked { }
      chain forward {
        type filter hook forward priority filter; policy drop;
        jump blocked
        iifname "in" accept
        ct state established,related accept
      }
    }`);
  }

  /** Drops UDP of the home silently, in both directions, until `letUdpThrough`. Only with a NAT. */
  async blockUdp(): Promise<void> {
    await this.#nft('add rule ip filter blocked meta l4proto udp drop');
  }

  async letUdpThrough(): Promise<void> {
    await this.#nft('flush chain ip filter blocked');
  }

  /** The NAT is known by another address and has forgotten all connections, as a line is after a night. Its packets come from HOME_MOVED. */
  async moveHome(): Promise<void> {
    await this.ip(this.nat, 'addr', 'flush', 'dev', 'out');
    await this.ip(this.nat, 'addr', 'add', `${HOME_MOVED}/29`, 'dev', 'out');
    await this.ip(this.nat, 'route', 'add', 'default', 'via', HUB_TO_HOME);
  }

  /** The home at the end of a link, instead of the one that there was; it may be called again for another quality. */
  async homeBehindLink(linkemu: string, { delayMs, lossPercent, rateMbit }: LinkQuality): Promise<void> {
    if (!this.#made.has(this.home)) await this.#addHome();
    if (this.#link !== undefined) await this.#processes.stop(this.#link);
    this.#link = `link-${this.#prefix}`;
    this.#processes.start(this.#link, [
      ...[linkemu, this.hub, `${HUB_TO_HOME}/30`, this.home, `${HOME_OUTSIDE}/30`],
      ...['--delay-ms', String(delayMs), '--loss-pct', String(lossPercent)],
      ...['--rate-mbit', String(rateMbit), '--queue', String(QUEUE_PACKETS)],
    ]);
    await this.#processes.waitForOutput(this.#link, /ready/);
    await this.ip(this.home, 'route', 'add', 'default', 'dev', 'emu0');
  }

  /** Connections that begin from now on, at all places but the NAT, slow down as this algorithm does. */
  async congestion(name: string): Promise<void> {
    const command = ['sh', '-c', `echo ${name} > /proc/sys/net/ipv4/tcp_congestion_control`];
    for (const netns of this.#made) await must(this.#processes, command, netns);
  }

  /** `ip` in one of the namespaces. Throws what it says when it fails. */
  ip(netns: string, ...args: string[]): Promise<Outcome> {
    return must(this.#processes, ['ip', '-n', netns, ...args]);
  }

  async #add(name: string): Promise<void> {
    this.#made.add(name);
    await must(this.#processes, ['ip', 'netns', 'add', name]);
    await this.ip(name, 'link', 'set', 'lo', 'up');
  }

  /** The network's server passes packets from one client to the other. */
  async #addHome(): Promise<void> {
    await this.#add(this.home);
    await this.#forwards(this.home);
  }

  /** Two ends of a cable: namespace, address, device. */
  async #join(one: readonly [string, string, string], other: readonly [string, string, string]): Promise<void> {
    await this.ip(one[0], 'link', 'add', one[2], 'type', 'veth', 'peer', 'name', other[2], 'netns', other[0]);
    for (const [netns, address, device] of [one, other]) {
      await this.ip(netns, 'addr', 'add', address, 'dev', device);
      await this.ip(netns, 'link', 'set', device, 'up');
    }
  }

  async #forwards(netns: string): Promise<void> {
    await must(this.#processes, ['sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward'], netns);
  }

  async #nft(rules: string): Promise<void> {
    const file = join(this.#processes.folder, `${this.#prefix}.nft`);
    writeFileSync(file, rules);
    await must(this.#processes, ['nft', '-f', file], this.nat);
  }

  #remove(): void {
    for (const name of this.#made) {
      if (existsSync(`/run/netns/${name}`)) execFileSync('ip', ['netns', 'del', name]);
    }
  }
}

/** As many as a router would hold at 50 ms and 200 Mbit/s, twice over. */
const QUEUE_PACKETS = 2_000;

/** Runs a command to its end. Throws what it printed when it fails. */
export async function must(processes: Processes, command: readonly string[], netns?: string): Promise<Outcome> {
  const outcome = await processes.run(command, { netns });
  if (outcome.code !== 0) throw new Error(`${command.join(' ')}: ${(outcome.stderr || outcome.stdout).trim()}`);
  return outcome;
}
