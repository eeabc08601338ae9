/** `--manage` of `culvert udp`, and the key `manage`: the interface whose peers the agent keeps in step. */
import { isInterfaceName, Wg, WgError } from '../../agent/relay/peers/wg.ts';
import type { ManagedInterface } from '../../agent/relay/spec.ts';
import { stateFolder } from '../../config/known-servers.ts';
import { EXIT, ExitError } from '../terminal/exit.ts';

/** Why it can't be one; undefined: it can. */
export function manageFault(name: string, platform: NodeJS.Platform = process.platform): string | undefined {
  if (!isInterfaceName(name)) return `${JSON.stringify(name)} is not a valid interface name. Use a name such as wg0`;
  if (platform !== 'linux') return 'works on Linux only';
  return undefined;
}

export function managed(name: string, env: NodeJS.ProcessEnv): ManagedInterface {
  return { name, folder: stateFolder(env) };
}

/** At the start: later the agent goes on, says what is wrong and tries again. @throws ExitError when it can't be managed. */
export async function requireInterface(name: string): Promise<void> {
  try {
    await new Wg(name).peers();
  } catch (error) {
    if (!(error instanceof WgError)) throw error;
    throw new ExitError(EXIT.failure, `--manage: ${error.message}`, { cause: error });
  }
}
