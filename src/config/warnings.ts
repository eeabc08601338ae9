/**
 * What is said at start about a valid file: values that are likely to be wrong.
 * Called by load.ts.
 */
import { sep } from 'node:path';
import { formatHostPort, isLoopback, isWildcard } from '../base/net/addr.ts';
import { acmeDoubts } from './acme-mode.ts';
import type { ServerFile, Settings } from './schema.ts';

/** Computed values that are likely to be wrong outside of this machine. */
export function likelyWrong(file: ServerFile, settings: Settings): string[] {
  const out: string[] = [];
  if (file.api.public_url === null && isWildcard(file.api.listen.host)) {
    out.push(`api.public_url: not set, so links will start with ${settings.api.public_url}`);
  }
  if (file.agents.public_address === null && file.agents.listen !== null && isWildcard(file.agents.listen.host)) {
    out.push(`agents.public_address: not set, so agents will dial ${settings.agents.public_address}`);
  }
  const { tcp_ports: tcpPorts, tcp_host: tcpHost, http_listen: http, https_listen: https } = file.edge;
  const isPublic = [http, https].some((at) => at !== null && !isLoopback(at.host));
  if (isPublic && tcpPorts !== null && isLoopback(tcpHost)) {
    const instead = 'set the address that visitors come to, e.g. "0.0.0.0", or edge.tcp_ports = "" for no tcp tunnels';
    out.push(`edge.tcp_host: ${tcpHost}, so only this machine can reach tcp tunnels: ${instead}`);
  }
  if (isPublic && file.edge.udp_ports !== null && isLoopback(file.edge.udp_host)) {
    const instead = 'set the address that clients and agents send to, or edge.udp_ports = "" for no relays';
    out.push(`edge.udp_host: ${file.edge.udp_host}, so only this machine can reach private networks: ${instead}`);
  }
  const everyNetwork = file.edge.proxy_protocol_from.find((network) => network.endsWith('/0'));
  if (everyNetwork !== undefined) {
    const instead = 'list only your load balancers, unless no other client can reach these ports';
    out.push(`edge.proxy_protocol_from: ${everyNetwork} lets every client choose its address: ${instead}`);
  }
  const { level } = file.log;
  if (file.mail.transport === 'log' && (level === 'warn' || level === 'error')) {
    const instead = 'set log.level = "info", or have mail sent with mail.transport = "smtp"';
    out.push(`mail.transport: codes and links go to the log, and log.level = "${level}" leaves them out: ${instead}`);
  }
  out.push(...acmeDoubts(file));
  out.push(...backupDoubts(file, settings));
  out.push(...unsold(file), ...unasked(file), ...letsStrangersIn(file, settings));
  const host =
    file.edge.public_url === null ? null : new URL(file.edge.public_url.replace('{subdomain}', 's')).hostname;
  if (host !== null && host !== `s.${file.edge.domain}`) {
    const asks = `the edge serves *.${file.edge.domain}`;
    out.push(
      `edge.public_url: its domain is not edge.domain; ${asks}, so a proxy in front must set Host (${formatEdge(file)})`,
    );
  }
  return out;
}

/** Backups that do not survive what they are made against. */
function backupDoubts(
  { backup: { folder, passphrase_file: passphrase, s3 } }: ServerFile,
  settings: Settings,
): string[] {
  const out: string[] = [];
  if (folder !== null && `${folder}${sep}`.startsWith(`${settings.data_dir}${sep}`))
    out.push('backup.folder: is in data_dir, so both are lost together: set a folder on another disk, or [backup.s3]');
  if (s3.bucket !== null && passphrase === null)
    out.push('backup.s3: backups contain the keys of this server, and are not encrypted: set backup.passphrase_file');
  return out;
}

/** A provider for visitors that is named in the file and lacks its client id or secret. */
function unasked({ edge_auth: { provider }, oauth }: ServerFile): string[] {
  const other = provider === 'google' ? 'github' : 'google';
  const isMeant = provider === 'github' || oauth[other].client_id !== null;
  if (oauth[provider].client_id !== null || !isMeant) return [];
  const instead = `set oauth.${provider}.client_id and client_secret, or edge_auth.provider = "${other}"`;
  return [`edge_auth.provider: "${provider}" is not set up, so visitor login does not work: ${instead}`];
}

/** One table is for both: an operator who sets up a provider for visitors may not want an account for every user of it. */
function letsStrangersIn({ accounts, api, oauth }: ServerFile, settings: Settings): string[] {
  const tables = (['google', 'github'] as const).filter((name) => oauth[name].client_id !== null);
  const isLocal = isLoopback(api.listen.host) && isLoopback(new URL(settings.api.public_url).hostname);
  if (tables.length === 0 || isLocal || accounts.signup === 'closed' || accounts.require_approval) return [];
  const who = tables.map((name) => `oauth.${name}`).join(' and ');
  const instead = 'set "closed", or accounts.require_approval = true';
  return [`accounts.signup: "open" gives an account, and tunnels, to every user of ${who}: ${instead}`];
}

/** What can't be bought although `billing.mode` says that plans are sold. */
function unsold({ billing: { mode, stripe } }: ServerFile): string[] {
  if (mode !== 'stripe') return [];
  const keys = (['secret_key', 'webhook_secret'] as const).filter((key) => stripe[key] === null);
  if (keys.length > 0) {
    const names = keys.map((key) => `billing.stripe.${key}`).join(' and ');
    return [`billing.mode: "stripe" needs ${names}: no plan is sold until then`];
  }
  const prices = Object.entries(stripe.prices);
  const missing = prices.flatMap(([key, id]) => (id === null ? [key] : []));
  const sold =
    missing.length === 0
      ? []
      : [`billing.stripe.prices: ${missing.join(', ')} not set, so users can't buy these plans`];
  const begins: ReadonlyArray<readonly [key: string, value: string | undefined, starts: readonly string[]]> = [
    ['secret_key', stripe.secret_key?.reveal(), ['sk_', 'rk_']],
    ['webhook_secret', stripe.webhook_secret?.reveal(), ['whsec_']],
    ...prices.map(([key, id]) => [`prices.${key}`, id ?? undefined, ['price_']] as const),
  ];
  const odd = begins.filter(([, value, starts]) => value !== undefined && !starts.some((one) => value.startsWith(one)));
  return [
    ...sold,
    ...odd.map(
      ([key, , starts]) =>
        `billing.stripe.${key}: does not start with ${starts.join(' or ')}. Check that you copied the right value from Stripe`,
    ),
  ];
}

function formatEdge({ edge }: ServerFile): string {
  return [edge.http_listen, edge.https_listen].flatMap((at) => (at === null ? [] : [formatHostPort(at)])).join(', ');
}
