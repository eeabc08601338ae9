/** What setup checks before it writes anything: the names, ports and machine that the server will have. */
import { randomBytes } from 'node:crypto';
import { checkServerConfig } from '../../config/load.ts';
import { checkCaa } from '../checks/caa-check.ts';
import type { Check } from '../checks/check.ts';
import { checkDns } from '../checks/dns-check.ts';
import { listenersOf } from '../checks/listeners.ts';
import { checkClock, checkDescriptors, checkDisk, checkIpv6 } from '../checks/machine-checks.ts';
import { checkFreePorts } from '../checks/port-check.ts';
import type { System } from '../checks/system.ts';
import type { SetupArguments } from './arguments.ts';
import { apiHostOf } from './config-text.ts';

/** Of LimitNOFILE= in the unit. */
const UNIT_DESCRIPTORS = 131_072;

export interface CheckSetting {
  /** The settings file as it will be. */
  readonly text: string;
  /** This server holds its ports already. */
  readonly isRunning: boolean;
  /** A unit starts it, with limits of its own. */
  readonly hasUnit: boolean;
}

export async function setupChecks(system: System, wishes: SetupArguments, setting: CheckSetting): Promise<Check[]> {
  const { domain, behindProxy, dnsHook, dataDir, root } = wishes;
  const { settings } = checkServerConfig(setting.text, wishes.file);
  const apiHost = apiHostOf(domain);
  const probe = `culvert-check-${randomBytes(4).toString('hex')}.${domain}`;
  const { directory_url: directoryUrl, ca_file: caFile } = settings.acme;
  const caa = behindProxy ? [] : [checkCaa(system, { host: apiHost, directoryUrl, wildcard: dnsHook !== null })];
  const parts = await Promise.all([
    checkDns(system, { domain, apiHost, probe, behindProxy }),
    checkFreePorts(system, listenersOf(settings), setting.isRunning),
    checkIpv6(system).then((check) => [check]),
    Promise.all(caa),
    checkClock(system, { url: new URL(directoryUrl), caFile }).then((check) => [check]),
    checkDisk(system, root + dataDir).then((check) => [check]),
  ]);
  return [...parts.flat(), checkDescriptors(system, setting.hasUnit ? UNIT_DESCRIPTORS : null)];
}
