/**
 * A real WireGuard peer in a network namespace: wireguard-go, configured with `wg` from the text that a user would give to `wg-quick`. Interfaces
 * have names that no other run has, because the sockets of wireguard-go are in one folder for all namespaces.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Processes } from '../bench/processes.ts';
import { must } from './places.ts';

/** Where wireguard-go listens for `wg`. */
const CONTROL = '/var/run/wireguard';
const START_MS = 10_000;

export interface Keys {
  readonly privateKey: string;
  readonly publicKey: string;
}

/** As `wg genkey` and `wg pubkey` make them. */
export async function makeKeys(processes: Processes): Promise<Keys> {
  const { stdout } = await must(processes, ['sh', '-c', 'key=$(wg genkey); echo "$key"; echo "$key" | wg pubkey']);
  const [privateKey = '', publicKey = ''] = stdout.trim().split('\n');
  return { privateKey, publicKey };
}

/** What `wg` knows of a peer's other side. */
export interface PeerState {
  readonly publicKey: string;
  readonly endpoint: string;
  /** Seconds since the epoch; 0: none yet. */
  readonly handshakeAt: number;
  readonly received: number;
  readonly sent: number;
}

export class Peer {
  readonly netns: string;
  /** Of the interface; its process has the same name. */
  readonly name: string;
  readonly #processes: Processes;

  private constructor(processes: Processes, netns: string) {
    this.#processes = processes;
    this.netns = netns;
    this.name = `wg${randomBytes(5).toString('hex')}`;
    processes.atEnd(() => rmSync(join(CONTROL, `${this.name}.sock`), { force: true }));
  }

  /** An interface without configuration. It goes when `processes` is closed. */
  static async start(processes: Processes, netns: string): Promise<Peer> {
    const peer = new Peer(processes, netns);
    processes.start(peer.name, ['wireguard-go', peer.name], {
      netns,
      env: { WG_PROCESS_FOREGROUND: '1', LOG_LEVEL: 'error' },
    });
    const until = Date.now() + START_MS;
    while (!existsSync(join(CONTROL, `${peer.name}.sock`))) {
      if (!processes.isRunning(peer.name)) throw new Error(`wireguard-go ended: ${processes.lastWords(peer.name)}`);
      if (Date.now() > until) throw new Error(`wireguard-go made no ${peer.name} in ${START_MS} ms`);
      await pause(20);
    }
    return peer;
  }

  /**
   * Takes a whole configuration of `wg-quick`: what it leaves of it goes to `wg setconf`, and addresses, MTU and routes are set as it would.
   * What there was before is replaced, so that the next packet needs a new handshake.
   */
  async configure(config: string): Promise<void> {
    const { stdout } = await must(this.#processes, ['wg-quick', 'strip', this.#write('conf', config)]);
    await must(this.#processes, ['wg', 'setconf', this.name, this.#write('stripped', stdout)], this.netns);
    const ip = (...args: string[]) => must(this.#processes, ['ip', '-n', this.netns, ...args]);
    for (const address of valuesOf(config, 'Address')) await ip('addr', 'replace', address, 'dev', this.name);
    await ip('link', 'set', this.name, 'mtu', valuesOf(config, 'MTU')[0] ?? '1420', 'up');
    for (const route of valuesOf(config, 'AllowedIPs')) await ip('route', 'replace', route, 'dev', this.name);
  }

  /** The other sides that it is configured with. */
  async peers(): Promise<PeerState[]> {
    const { stdout } = await must(this.#processes, ['wg', 'show', this.name, 'dump'], this.netns);
    // The first line is of the interface itself.
    return stdout
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => {
        const [publicKey = '', , endpoint = '', , handshakeAt, received, sent] = line.split('\t');
        return {
          publicKey,
          endpoint,
          handshakeAt: Number(handshakeAt),
          received: Number(received),
          sent: Number(sent),
        };
      });
  }

  #write(ending: string, text: string): string {
    const file = join(this.#processes.folder, `${this.name}.${ending}`);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  }
}

/** All values of a key in a configuration, lists taken apart. */
export function valuesOf(config: string, key: string): string[] {
  const lines = config.matchAll(new RegExp(`^\\s*${key}\\s*=\\s*(.*)$`, 'gm'));
  return [...lines].flatMap(([, value = '']) => value.split(',').map((one) => one.trim())).filter((one) => one !== '');
}

/** A rendered configuration with the key in the placeholder's place: what its owner does by hand. */
export function withPrivateKey(config: string, privateKey: string): string {
  const placed = config.replace(/^PrivateKey = .*$/m, `PrivateKey = ${privateKey}`);
  if (placed === config) throw new Error(`no place for a private key in:\n${config}`);
  return placed;
}
