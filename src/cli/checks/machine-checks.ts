/** What the server needs of its machine: the time, disk, file descriptors, IPv6. */
import { messageOf } from '../../base/errors.ts';
import { isPublicAddress } from '../../base/net/public-address.ts';
import { sizeText } from '../../base/process/disk-space.ts';
import { type Check, fail, ok, warn, sentence } from './check.ts';
import type { System } from './system.ts';

/** Tokens and certificates are compared with the clock by the second and by the minute. */
const SKEW_WARN_MS = 30_000;
const SKEW_FAIL_MS = 5 * 60_000;
const SET_CLOCK = 'Turn on time synchronization: timedatectl set-ntp true';

export interface ClockQuestion {
  /** A server whose clock can be trusted; its responses are dated. */
  readonly url: URL;
  readonly caFile: string | null;
}

export async function checkClock(
  system: Pick<System, 'remoteTime' | 'now'>,
  { url, caFile }: ClockQuestion,
): Promise<Check> {
  const name = 'clock';
  let theirs: number;
  try {
    theirs = await system.remoteTime(url, caFile);
  } catch (error) {
    const reason = messageOf(error);
    // A wrong clock makes every certificate invalid.
    if (/not yet valid|has expired|CERT_(NOT_YET_VALID|HAS_EXPIRED)/i.test(reason)) {
      return fail(name, `The certificate of ${url.host} is not valid by the clock of this machine.`, SET_CLOCK);
    }
    return warn(
      name,
      `No time from ${url.host}: ${sentence(reason)}`,
      'Check that this machine can open connections to the internet on port 443.',
    );
  }
  const skew = Math.abs(theirs - system.now());
  const seconds = Math.round(skew / 1_000);
  if (skew < SKEW_WARN_MS) return ok(name, `The clock agrees with ${url.host}.`);
  const detail = `The clock differs from that of ${url.host} by ${seconds} s.`;
  return skew < SKEW_FAIL_MS ? warn(name, detail, SET_CLOCK) : fail(name, detail, SET_CLOCK);
}

const MB = 1024 * 1024;
const DISK_FAIL = 200 * MB;
const DISK_WARN = 1_024 * MB;

export async function checkDisk(system: Pick<System, 'space'>, folder: string): Promise<Check> {
  const name = 'disk_space';
  try {
    const { free, total } = await system.space(folder);
    if (total === 0) return ok(name, `The file system of ${folder} does not say how much is free.`);
    const detail = `${sizeText(free)} of ${sizeText(total)} are free on the disk of ${folder}.`;
    const next = 'Free space, or set data_dir to a folder on a larger disk.';
    if (free < DISK_FAIL) return fail(name, detail, next);
    return free < DISK_WARN ? warn(name, detail, next) : ok(name, detail);
  } catch (error) {
    return fail(name, `The disk of ${folder} can't be read: ${sentence(messageOf(error))}`, 'Correct data_dir.');
  }
}

/** Visitors, agents and the database together; the server logs a lower limit at its start. */
export const FEW_DESCRIPTORS = 4_096;

/** `unit`: the limit of the service is that of its unit, not of this process. */
export function checkDescriptors(system: Pick<System, 'descriptorLimit'>, unitLimit: number | null): Check {
  const name = 'file_descriptors';
  const limit = unitLimit ?? system.descriptorLimit();
  if (limit === null) return ok(name, 'The system does not say how many files a process may open.');
  const detail = `The server may open ${limit} files and sockets.`;
  if (limit >= FEW_DESCRIPTORS) return ok(name, detail);
  return warn(name, detail, `Raise the limit to at least ${FEW_DESCRIPTORS}: ulimit -n, or LimitNOFILE= of the unit.`);
}

/** Undefined: the machine has IPv6; else the code of the error. On `::` the server would fall back to IPv4 without an error. */
export function tryIpv6(system: Pick<System, 'tryListen'>): Promise<string | undefined> {
  return system.tryListen({ host: '::1', port: 0 });
}

/** `::` serves both families. Without IPv6 in the system it can't be bound. */
export async function checkIpv6(system: Pick<System, 'tryListen' | 'ownAddresses'>): Promise<Check> {
  const name = 'ipv6';
  const code = await tryIpv6(system);
  if (code !== undefined) {
    return warn(
      name,
      `IPv6 is off on this machine (${code}), so visitors come by IPv4 alone.`,
      'Turn it on if your provider gives you an address: sysctl net.ipv6.conf.all.disable_ipv6=0',
    );
  }
  const address = system.ownAddresses().find((one) => one.includes(':') && isPublicAddress(one));
  return ok(
    name,
    address === undefined
      ? 'This machine has no public IPv6 address. Visitors come by IPv4.'
      : `Visitors can come by IPv6 to ${address}.`,
  );
}
