/** While the server runs: do its public names lead to it, through the DNS and its own listeners? */
import { DAY_MS } from '../../base/clock.ts';
import { codeOf, messageOf } from '../../base/errors.ts';
import { formatHost } from '../../base/net/addr.ts';
import { type Check, fail, ok, warn, sentence } from './check.ts';
import type { System } from './system.ts';

const DISCOVERY = '/.well-known/culvert';
const CERTIFICATE_WARN_MS = 3 * DAY_MS;

export interface ReachQuestion {
  /** `api.public_url`. */
  readonly apiUrl: URL;
  /** The server that should respond. */
  readonly serverId: string;
}

type Net = Pick<System, 'addresses' | 'visit'>;

/** Asks the dashboard's address for the server's own id, at each address that the DNS has. */
export async function checkOutsideApi(system: Net, { apiUrl, serverId }: ReachQuestion): Promise<Check> {
  const name = 'outside_api';
  const url = new URL(apiUrl.pathname.replace(/\/+$/, '') + DISCOVERY, apiUrl);
  return eachAddress(system, { name, url }, ({ status, body }) => {
    if (status !== 200) return `responds with ${status}`;
    return idIn(body) === serverId ? undefined : 'is another server';
  });
}

/** Asks the edge for a tunnel that does not exist: only a Culvert edge says so in its own words. */
export async function checkOutsideEdge(system: Net, url: URL): Promise<Check> {
  const name = 'outside_edge';
  return eachAddress(system, { name, url }, ({ status, headers }) =>
    headers['culvert-error'] === undefined ? `responds with ${status}, and not as a Culvert edge` : undefined,
  );
}

/** `judge` says what is wrong with a response; undefined: nothing. */
async function eachAddress(
  system: Net,
  { name, url }: { readonly name: string; readonly url: URL },
  judge: (visited: Awaited<ReturnType<System['visit']>>) => string | undefined,
): Promise<Check> {
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const addresses = await addressesOf(system, url.hostname);
  if (addresses.length === 0) {
    return fail(name, `${url.hostname} has no address.`, `Add an A record for ${url.hostname} that points here.`);
  }
  for (const host of addresses) {
    const where = `${url.origin} at ${formatHost(host)}`;
    try {
      const wrong = judge(await system.visit(url, { host, port }));
      if (wrong === undefined) continue;
      return fail(name, `${where} ${wrong}.`, 'Check the DNS records, and the proxy or port forwarding in front.');
    } catch (error) {
      return fail(
        name,
        `${where} does not respond: ${sentence(codeOf(error) ?? messageOf(error))}`,
        `Open TCP port ${port} in the firewall of this machine and of your provider.`,
      );
    }
  }
  return ok(name, `${url.origin} leads to this server (${addresses.join(', ')}).`);
}

async function addressesOf(system: Pick<System, 'addresses'>, host: string): Promise<readonly string[]> {
  // *.localhost reaches this machine in every browser, with no DNS entry.
  if (host === 'localhost' || host.endsWith('.localhost')) return ['127.0.0.1'];
  if (/^[\d.]+$|:/.test(host.replace(/^\[|\]$/g, ''))) return [host.replace(/^\[|\]$/g, '')];
  const found = await Promise.allSettled(([4, 6] as const).map((family) => system.addresses(host, family)));
  return found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
}

function idIn(body: string): string | undefined {
  try {
    const { server_id: id } = JSON.parse(body) as { server_id?: unknown };
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined; // no JSON: another server
  }
}

/** The certificate that visitors of the dashboard get. */
export async function checkCertificate(
  system: Pick<System, 'addresses' | 'handshake' | 'now'>,
  apiUrl: URL,
): Promise<Check> {
  const name = 'certificate';
  if (apiUrl.protocol !== 'https:') return ok(name, `${apiUrl.origin} is not served over HTTPS.`);
  const port = Number(apiUrl.port || 443);
  const [host] = await addressesOf(system, apiUrl.hostname);
  if (host === undefined) return fail(name, `${apiUrl.hostname} has no address.`, 'Add its A record.');
  const next = 'Run `culvert admin certificates` for the last error of the authority.';
  try {
    const shown = await system.handshake({ host, port }, apiUrl.hostname);
    if (shown.isSelfSigned || !shown.isForHost)
      return fail(name, `${apiUrl.host} shows no certificate of its own yet.`, next);
    if (!shown.isTrusted) return fail(name, `Clients don't trust ${apiUrl.host}: ${sentence(shown.reason)}`, next);
    const end = new Date(shown.expiresAt).toISOString();
    if (shown.expiresAt - system.now() < CERTIFICATE_WARN_MS)
      return warn(name, `The certificate of ${apiUrl.host} expires on ${end}.`, next);
    return ok(name, `The certificate of ${apiUrl.host} is valid until ${end}.`);
  } catch (error) {
    return fail(name, `No TLS handshake with ${apiUrl.host}: ${sentence(codeOf(error) ?? messageOf(error))}`, next);
  }
}
