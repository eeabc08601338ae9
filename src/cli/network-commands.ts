/** The part of the table of commands that manages private networks. The rest is in commands.ts. */
import type { CommandSpec } from './command.ts';

const BASE = [
  ['--server <url>', 'the Culvert server (CULVERT_SERVER)'],
  ['--json', "the server's answer as JSON"],
] as const;
const YES = ['--yes', 'do not ask; needed where there is no terminal to ask on'] as const;
const DNS = ['--dns <list>', 'name servers that clients use: up to three addresses, or none'] as const;
const ROUTED =
  'of a network: what devices send through it beside its own addresses (0.0.0.0/0: everything); of a device: the networks behind it';
const EXTRA = '--extra-allowed-ips <list>';
const KEY_FILE = [
  '--key-file <file>',
  'its private key, of `wg genkey` or in a configuration; - is standard input',
] as const;
const PUBLIC_KEY = ['--public-key <key>', 'its public key, where the private one is on another machine'] as const;
const EXPIRES = ['--expires <time>', 'when it is shut out: 12h, 30d, a time (2027-01-31T18:00Z), or never'] as const;
const OUTPUT = [
  ['--output <file>', 'write the configuration to this file (0600), with the private key where that is known here'],
  ['--force', 'replace that file'],
] as const;
const QR = [
  OUTPUT[0],
  ['--qr', 'show the configuration as a QR code, for the WireGuard app'],
  ['--force', 'replace that file; draw the code wherever it goes and whether it fits or not'],
] as const;

export const NETWORK_COMMANDS: readonly CommandSpec[] = [
  {
    usage: 'network list',
    isDefault: true,
    summary: 'show the private networks of the organization',
    options: BASE,
    load: async () => (await import('./network.ts')).networkList,
  },
  {
    usage: 'network create <name>',
    summary: 'make a private network: WireGuard among your machines, by way of this server',
    options: [['--cidr <network>', 'its addresses: a free /24 of 10.0.0.0/8 when not given'], ...BASE],
    load: async () => (await import('./network.ts')).networkCreate,
  },
  {
    usage: 'network show <network>',
    summary: 'show a network (name or id), its server, and whether its datagrams are carried',
    options: BASE,
    load: async () => (await import('./network.ts')).networkShow,
  },
  {
    usage: 'network edit <network> [device]',
    summary: 'change a network (name or id), or one of its devices',
    options: [['--name <name>', 'what it is called'], DNS, [EXTRA, ROUTED], EXPIRES, ...BASE],
    load: async () => (await import('./network.ts')).networkEdit,
  },
  {
    usage: 'network delete <network>',
    summary: 'delete a network with its devices',
    options: [YES, ...BASE],
    load: async () => (await import('./network.ts')).networkDelete,
  },
  {
    usage: 'network set-server <network>',
    summary: "say which machine is the network's server, by its public key; the private one stays here",
    options: [
      ['--generate', 'make a key, and print the configuration with it or write it to a file'],
      KEY_FILE,
      PUBLIC_KEY,
      ['--port <port>', 'where its WireGuard listens: 51820 when not given'],
      ['--endpoint <host:port>', 'clients reach it there, past this server'],
      ['--relay', 'clients reach it by this server again'],
      ...OUTPUT,
      YES,
      ...BASE,
    ],
    load: async () => (await import('./network-server.ts')).networkSetServer,
  },
  {
    usage: 'network devices <network>',
    summary: 'show the devices of a network: addresses, last handshakes, traffic',
    options: BASE,
    load: async () => (await import('./network-devices.ts')).networkDevices,
  },
  {
    usage: 'network enroll <network> <device>',
    summary: 'let a device in, with a new key or one of its own, and print its configuration',
    options: [
      KEY_FILE,
      PUBLIC_KEY,
      EXPIRES,
      [EXTRA, 'networks behind the device, which its server sends there: 192.168.9.0/24,…'],
      ...QR,
      ...BASE,
    ],
    load: async () => (await import('./network-devices.ts')).networkEnroll,
  },
  {
    usage: 'network config <network> [device]',
    summary: "print the configuration of a device (name, address or id), or of the network's server",
    options: [KEY_FILE, ...QR, ...BASE],
    load: async () => (await import('./network-config.ts')).networkConfig,
  },
  {
    usage: 'network revoke <network> <device>',
    summary: 'shut a device out at once (name, address or id)',
    options: [YES, ...BASE],
    load: async () => (await import('./network-devices.ts')).networkRevoke,
  },
];
