/**
 * One line about the machine that figures were taken on: without it they can't be compared with anything.
 */
import { readFileSync } from 'node:fs';
import { cpus, loadavg, release } from 'node:os';
import type { Processes } from '../processes.ts';
import { findInPath } from '../tools.ts';

/** Processor, kernel, load before the run, and the versions of what is measured. */
export async function describeMachine(processes: Processes): Promise<string> {
  const processors = cpus();
  const congestion = readFileSync('/proc/sys/net/ipv4/tcp_congestion_control', 'utf8').trim();
  const versions = await Promise.all([
    version(processes, ['nginx', '-v'], /nginx\/([\d.]+)/),
    version(processes, ['haproxy', '-v'], /version ([\d.]+)/i),
    version(processes, ['ssh', '-V'], /OpenSSH_(\S+?),? /),
  ]);
  return [
    `${processors.length} × ${processors[0]?.model.trim() ?? 'unknown processor'}`,
    `Linux ${release()}`,
    `TCP ${congestion}`,
    `load before ${loadavg()[0]?.toFixed(2)}`,
    `Node ${process.version}`,
    ...versions,
  ].join(', ');
}

async function version(processes: Processes, command: readonly string[], pattern: RegExp): Promise<string> {
  const [name, ...args] = command;
  const path = findInPath(name ?? '');
  if (path === undefined) return `no ${name}`;
  const { stdout, stderr } = await processes.run([path, ...args]);
  return `${name} ${pattern.exec(`${stdout}${stderr}`)?.[1] ?? '?'}`;
}
