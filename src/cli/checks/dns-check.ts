/** Do the names of the server lead to this machine? A and AAAA records, and the wildcard for tunnels. */
import { canonicalIp } from '../../base/net/addr.ts';
import { messageOf } from '../../base/errors.ts';
import { isPublicAddress } from '../../base/net/public-address.ts';
import { type Check, fail, ok, warn, sentence } from './check.ts';
import type { System } from './system.ts';

export interface NamesToCheck {
  readonly domain: string;
  /** Host of the dashboard and the API. */
  readonly apiHost: string;
  /** A random name below the domain: only a wildcard record has it. */
  readonly probe: string;
  /** TLS ends at a proxy: the names lead there, not to this machine. */
  readonly behindProxy: boolean;
}

type Dns = Pick<System, 'addresses' | 'ownAddresses'>;

/** One check per name. */
export async function checkDns(system: Dns, names: NamesToCheck): Promise<Check[]> {
  const { domain, apiHost, probe, behindProxy } = names;
  const shown: ReadonlyArray<readonly [name: string, host: string, record: string]> = [
    ['dns_domain', domain, domain],
    ['dns_dashboard', apiHost, apiHost],
    ['dns_wildcard', probe, `*.${domain}`],
  ];
  return Promise.all(shown.map(([name, host, record]) => checkName(system, { name, host, record, behindProxy })));
}

interface Asked {
  readonly name: string;
  readonly host: string;
  /** As the operator writes it at their DNS provider. */
  readonly record: string;
  readonly behindProxy: boolean;
}

async function checkName(system: Dns, { name, host, record, behindProxy }: Asked): Promise<Check> {
  const own = own4and6(system);
  let found: string[];
  try {
    found = (await Promise.all(([4, 6] as const).map((family) => system.addresses(host, family)))).flat();
  } catch (error) {
    return fail(
      name,
      `The DNS lookup of ${record} failed: ${sentence(messageOf(error))}`,
      'Check the DNS servers of this machine (/etc/resolv.conf) and its connection to the internet.',
    );
  }
  const wanted = behindProxy ? 'the address of your proxy' : own.all.join(' and ') || 'this machine';
  if (found.length === 0) {
    return fail(name, `${record} has no A or AAAA record.`, `Add a record for ${record} that points at ${wanted}.`);
  }
  const list = found.join(', ');
  if (behindProxy) return ok(name, `${record} leads to ${list}.`);
  const away = found.filter((address) => !own.has(address));
  if (away.length === 0) return missing(name, record, { found, own });
  if (away.every((address) => !own.isPublicIn(address))) {
    return warn(
      name,
      `${record} leads to ${list}, and this machine has no public address of that kind (it is behind NAT).`,
      `Make sure that ${away.join(' and ')} forwards ports 80 and 443 to this machine.`,
    );
  }
  return fail(
    name,
    `${record} leads to ${away.join(' and ')}, which is not this machine.`,
    `Point its ${away.some((address) => address.includes(':')) ? 'AAAA' : 'A'} record at ${wanted}, or remove the wrong record.`,
  );
}

/** All found addresses are this machine's; one family may lack its record. */
function missing(name: string, record: string, { found, own }: { found: string[]; own: Own }): Check {
  const list = found.join(' and ');
  const six = own.all.find((address) => address.includes(':') && isPublicAddress(address));
  if (six !== undefined && !found.some((address) => address.includes(':'))) {
    return warn(
      name,
      `${record} leads to ${list}, and has no AAAA record for IPv6.`,
      `Add an AAAA record for ${record} with ${six}.`,
    );
  }
  return ok(name, `${record} leads to ${list}.`);
}

interface Own {
  readonly all: readonly string[];
  has(address: string): boolean;
  /** This machine has a public address of the same family. */
  isPublicIn(address: string): boolean;
}

/** The addresses that visitors can come to: the public ones, or all where there are none. */
function own4and6(system: Pick<System, 'ownAddresses'>): Own {
  const every = system.ownAddresses();
  const forms = new Set(every.map((address) => canonicalIp(address)));
  const known = every.filter(isPublicAddress);
  return {
    all: known.length > 0 ? known : every.filter((address) => !/^f[cd]/i.test(address)),
    has: (address) => forms.has(canonicalIp(address)),
    isPublicIn: (address) => known.some((one) => one.includes(':') === address.includes(':')),
  };
}
