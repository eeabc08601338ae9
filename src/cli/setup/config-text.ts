/** The settings file that `culvert setup` writes: short, closed to strangers, nothing sold. All other keys keep their defaults. */

export interface ConfigWishes {
  readonly domain: string;
  readonly email: string | null;
  readonly dataDir: string;
  readonly behindProxy: boolean;
  /** Program that sets TXT records, for one wildcard certificate. */
  readonly dnsHook: string | null;
  /** Public ports of tcp tunnels and relays take both families; false: the system has no IPv6. */
  readonly ipv6: boolean;
  /** Another ACME server than Let's Encrypt. */
  readonly acmeDirectory: string | null;
  readonly acmeCaFile: string | null;
}

/** Owner of a server that was set up without an address, and of one whose settings name none. */
export const NO_EMAIL_OWNER = 'admin@localhost';

const ownerOf = ({ email }: Pick<ConfigWishes, 'email'>): string => email ?? NO_EMAIL_OWNER;

export const apiHostOf = (domain: string): string => `culvert.${domain}`;

/** The whole file. */
export function configText(wishes: ConfigWishes): string {
  const body = [...head(wishes), ...(wishes.behindProxy ? behindProxy(wishes) : direct(wishes)), ...tail(wishes)];
  return `${[HEADING, ...body].join('\n')}\n`;
}

const HEADING = '# Written by culvert setup. Edit it as you like: setup asks before it replaces settings that differ.';

const quoted = (text: string): string => JSON.stringify(text);

function head({ dataDir }: ConfigWishes): string[] {
  return [`data_dir = ${quoted(dataDir)}`, ''];
}

function direct({ domain, email, dnsHook, ipv6, acmeDirectory, acmeCaFile }: ConfigWishes): string[] {
  const acme = [
    ...(email === null ? [] : [`email = ${quoted(email)}`]),
    ...(acmeDirectory === null ? [] : [`directory_url = ${quoted(acmeDirectory)}`]),
    ...(acmeCaFile === null ? [] : [`ca_file = ${quoted(acmeCaFile)}`]),
    ...(dnsHook === null ? [] : ['challenge = "dns-01"', `dns_hook = ${quoted(dnsHook)}`]),
  ];
  return [
    '[edge]',
    `domain = ${quoted(domain)}              # tunnels are *.${domain}`,
    'http_listen = ":80"',
    'https_listen = ":443"',
    'https_redirect = true',
    ...publicPorts(ipv6),
    '',
    '[edge.tls]',
    'mode = "acme"                    # certificates of an authority; you accept its terms',
    ...(acme.length === 0 ? [] : ['', '[acme]', ...acme]),
    '',
    ...apiAndAgents(domain),
  ];
}

function publicPorts(ipv6: boolean): string[] {
  const host = ipv6 ? '::' : '0.0.0.0';
  return [`tcp_host = "${host}"`, `udp_host = "${host}"`];
}

/** Dashboard, API and agents share port 443 with visitors. */
function apiAndAgents(domain: string): string[] {
  return [
    '[api]',
    `public_url = "https://${apiHostOf(domain)}"`,
    '',
    '[agents]',
    'listen = ""                      # agents come to edge.https_listen',
  ];
}

function behindProxy({ domain, ipv6 }: ConfigWishes): string[] {
  const host = apiHostOf(domain);
  return [
    '[edge]',
    `domain = ${quoted(domain)}              # tunnels are *.${domain}`,
    'http_listen = "127.0.0.1:8080"   # the proxy sends *.DOMAIN here, with the visitor in X-Forwarded-For',
    `public_url = "https://{subdomain}.${domain}"`,
    ...publicPorts(ipv6),
    '',
    '[api]',
    `listen = "127.0.0.1:9090"        # the proxy sends ${host} here`,
    `public_url = "https://${host}"`,
    'trusted_proxies = ["127.0.0.0/8", "::1/128"]',
    '',
    '[agents]',
    'listen = ":7443"                 # not behind the proxy: agents speak TLS to the server itself',
    `public_address = "${host}:7443"`,
  ];
}

function tail(wishes: ConfigWishes): string[] {
  return [
    '',
    '[accounts]',
    'signup = "closed"                # only operators create accounts',
    `owner = ${quoted(ownerOf(wishes))}`,
    '',
    '[billing]',
    'mode = "none"                    # nothing is sold',
    '',
    '[plans]',
    'default = "enterprise"           # no plan limits',
  ];
}
