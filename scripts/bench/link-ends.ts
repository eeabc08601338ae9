/** Two network namespaces and a link between them (native/linkemu.c): delay, loss and rate of a network. Needs root and the program ip. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Bench } from './bench.ts';
import type { Processes } from './processes.ts';

export const NEAR_ADDRESS = '10.98.0.1';
export const FAR_ADDRESS = '10.98.0.2';

/** Names of namespaces: the server's, and the other end of the link. */
export interface Ends {
  readonly near: string;
  readonly far: string;
}

/** Names of this run's. */
export function endsOf(): Ends {
  return { near: `culvert-bench-s${process.pid}`, far: `culvert-bench-a${process.pid}` };
}

/**
 * Connections take the congestion control of their namespace. Reno stands for all that slow down at every loss: cubic does
 * the same at this round trip, but is not open to a namespace unless the whole machine is reconfigured.
 */
export async function addNamespaces(processes: Processes, ends: Ends, congestion: 'reno' | undefined): Promise<void> {
  const must = async (command: readonly string[], netns?: string): Promise<void> => {
    const outcome = await processes.run(command, { netns });
    if (outcome.code !== 0) throw new Error(`${command.join(' ')}: ${outcome.stderr.trim()}`);
  };
  for (const name of [ends.near, ends.far]) {
    await must(['ip', 'netns', 'add', name]);
    if (congestion === undefined) continue;
    await must(['sh', '-c', `echo ${congestion} > /proc/sys/net/ipv4/tcp_congestion_control`], name);
  }
}

export function removePresent(ends: Ends, ip: string): void {
  for (const name of [ends.near, ends.far]) {
    if (existsSync(`/run/netns/${name}`)) execFileSync(ip, ['netns', 'del', name]);
  }
}

/** Joins the namespaces by a link; `words` say how it is. */
export async function startLink({ processes, tools }: Bench, ends: Ends, words: readonly string[]): Promise<void> {
  processes.start('linkemu', [
    ...[tools.program('linkemu'), ends.near, `${NEAR_ADDRESS}/30`, ends.far, `${FAR_ADDRESS}/30`],
    ...words,
  ]);
  await processes.waitForOutput('linkemu', /ready/);
}
