/** The command line of `culvert setup`, read and checked. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isHostName } from '../../base/net/addr.ts';
import { usageError } from '../terminal/exit.ts';
import type { Invocation } from '../terminal/command.ts';
import type { ConfigWishes } from './config-text.ts';

export interface SetupArguments extends Omit<ConfigWishes, 'ipv6'> {
  /** In front of every path that is written; empty on the machine itself. */
  readonly root: string;
  /** The settings file, without `root`. */
  readonly file: string;
  /** It is where the unit looks for it. */
  readonly isUsualFile: boolean;
  readonly isDryRun: boolean;
}

export const USUAL_FILE = '/etc/culvert/culvert.toml';
const USUAL_DATA = '/var/lib/culvert';

/** @throws ExitError (usage) that says what to type. */
export function readArguments({ args: [domain], flags }: Invocation, cwd: string): SetupArguments {
  const text = (name: string): string | null => (typeof flags[name] === 'string' ? flags[name] : null);
  const file = resolve(cwd, text('config') ?? USUAL_FILE);
  const root = text('root');
  const hook = text('dnsHook');
  const caFile = text('acmeCaFile');
  const behindProxy = flags['behindProxy'] === true;
  if (behindProxy && hook !== null) throw usageError('--dns-hook has no effect with --behind-proxy. Leave one out');
  const email = text('email');
  if (email !== null && !/^[^\s@<>,?]+@[^\s@<>,?]+$/.test(email))
    throw usageError(`--email: "${email}" is not an email address. Write ann@example.com`);
  const prefix = root === null ? '' : resolve(cwd, root).replace(/\/+$/, '');
  return {
    domain: checkedDomain(domain),
    email,
    behindProxy,
    dnsHook: hook === null ? null : existingFile('--dns-hook', resolve(cwd, hook), prefix),
    acmeDirectory: text('acmeDirectory'),
    acmeCaFile: caFile === null ? null : existingFile('--acme-ca-file', resolve(cwd, caFile), prefix),
    root: prefix,
    file,
    isUsualFile: file === USUAL_FILE,
    dataDir: file === USUAL_FILE ? USUAL_DATA : join(dirname(file), 'data'),
    isDryRun: flags['dryRun'] === true,
  };
}

function checkedDomain(domain: string | undefined): string {
  if (domain === undefined) {
    throw usageError(
      'setup needs your domain: culvert setup example.com --email ann@example.com. To try Culvert on this machine: culvert setup --local',
    );
  }
  const name = domain.toLowerCase().replace(/^\*\./, '');
  if (isHostName(name) && name.includes('.')) return name;
  throw usageError(`"${domain}" is not a domain. Write example.com, without scheme, port or path`);
}

/** Of an image, the file is below its root. */
function existingFile(flag: string, path: string, prefix: string): string {
  if (existsSync(prefix + path)) return path;
  throw usageError(`${flag}: there is no file ${prefix + path}. Correct the path`);
}
