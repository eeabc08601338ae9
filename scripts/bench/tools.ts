/**
 * The programs that the benchmark needs from the machine: finds them, installs what is missing from Debian when it may,
 * and compiles the benchmark's own C programs. Called once, by run.ts.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Processes } from './processes.ts';
import { say } from './report/progress.ts';

const DEBIAN_PACKAGE = {
  nginx: 'nginx-light',
  haproxy: 'haproxy',
  wrk: 'wrk',
  sshd: 'openssh-server',
  ssh: 'openssh-client',
  'ssh-keygen': 'openssh-client',
  gcc: 'gcc',
  curl: 'curl',
  openssl: 'openssl',
  h2load: 'nghttp2-client',
  ip: 'iproute2',
  'wireguard-go': 'wireguard-go',
  wg: 'wireguard-tools',
  iperf3: 'iperf3',
  ping: 'iputils-ping',
} as const;
type Tool = keyof typeof DEBIAN_PACKAGE;

/** Without these there is no measurement at all. */
const REQUIRED: readonly Tool[] = ['wrk', 'gcc', 'curl', 'openssl'];
const PROGRAMS = ['origin', 'idle', 'events', 'linkemu', 'storm', 'datagrams', 'visitors', 'burn'] as const;
type Program = (typeof PROGRAMS)[number];

export interface Tools {
  /** Path of a tool of the machine, or undefined. */
  find(tool: Tool): string | undefined;
  /** Path of a compiled program of `native/`. */
  program(name: Program): string;
  /** Path of the library that makes the disk of a process slow (native/slow-disk.c). */
  readonly slowDisk: string;
}

/** Finds the tools, installing what is missing as root on Debian. Throws when a required one can't be had. */
export async function prepareTools(processes: Processes, mayInstall: boolean): Promise<Tools> {
  const missing = (): Tool[] => tools().filter((tool) => findInPath(tool) === undefined);
  if (missing().length > 0 && mayInstall) await install(processes, missing());
  for (const tool of missing()) {
    say(`${tool} is not here (Debian package ${DEBIAN_PACKAGE[tool]}): what needs it is skipped`);
  }
  const lacking = REQUIRED.filter((tool) => findInPath(tool) === undefined);
  if (lacking.length > 0) throw new Error(`the benchmark can't run without ${lacking.join(', ')}`);
  for (const name of PROGRAMS) await compile(processes, { name, to: name, flags: [] });
  const slowDisk = 'slow-disk.so';
  await compile(processes, { name: 'slow-disk', to: slowDisk, flags: ['-shared', '-fPIC'] });
  const at = (name: string): string => join(processes.folder, name);
  return { find: findInPath, program: at, slowDisk: at(slowDisk) };
}

function tools(): Tool[] {
  return Object.keys(DEBIAN_PACKAGE) as Tool[];
}

/** Where a program is, in PATH or where Debian keeps those for the administrator. */
export function findInPath(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

async function install(processes: Processes, missing: readonly Tool[]): Promise<void> {
  if (process.getuid?.() !== 0 || findInPath('apt-get') === undefined) return;
  const packages = [...new Set(missing.map((tool) => DEBIAN_PACKAGE[tool]))];
  say(`installing ${packages.join(' ')}`);
  const allowServices = forbidServices();
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  const command = ['apt-get', 'install', '-y', '--no-install-recommends', ...packages];
  try {
    let outcome = await processes.run(command, { env, timeoutMs: 600_000 });
    if (outcome.code !== 0) {
      await processes.run(['apt-get', 'update'], { env, timeoutMs: 600_000 });
      outcome = await processes.run(command, { env, timeoutMs: 600_000 });
    }
    if (outcome.code !== 0) say(`apt-get failed: ${outcome.stderr.trim().split('\n').at(-1)}`);
  } finally {
    allowServices();
  }
}

/** Keeps Debian from starting an nginx on port 80 or an sshd on port 22 of this machine just because we measure with them. */
function forbidServices(): () => void {
  const policy = '/usr/sbin/policy-rc.d';
  if (existsSync(policy)) return () => undefined;
  writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  return () => rmSync(policy, { force: true });
}

async function compile(
  processes: Processes,
  { name, to, flags }: { readonly name: string; readonly to: string; readonly flags: readonly string[] },
): Promise<void> {
  const source = join(import.meta.dirname, 'native', `${name}.c`);
  const outcome = await processes.run(['gcc', '-O2', ...flags, '-o', join(processes.folder, to), source]);
  if (outcome.code !== 0) throw new Error(`${name}.c does not compile: ${outcome.stderr}`);
}
