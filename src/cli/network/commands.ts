/** The part of the table of commands that manages private networks. The rest is in commands.ts. */
import type { CommandSpec } from '../terminal/command.ts';
import { NETWORK_OPTIONS } from '../terminal/network-options.ts';

const BASE = [
  ['--server <url>', 'URL of the Culvert server (CULVERT_SERVER)'],
  ...NETWORK_OPTIONS,
  ['--json', 'print the response as JSON'],
] as const;
const YES = ['--yes', 'skip the confirmation; required without a terminal'] as const;
const DNS = ['--dns <list>', 'name servers for devices: up to three addresses, or none'] as const;
const ROUTED = 'networks that devices reach through this network (0.0.0.0/0: all traffic), or networks behind a device';
const EXTRA = '--extra-allowed-ips <list>';
const KEY_FILE = ['--key-file <file>', 'file with its private key or configuration; - is standard input'] as const;
const PUBLIC_KEY = ['--public-key <key>', 'its public key, if the private key is on another machine'] as const;
const EXPIRES = ['--expires <time>', 'access ends after 12h or 30d, at a time (2027-01-31T18:00Z) or never'] as const;
const OUTPUT = [
  ['--output <file>', 'write the configuration to this file (mode 0600), with the private key if known'],
  ['--force', 'replace that file'],
] as const;
const QR = [
  OUTPUT[0],
  ['--qr', 'print a QR code for the WireGuard app'],
  ['--force', 'replace that file; print the QR code even if it does not fit'],
] as const;

export const NETWORK_COMMANDS: readonly CommandSpec[] = [
  {
    usage: 'network list',
    isDefault: true,
    summary: 'List private networks',
    examples: ['network list'],
    options: BASE,
    load: async () => (await import('./network.ts')).networkList,
  },
  {
    usage: 'network create <name>',
    summary: 'Create a private network: WireGuard between your machines',
    examples: ['network create office --cidr 10.8.0.0/24'],
    options: [['--cidr <network>', 'address range (default: a free /24 of 10.0.0.0/8)'], ...BASE],
    load: async () => (await import('./network.ts')).networkCreate,
  },
  {
    usage: 'network show <network>',
    summary: 'Show a network (name or ID), its server and its relay',
    examples: ['network show office'],
    options: BASE,
    load: async () => (await import('./network.ts')).networkShow,
  },
  {
    usage: 'network edit <network> [device]',
    summary: 'Change a network (name or ID) or one of its devices',
    examples: ['network edit office --dns 10.8.0.1'],
    options: [['--name <name>', 'new name'], DNS, [EXTRA, ROUTED], EXPIRES, ...BASE],
    load: async () => (await import('./network.ts')).networkEdit,
  },
  {
    usage: 'network delete <network>',
    summary: 'Delete a network with its devices',
    examples: ['network delete office'],
    options: [YES, ...BASE],
    load: async () => (await import('./network.ts')).networkDelete,
  },
  {
    usage: 'network set-server <network>',
    summary: "Register the network's server by its public key",
    examples: ['network set-server office --generate --output wg0.conf'],
    options: [
      ['--generate', 'create a key on this machine'],
      KEY_FILE,
      PUBLIC_KEY,
      ['--port <port>', 'its WireGuard port (default: 51820)'],
      ['--endpoint <host:port>', 'devices connect to this address directly, without the relay'],
      ['--relay', 'devices connect through the relay again'],
      ...OUTPUT,
      YES,
      ...BASE,
    ],
    load: async () => (await import('./server.ts')).networkSetServer,
  },
  {
    usage: 'network devices <network>',
    summary: 'List devices of a network with handshakes and traffic',
    examples: ['network devices office'],
    options: BASE,
    load: async () => (await import('./devices.ts')).networkDevices,
  },
  {
    usage: 'network enroll <network> <device>',
    summary: 'Add a device and print its configuration',
    examples: ['network enroll office phone --qr'],
    options: [KEY_FILE, PUBLIC_KEY, EXPIRES, [EXTRA, 'networks behind the device: 192.168.9.0/24,…'], ...QR, ...BASE],
    load: async () => (await import('./devices.ts')).networkEnroll,
  },
  {
    usage: 'network config <network> [device]',
    summary: "Print the configuration of a device (name, address or ID) or of the network's server",
    examples: ['network config office laptop --output wg0.conf'],
    options: [KEY_FILE, ...QR, ...BASE],
    load: async () => (await import('./config.ts')).networkConfig,
  },
  {
    usage: 'network revoke <network> <device>',
    summary: 'Block a device immediately (name, address or ID)',
    examples: ['network revoke office phone'],
    options: [YES, ...BASE],
    load: async () => (await import('./devices.ts')).networkRevoke,
  },
];
