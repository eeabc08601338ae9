/**
 * One WireGuard interface of this machine, by `wg`: no shell, and no secret in its arguments. It reads no private or preshared key; public keys and
 * addresses go in by a file, and a peer that is removed is named by its public key.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../../../base/errors.ts';

const TIMEOUT_MS = 10_000;
/** What `wg` says of thousands of peers. */
const MAX_OUTPUT = 8 << 20;
/** As the kernel has it, without what a path or an option begins with. */
const INTERFACE = /^[A-Za-z0-9_=+][A-Za-z0-9_=+.-]{0,14}$/;

export interface WireguardPeer {
  /** Public key in base64. */
  readonly key: string;
  /** `10.80.0.2/32`. */
  readonly ips: readonly string[];
}

/** `wg` could not do it: what a user can do about it is in the message. */
export class WgError extends Error {
  override readonly name = 'WgError';
}

export function isInterfaceName(name: string): boolean {
  return INTERFACE.test(name);
}

/** What a keeper needs of an interface. */
export interface PeerTable {
  /** Changes when the interface is made again; '' where that can't be known. */
  instance(): Promise<string>;
  /** Its peers, with their networks in order. Throws WgError. */
  peers(): Promise<Map<string, readonly string[]>>;
  /** Adds peers, or gives those that are there these networks. Throws WgError. */
  put(peers: readonly WireguardPeer[]): Promise<void>;
  /** Throws WgError. */
  remove(key: string): Promise<void>;
}

export class Wg implements PeerTable {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  async instance(): Promise<string> {
    try {
      const [boot, index] = await Promise.all([
        readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
        readFile(`/sys/class/net/${this.#name}/ifindex`, 'utf8'),
      ]);
      return `${boot.trim()}:${index.trim()}`;
    } catch {
      return ''; // no /proc or /sys: then a restart of the interface is not seen
    }
  }

  async peers(): Promise<Map<string, readonly string[]>> {
    const text = await this.#run(['show', this.#name, 'allowed-ips']);
    const lines = text.split('\n').filter((line) => line !== '');
    return new Map(
      lines.map((line) => {
        const [key = '', ips = ''] = line.split('\t');
        return [key, ips === '(none)' ? [] : ips.split(' ')];
      }),
    );
  }

  async put(peers: readonly WireguardPeer[]): Promise<void> {
    const sections = peers.map(({ key, ips }) => `[Peer]\nPublicKey = ${key}\nAllowedIPs = ${ips.join(', ')}\n`);
    // A file, because the standard input that Node gives a child is a socket, which can't be opened by its name.
    const folder = await mkdtemp(join(tmpdir(), 'culvert-wg-'));
    try {
      const file = join(folder, 'peers.conf');
      await writeFile(file, sections.join(''), { mode: 0o600 });
      await this.#run(['addconf', this.#name, file]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async remove(key: string): Promise<void> {
    await this.#run(['set', this.#name, 'peer', key, 'remove']);
  }

  #run(args: readonly string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = { timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT, encoding: 'utf8' as const };
      execFile('wg', args, options, (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new WgError(explain(this.#name, error, stderr), { cause: error }));
      });
    });
  }
}

function explain(name: string, error: Error, said: string): string {
  if (codeOf(error) === 'ENOENT') return '`wg` is missing. Install wireguard-tools';
  if (/not permitted|permission denied/i.test(said))
    return `no permission to change ${name}. Run as root, or with CAP_NET_ADMIN`;
  if (/access interface: (no such device|(protocol|operation) not supported)$/im.test(said))
    return `there is no WireGuard interface ${name}. Start it: sudo wg-quick up ${name}`;
  const [line = ''] = said.trim().split('\n');
  return `wg failed for ${name}: ${line === '' ? error.message : line}`;
}
