import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { inspect } from 'node:util';
import { ConfigError, checkServerConfig, loadServerConfig } from './load.ts';
import { apiAtEdge } from './one-port.ts';

const folder = mkdtempSync(join(tmpdir(), 'culvert-config-'));
after(() => rmSync(folder, { recursive: true }));
const there = join(folder, 'there.pem');
writeFileSync(there, '');

function messageFor(text: string): string {
  try {
    checkServerConfig(text, 'c.toml');
  } catch (error) {
    assert.ok(error instanceof ConfigError, inspect(error));
    return error.message;
  }
  return 'accepted';
}

// biome-ignore format: a table
/** Each text is refused; one line of the message starts and goes on as given. */
const refused: ReadonlyArray<[name: string, text: string, start: string, says: RegExp]> = [
  ['syntax', 'a = 1\nb =\n', 'c.toml:2: column', /not valid TOML/],
  ['duplicate key', 'data_dir = "a"\ndata_dir = "b"', 'c.toml:2: column', /not valid TOML/],
  ['unknown key', '\n[edge]\ndomian = "x"', 'c.toml:3: edge.domian: unknown key', /The keys of \[edge\] are domain, /],
  ['unknown table', '[egde]\ndomain = "x"', 'c.toml:1: egde: unknown key', /The keys of the top level are data_dir, /],
  ['unknown dotted key', 'edge.limits.max = 1', 'c.toml:1: edge.limits.max: unknown key', /max_connections/],
  ['unknown key in an inline table', 'log = { level = "info",\n lvl = 1 }', 'c.toml', /log\.lvl: unknown key/],
  ['the first mistake of several', 'api.listen = 1\n[edge]\nx = 1', 'c.toml:1: api.listen: ', /string in quotes/],
  ['table for a value', '[data_dir]', 'c.toml:1: data_dir: ', /must be a string in quotes, not a table/],
  ['value for a table', 'edge = "x"', 'c.toml:1: edge: ', /must be a table, not a string/],
  ['number for text', '[edge]\ndomain = 7', 'c.toml:2: edge.domain: ', /must be a string in quotes, not a number/],
  ['text for number', '[limits]\nauth_burst = "5"', 'c.toml:2: limits.auth_burst: ', /must be a number, not a string/],
  ['fraction for a whole number', 'limits.auth_burst = 1.5', 'c.toml:1: limits.auth_burst: ', /must be a whole number/],
  ['text for true or false', 'inspector.replay = "yes"', 'c.toml:1: inspector.replay: ', /must be true or false/],
  ['another HTTP/2 engine', 'edge.http2 = "nghttp2"', 'c.toml:1: edge.http2: ', /must be true, false or "node"/],
  ['text for a list', 'api.trusted_proxies = "10.0.0.0/8"', 'c.toml:1: api.trusted_proxies: ', /must be a list in \[ \]/],
  ['unknown word', 'log.level = "loud"', 'c.toml:1: log.level: ', /must be "error" or "warn" or "info" or "debug", not "loud"/],
  ['too small', 'limits.auth_burst = 0', 'c.toml:1: limits.auth_burst: ', /must be at least 1, not 0/],
  ['zero seconds', 'edge.limits.head_timeout_seconds = 0', 'c.toml:1: edge.limits.head_timeout_seconds: ', /must be more than 0/],
  ['too long', 'edge.limits.idle_timeout_seconds = 86401', 'c.toml:1: edge.limits.idle_timeout_seconds: ', /must be at most 86400/],
  ['not a number', 'pricing.usd_cents_per_gb = nan', 'c.toml:1: pricing.usd_cents_per_gb: ', /must be a number, not infinity or NaN/],
  ['no finite number', 'pricing.usd_cents_per_gb = 1e400', 'c.toml:1: pricing.usd_cents_per_gb: ', /must be a number, not infinity or NaN/],
  ['negative price', 'pricing.usd_cents_per_gb = -1', 'c.toml:1: pricing.usd_cents_per_gb: ', /at least 0/],
  ['empty data_dir', 'data_dir = ""', 'c.toml:1: data_dir: ', /path/],
  ['listen without port', 'api.listen = "127.0.0.1"', 'c.toml:1: api.listen: ', /"127.0.0.1" is not an address to listen on/],
  ['listen port too high', 'edge.http_listen = "127.0.0.1:65536"', 'c.toml:1: edge.http_listen: ', /not an address to listen on/],
  ['listen port without a number', 'edge.http_listen = ":http"', 'c.toml:1: edge.http_listen: ', /":8080" for all addresses of this machine/],
  ['IPv6 without brackets', 'edge.http_listen = "::1:80"', 'c.toml:1: edge.http_listen: ', /"\[::1\]:8080"/],
  ['API turned off', 'api.listen = ""', 'c.toml:1: api.listen: ', /not an address/],
  ['agents without a port', 'agents.listen = ""', 'c.toml:1: agents.listen: ', /agents come by edge\.https_listen: set that/],
  ['one port without a name', 'agents.listen = ""\nedge.https_listen = "127.0.0.1:8443"\nedge.tls.mode = "self_signed"', 'c.toml:1: agents.listen: ', /needs an https URL as api\.public_url/],
  ['port range backwards', 'edge.tcp_ports = "200-100"', 'c.toml:1: edge.tcp_ports: ', /a range of ports: write "20000-20099"/],
  ['port range from 0', 'edge.udp_ports = "0-5"', 'c.toml:1: edge.udp_ports: ', /a range of ports/],
  ['bind host with port', 'edge.tcp_host = "127.0.0.1:80"', 'c.toml:1: edge.tcp_host: ', /address to bind/],
  ['CIDR with host bits', '[api]\ntrusted_proxies = [\n"10.0.0.0/8",\n"10.0.0.1/8"]', 'c.toml:4: api.trusted_proxies.1: ', /"10.0.0.1\/8" is not an IP network/],
  ['CIDR in octal', 'api.trusted_proxies = ["010.0.0.0/8"]', 'c.toml:1: api.trusted_proxies.0: ', /not an IP network/],
  ['origin with path', 'api.cors_origins = ["https://a.example/x"]', 'c.toml:1: api.cors_origins.0: ', /web origin/],
  ['origin star', 'api.cors_origins = ["*"]', 'c.toml:1: api.cors_origins.0: ', /refused because the API uses a cookie/],
  ['domain with scheme', 'edge.domain = "https://x.example"', 'c.toml:1: edge.domain: ', /not a domain name/],
  ['domain with star', 'edge.domain = "*.x.example"', 'c.toml:1: edge.domain: ', /not a domain name/],
  ['domain is an address', 'edge.domain = "10.0.0.1"', 'c.toml:1: edge.domain: ', /not a domain name/],
  ['API URL without scheme', 'api.public_url = "culvert.example.com"', 'c.toml:1: api.public_url: ', /not a URL/],
  ['API URL with query', 'api.public_url = "https://c.example/?a"', 'c.toml:1: api.public_url: ', /not a URL/],
  ['template without label', 'edge.public_url = "https://example.com"', 'c.toml:1: edge.public_url: ', /\{subdomain\} as its first label/],
  ['template with two labels', 'edge.public_url = "https://{subdomain}.{subdomain}.x"', 'c.toml:1: edge.public_url: ', /template/],
  ['template with label in the path', 'edge.public_url = "https://example.com/{subdomain}"', 'c.toml:1: edge.public_url: ', /template/],
  ['template with label inside', 'edge.public_url = "https://a.{subdomain}.example.com"', 'c.toml:1: edge.public_url: ', /template/],
  ['template with a path', 'edge.public_url = "https://{subdomain}.example.com/x"', 'c.toml:1: edge.public_url: ', /template/],
  ['template of another scheme', 'edge.public_url = "ftp://{subdomain}.example.com"', 'c.toml:1: edge.public_url: ', /template/],
  ['address to dial without port', 'agents.public_address = "a.example"', 'c.toml:1: agents.public_address: ', /address to dial/],
  ['address to dial with port 0', 'agents.public_address = "a.example:0"', 'c.toml:1: agents.public_address: ', /address to dial/],
  ['resolver by name', 'dns.resolvers = ["dns.example:53"]', 'c.toml:1: dns.resolvers.0: ', /DNS server/],
  ['replay for no tunnel', 'inspector.replay_allow = ["mine"]', 'c.toml:1: inspector.replay_allow.0: ', /"\*" or the id of a tunnel/],
  ['same port twice', '[api]\nlisten = "127.0.0.1:8080"', 'c.toml:2: api.listen: ', /clashes with edge.http_listen \(port 8080 on 127.0.0.1\)/],
  ['same port on every interface', 'agents.listen = "0.0.0.0:9090"', 'c.toml:1: agents.listen: ', /clashes with api.listen/],
  ['same port by name', 'agents.listen = "localhost:9090"', 'c.toml:1: agents.listen: ', /clashes with api.listen/],
  ['listener inside the port range', 'edge.tcp_ports = "7000-8000"', 'c.toml:1: edge.tcp_ports: ', /clashes with agents.listen/],
  ['public metrics', 'metrics.listen = "0.0.0.0:9464"', 'c.toml:1: metrics.listen: ', /is reachable from other machines: set metrics\.token_file too/],
  ['public metrics, by IPv6', 'metrics.listen = "[::]:9464"', 'c.toml:1: metrics.listen: ', /set metrics\.token_file too/],
  ['a token for no metrics', `metrics.token_file = "${there}"`, 'c.toml:1: metrics.token_file: ', /applies only with metrics\.listen/],
  ['a token file that is not there', 'metrics.listen = "0.0.0.0:9464"\nmetrics.token_file = "/nowhere/token"', 'c.toml:2: metrics.token_file: ', /\/nowhere\/token does not exist/],
  ['metrics on the port of the API', 'metrics.listen = "127.0.0.1:9090"', 'c.toml:1: metrics.listen: ', /clashes with api\.listen/],
  ['the PROXY protocol of any client', 'edge.proxy_protocol = true', 'c.toml:1: edge.proxy_protocol: ', /needs edge\.proxy_protocol_from: name the addresses/],
  ['load balancers without the PROXY protocol', 'edge.proxy_protocol_from = ["10.0.0.5"]', 'c.toml:1: edge.proxy_protocol_from: ', /applies only to edge\.proxy_protocol = true/],
  ['a redirect to https without it', 'edge.https_redirect = true', 'c.toml:1: edge.https_redirect: ', /needs https: set edge\.https_listen, or edge\.public_url/],
  ['https without certificate', 'edge.https_listen = "127.0.0.1:8443"', 'c.toml:1: edge.https_listen: ', /set edge.tls.mode/],
  ['files without files', '[edge.tls]\nmode = "files"', 'c.toml:2: edge.tls.mode: ', /needs edge.tls.cert_file/],
  ['files without key', `[edge.tls]\nmode = "files"\ncert_file = '${there}'`, 'c.toml:2: edge.tls.mode: ', /needs edge.tls.key_file/],
  ['files that are not there', `[edge.tls]\nmode = "files"\ncert_file = '${there}'\nkey_file = "/no/such"`, 'c.toml:4: edge.tls.key_file: ', /\/no\/such does not exist/],
  ['files without the mode', `[edge.tls]\nkey_file = '${there}'`, 'c.toml:2: edge.tls.key_file: ', /applies only to edge\.tls\.mode = "files"/],
  ['agents: half a certificate', `agents.cert_file = '${there}'`, 'c.toml:1: agents.cert_file: ', /needs agents.key_file/],
  ['acme without https', 'edge.tls.mode = "acme"', 'c.toml:1: edge.tls.mode: ', /"acme" needs edge.https_listen: set it/],
  ['http-01 without http', 'edge.domain = "t.example.com"\nedge.http_listen = ""\nedge.https_listen = "127.0.0.1:8443"\nedge.tls.mode = "acme"', 'c.toml:2: edge.http_listen: ', /or set acme.challenge = "tls-alpn-01"/],
  ['acme for this machine', 'edge.tls.mode = "acme"\nedge.https_listen = "127.0.0.1:8443"', 'c.toml:1: edge.tls.mode: ', /needs a public domain, and no authority issues certificates for localhost/],
  ['acme for a name that no DNS has', 'edge.tls.mode = "acme"\nedge.https_listen = "127.0.0.1:8443"\nedge.domain = "tunnels.internal"', 'c.toml:1: edge.tls.mode: ', /no authority issues certificates for tunnels.internal/],
  ['acme with an address that is none', 'edge.domain = "t.example.com"\nedge.https_listen = "127.0.0.1:8443"\nedge.tls.mode = "acme"\nacme.email = "ann at example"', 'c.toml:4: acme.email: ', /not an email address/],
  ['a root that is no certificate', `edge.domain = "t.example.com"\nedge.https_listen = "127.0.0.1:8443"\nedge.tls.mode = "acme"\nacme.ca_file = '${there}'`, 'c.toml:4: acme.ca_file: ', /is not a readable PEM certificate/],
  ['a folder of roots', `edge.domain = "t.example.com"\nedge.https_listen = "127.0.0.1:8443"\nedge.tls.mode = "acme"\nacme.ca_file = '${folder}'`, 'c.toml:4: acme.ca_file: ', /is not a readable PEM certificate/],
  ['a hook that may not run', `edge.domain = "t.example.com"\nedge.https_listen = "127.0.0.1:8443"\nedge.tls.mode = "acme"\nacme.challenge = "dns-01"\nacme.dns_hook = '${there}'`, 'c.toml:5: acme.dns_hook: ', /is not a program that this user can run.*chmod/],
  ['a folder of hooks', `edge.domain = "t.example.com"\nedge.https_listen = "127.0.0.1:8443"\nedge.tls.mode = "acme"\nacme.challenge = "dns-01"\nacme.dns_hook = '${folder}'`, 'c.toml:5: acme.dns_hook: ', /is not a program that this user can run/],
  ['dns-01 without a hook', 'acme.challenge = "dns-01"', 'c.toml:1: acme.challenge: ', /needs acme.dns_hook/],
  ['a hook that is not there', 'acme.dns_hook = "/nowhere/hook"', 'c.toml:1: acme.dns_hook: ', /\/nowhere\/hook does not exist/],
  ['an external account without key', 'acme.eab_kid = "k"', 'c.toml:1: acme.eab_kid: ', /needs acme.eab_hmac_key/],
  ['an external account without id', 'acme.eab_hmac_key = "aaaa"', 'c.toml:1: acme.eab_hmac_key: ', /needs acme.eab_kid/],
  ['a key of an external account that is none', 'acme.eab_kid = "k"\nacme.eab_hmac_key = "a b"', 'c.toml:2: acme.eab_hmac_key: ', /not base64url/],
  ['an ACME server by http', 'acme.directory_url = "http://ca.example.com/dir"', 'c.toml:1: acme.directory_url: ', /http is for this machine/],
  ['smtp without URL', 'mail.transport = "smtp"', 'c.toml:1: mail.transport: ', /needs mail.smtp_url/],
  ['smtp without sender', 'mail.transport = "smtp"\nmail.smtp_url = "smtp://h"', 'c.toml:1: mail.transport: ', /needs mail.from/],
  ['smtp by http', 'mail.transport = "smtp"\nmail.smtp_url = "http://h"', 'c.toml:2: mail.smtp_url: ', /is not an SMTP URL/],
  ['smtp with a password that is not escaped', 'mail.transport = "smtp"\nmail.smtp_url = "smtp://u:a#b@h"', 'c.toml:2: mail.smtp_url: ', /Percent-encode special characters in the password/],
  ['smtp with a sender that is none', 'mail.transport = "smtp"\nmail.smtp_url = "smtp://h"\nmail.from = "Culvert"', 'c.toml:3: mail.from: ', /not a sender/],
  ['smtp with two senders', 'mail.transport = "smtp"\nmail.smtp_url = "smtp://h"\nmail.from = "a@b, c@d"', 'c.toml:3: mail.from: ', /not a sender/],
  ['a provider by http', 'oauth.google.issuer = "http://idp.example.com"', 'c.toml:1: oauth.google.issuer: ', /http is for this machine only/],
  ['one price for two plans', '[billing.stripe]\nprices.pro_monthly = "price_1"\nprices.team_monthly = "price_1"', 'c.toml:3: billing.stripe.prices.team_monthly: ', /is also the price of pro_monthly/],
  ['half a provider', 'oauth.github.client_id = "x"', 'c.toml:1: oauth.github.client_id: ', /needs oauth.github.client_secret/],
];
for (const [name, text, start, says] of refused) {
  test(`refuses ${name}`, () => {
    const message = messageFor(text);
    const line = message.split('\n').find((one) => one.startsWith(start));
    assert.ok(line !== undefined, message);
    assert.match(line, says);
  });
}

test('an identity provider on this machine may speak plain http', () => {
  for (const host of ['127.0.0.1:4000', 'localhost:4000', '[::1]:4000', 'idp.localhost:4000']) {
    const { settings } = checkServerConfig(`oauth.google.issuer = "http://${host}/realm/"`, 'c.toml');
    assert.equal(settings.oauth.google.issuer, `http://${host}/realm`);
  }
});

test('never prints a secret, not even one in the wrong place', () => {
  const url = 'http://user:hunter2@host';
  assert.ok(!messageFor(`mail.transport = "smtp"\nmail.smtp_url = "${url}"`).includes('hunter2'));
  assert.ok(!messageFor('billing.stripe.secret_key = ["hunter2"]').includes('hunter2'));
  assert.ok(!messageFor('billing.stripe.secret_key = 48151623').includes('4815'));
  const { settings } = checkServerConfig('billing.stripe.secret_key = "hunter2"', 'c.toml');
  assert.equal(settings.billing.stripe.secret_key?.reveal(), 'hunter2');
  assert.ok(!`${inspect(settings, { depth: 9 })}${JSON.stringify(settings)}`.includes('hunter2'));
});

const { settings: defaults, warnings: silence } = checkServerConfig('', 'c.toml');

test('the defaults hold without a file and say nothing', () => {
  assert.deepEqual(silence, []);
  assert.equal(defaults.data_dir, resolve('data'));
  assert.deepEqual(defaults.api.listen, { host: '127.0.0.1', port: 9090 });
  assert.equal(defaults.api.public_url, 'http://127.0.0.1:9090');
  assert.equal(defaults.edge.public_url, 'http://{subdomain}.localhost:8080');
  assert.equal(defaults.edge.tcp_public_host, 'localhost');
  assert.equal(defaults.agents.public_address, '127.0.0.1:7443');
  assert.equal(defaults.edge.https_listen, null);
  assert.deepEqual(defaults.edge.tcp_ports, { first: 20000, last: 20099 });
});

test('settings are frozen to the last level', () => {
  assert.throws(() => Object.assign(defaults.edge.limits, { max_connections: 1 }), TypeError);
  assert.throws(() => Object.assign(defaults.api.listen, { port: 1 }), TypeError);
  assert.throws(() => (defaults.api.trusted_proxies as string[]).push('0.0.0.0/0'), TypeError);
});

const onePort =
  'agents.listen = ""\nedge.domain = "x.example"\nedge.https_listen = "0.0.0.0:443"\nedge.tls.mode = "self_signed"';
const tls = '\nedge.tls.mode = "self_signed"';
/** What each text makes of a computed key. */
const computed: ReadonlyArray<[text: string, key: 'api' | 'edge' | 'tcp' | 'agents', value: string]> = [
  ['edge.domain = "T.Example.com"', 'edge', 'http://{subdomain}.t.example.com:8080'],
  ['edge.http_listen = "0.0.0.0:80"', 'edge', 'http://{subdomain}.localhost'],
  [`edge.https_listen = "0.0.0.0:443"${tls}`, 'edge', 'https://{subdomain}.localhost'],
  [`edge.https_listen = "127.0.0.1:8443"${tls}`, 'edge', 'https://{subdomain}.localhost:8443'],
  [`edge.https_listen = "127.0.0.1:80"${tls}`, 'edge', 'https://{subdomain}.localhost:80'],
  ['edge.http_listen = "127.0.0.1:443"', 'edge', 'http://{subdomain}.localhost:443'],
  [tls, 'edge', 'http://{subdomain}.localhost:8080'],
  ['edge.http_listen = ""', 'edge', 'http://{subdomain}.localhost'],
  ['edge.public_url = "https://{subdomain}.localhost:443/"', 'edge', 'https://{subdomain}.localhost'],
  ['edge.public_url = "http://{subdomain}.localhost:443"', 'edge', 'http://{subdomain}.localhost:443'],
  ['edge.domain = "x.example"', 'tcp', 'x.example'],
  ['edge.tcp_public_host = "10.1.2.3"', 'tcp', '10.1.2.3'],
  ['api.listen = "[::1]:9090"', 'api', 'http://[::1]:9090'],
  ['api.listen = "127.0.0.1:80"', 'api', 'http://127.0.0.1'],
  ['api.listen = "0.0.0.0:9090"', 'api', 'http://localhost:9090'],
  ['api.public_url = "https://c.example:443/api/"', 'api', 'https://c.example/api'],
  ['agents.listen = "10.0.0.7:7443"', 'agents', '10.0.0.7:7443'],
  ['agents.listen = "[::]:7443"\nedge.domain = "x.example"', 'agents', 'x.example:7443'],
  [`${onePort}\napi.public_url = "https://c.x.example"`, 'agents', 'c.x.example:443'],
  ['agents.public_address = "[2001:db8::1]:443"', 'agents', '[2001:db8::1]:443'],
];
for (const [text, key, value] of computed) {
  test(`computes ${key} from ${text.trim().replace('\n', ', ')}`, () => {
    const { api, edge, agents } = checkServerConfig(text, 'c.toml').settings;
    const all = {
      api: api.public_url,
      edge: edge.public_url,
      tcp: edge.tcp_public_host,
      agents: agents.public_address,
    };
    assert.equal(all[key], value);
  });
}

const accepted: ReadonlyArray<[name: string, text: string]> = [
  ['the same port on two addresses', 'agents.listen = "127.0.0.2:9090"'],
  ['port 0 everywhere', 'api.listen = "127.0.0.1:0"\nagents.listen = "127.0.0.1:0"\nedge.http_listen = "127.0.0.1:0"'],
  ['fractions of seconds', 'edge.limits.head_timeout_seconds = 0.5'],
  ['files that are there', `[edge.tls]\nmode = "files"\ncert_file = '${there}'\nkey_file = '${there}'`],
  ['no tcp ports', 'edge.tcp_ports = ""'],
  ['IPv6 bind host', 'edge.tcp_host = "::1"'],
  ['resolvers of each form', 'dns.resolvers = ["127.0.0.1:5353", "1.1.1.1", "::1", "[::1]:5353"]'],
  [
    'smtp from a name',
    'mail.transport = "smtp"\nmail.smtp_url = "smtp://h"\nmail.from = "Culvert, of Acme <culvert@example.com>"',
  ],
  ['smtp', 'mail.transport = "smtp"\nmail.smtp_url = "smtps://u:p@h:465"\nmail.from = "a@b"'],
];
for (const [name, text] of accepted) {
  test(`takes ${name}`, () => assert.equal(messageFor(text), 'accepted'));
}

// biome-ignore format: a table
const warned: ReadonlyArray<[name: string, text: string, says: RegExp[]]> = [
  ['the inspector', 'inspector.enabled = false\ninspector.replay = true', []],
  ['resolvers', 'dns.resolvers = ["1.1.1.1"]', []],
  ['acme', 'edge.domain = "t.example.com"\nedge.https_listen = "127.0.0.1:8443"\nedge.tls.mode = "acme"\naccounts.signup = "closed"', []],
  ['certificates per name that strangers share', 'edge.domain = "t.example.com"\nedge.https_listen = "127.0.0.1:8443"\nedge.tls.mode = "acme"', [/^accounts.signup: "open" lets any new user use up .*45 .*acme.challenge = "dns-01"/]],
  ['strangers who must be approved', 'edge.domain = "t.example.com"\nedge.https_listen = "127.0.0.1:8443"\nedge.tls.mode = "acme"\naccounts.require_approval = true', []],
  ['one certificate for all strangers', 'edge.domain = "t.example.com"\nedge.https_listen = "127.0.0.1:8443"\nedge.tls.mode = "acme"\nacme.challenge = "dns-01"\nacme.dns_hook = "/bin/true"', []],
  ['self_signed', 'edge.tls.mode = "self_signed"', []],
  ['a port 80 that no authority reaches', 'edge.domain = "t.example.com"\nedge.https_listen = "0.0.0.0:443"\nedge.tls.mode = "acme"\naccounts.signup = "closed"\nedge.tcp_ports = ""\nedge.udp_ports = ""', [/^edge.http_listen: only this machine can reach it.*"0.0.0.0:80"/]],
  ['links by http beside acme', 'edge.domain = "t.example.com"\nedge.https_listen = "127.0.0.1:8443"\nedge.tls.mode = "acme"\naccounts.signup = "closed"\nedge.public_url = "http://{subdomain}.t.example.com"', [/^edge.public_url: starts with "http:\/\/"/]],
  ['a hook that nothing runs', 'acme.dns_hook = "/bin/true"', [/^acme.dns_hook: applies only to acme.challenge = "dns-01"/]],
  ['Stripe without its keys', 'billing.mode = "stripe"', [/^billing.mode: "stripe" needs billing.stripe.secret_key and billing.stripe.webhook_secret: no plan is sold/]],
  ['Stripe without some prices', 'billing.mode = "stripe"\n[billing.stripe]\nsecret_key = "sk_1"\nwebhook_secret = "whsec_1"\nprices.pro_monthly = "price_1"\nprices.pro_yearly = "price_2"', [/^billing.stripe.prices: team_monthly, team_yearly not set/]],
  ['Stripe with ids of other things', 'billing.mode = "stripe"\n[billing.stripe]\nsecret_key = "pk_1"\nwebhook_secret = "sk_1"\nprices = { pro_monthly = "price_1", pro_yearly = "prod_1", team_monthly = "price_3", team_yearly = "price_4" }', [/^billing.stripe.secret_key: does not start with sk_ or rk_/, /^billing.stripe.webhook_secret: does not start with whsec_/, /^billing.stripe.prices.pro_yearly: does not start with price_/]],
  ['a provider for visitors without its client', 'edge_auth.provider = "github"', [/^edge_auth.provider: "github" is not set up.*oauth.github.client_id.*"google"/]],
  ['a log-in of people that is none of visitors', 'oauth.github = { client_id = "c", client_secret = "s" }', [/^edge_auth.provider: "google" is not set up.*"github"/]],
  ['providers for both', 'edge_auth.provider = "github"\noauth.github = { client_id = "c", client_secret = "s" }', []],
  ['accounts for all users of a provider', 'api.listen = "0.0.0.0:9090"\napi.public_url = "https://c.example"\noauth.google = { client_id = "c", client_secret = "s" }', [/^accounts.signup: "open" gives an account.*user of oauth.google: set "closed", or accounts.require_approval/]],
  ['the same behind a proxy', 'api.public_url = "https://c.example"\nedge_auth.provider = "github"\noauth.github = { client_id = "c", client_secret = "s" }', [/^accounts.signup: .*user of oauth.github/]],
  ['a provider where strangers must be approved', 'api.public_url = "https://c.example"\noauth.google = { client_id = "c", client_secret = "s" }\naccounts.require_approval = true', []],
  ['a provider where sign-up is closed', 'api.public_url = "https://c.example"\noauth.google = { client_id = "c", client_secret = "s" }\naccounts.signup = "closed"', []],
  ['a provider on this machine alone', 'oauth.google = { client_id = "c", client_secret = "s" }', []],
  ['the API on every interface', 'api.listen = "0.0.0.0:9090"', [/^api.public_url: not set/]],
  ['agents on every interface', 'agents.listen = "0.0.0.0:7443"', [/^agents.public_address: not set/]],
  ['a PROXY header of any client', 'edge.proxy_protocol = true\nedge.proxy_protocol_from = ["10.0.0.5", "::/0"]', [/^edge.proxy_protocol_from: ::\/0 lets every client choose its address: list only your load balancers/]],
  ['tcp ports that no visitor reaches', 'edge.http_listen = "0.0.0.0:80"\nedge.udp_host = "0.0.0.0"', [/^edge.tcp_host: 127.0.0.1, so only this machine can reach tcp tunnels: set .*"0.0.0.0"/]],
  ['tcp ports on the address of visitors', 'edge.http_listen = "0.0.0.0:80"\nedge.tcp_host = "0.0.0.0"\nedge.udp_host = "0.0.0.0"', []],
  ['udp ports that no client reaches', 'edge.http_listen = "0.0.0.0:80"\nedge.tcp_ports = ""', [/^edge.udp_host: 127.0.0.1, so only this machine can reach private networks: set .*edge.udp_ports = ""/]],
  ['neither tcp tunnels nor relays', 'edge.http_listen = "0.0.0.0:80"\nedge.tcp_ports = ""\nedge.udp_ports = ""', []],
  ['emails that the log leaves out', 'log.level = "warn"', [/^mail.transport: .* log.level = "warn" leaves them out: set log.level = "info"/]],
  ['emails that no log shows', 'log.level = "error"\nmail.transport = "log"', [/^mail.transport: .* log.level = "error" leaves them out/]],
  ['emails that are sent', 'log.level = "error"\nmail.transport = "smtp"\nmail.smtp_url = "smtp://h"\nmail.from = "a@b"', []],
  ['a template for another domain', 'edge.public_url = "https://{subdomain}.b.example"', [/^edge.public_url: its domain is not edge.domain/]],
];
for (const [name, text, says] of warned) {
  test(`warnings: ${name}`, () => {
    const { warnings } = checkServerConfig(text, 'c.toml');
    assert.equal(warnings.length, says.length, warnings.join('\n'));
    says.forEach((pattern, index) => assert.match(warnings[index] ?? '', pattern));
  });
}

test('edge.http2: our own code, none, or that of Node', () => {
  for (const value of [true, false, 'node'] as const) {
    const { settings } = checkServerConfig(`edge.http2 = ${JSON.stringify(value)}`, 'c.toml');
    assert.equal(settings.edge.http2, value);
  }
});

test('a port alone listens on every address', () => {
  const { settings } = checkServerConfig('edge.http_listen = ":80"', 'c.toml');
  assert.deepEqual(settings.edge.http_listen, { host: '::', port: 80 });
});

test('the file comes from the argument, then from CULVERT_CONFIG, then from the system, then there is none', () => {
  const one = join(folder, 'one.toml');
  const two = join(folder, 'two.toml');
  writeFileSync(one, 'edge.domain = "one.example"');
  writeFileSync(two, 'edge.domain = "two.example"');
  const load = (file: string | undefined, env: NodeJS.ProcessEnv, systemConfig?: string) => {
    const { settings, file: read } = loadServerConfig(file, { env, cwd: folder, systemConfig });
    return [settings.edge.domain, read];
  };
  assert.deepEqual(load(one, { CULVERT_CONFIG: two }), ['one.example', one]);
  assert.deepEqual(load(undefined, { CULVERT_CONFIG: two }), ['two.example', two]);
  assert.deepEqual(load('one.toml', {}), ['one.example', 'one.toml']);
  assert.deepEqual(load(undefined, { CULVERT_CONFIG: '' }), ['localhost', null]);
  assert.deepEqual(load(undefined, {}), ['localhost', null]);
  assert.deepEqual(load(undefined, {}, two), ['two.example', two]);
  assert.deepEqual(load(one, {}, two), ['one.example', one]);
  assert.deepEqual(load(undefined, {}, join(folder, 'none.toml')), ['localhost', null]);
});

test('a file that cannot be read is named', () => {
  const missing = join(folder, 'missing.toml');
  assert.throws(() => loadServerConfig(missing, { env: {}, cwd: folder }), {
    name: 'ConfigError',
    message: `${missing}: cannot be read: there is no such file`,
  });
  assert.throws(() => loadServerConfig(folder, { env: {}, cwd: folder }), {
    name: 'ConfigError',
    message: /cannot be read: /,
  });
});

test('settings file: all mistakes are reported at once, in the order of the file', () => {
  const text = `[api]
listen = 1
tls = true
[edge]
domian = "x"
htps_listen = "0.0.0.0:443"
[limits]
auth_burst = 0
[metrics]
listen = "0.0.0.0:9464"
[mail]
transport = "smtp"
[oauth.google]
client_id = "a"
[oauth.github]
client_id = "a"`;
  const found = messageFor(text).split('\n');
  assert.deepEqual(
    found.map((line) => line.split(': ').slice(0, 2).join(': ')),
    [
      'c.toml:2: api.listen',
      'c.toml:5: edge.domian',
      'c.toml:6: edge.htps_listen',
      'c.toml:8: limits.auth_burst',
      'c.toml:10: metrics.listen',
      'c.toml:12: mail.transport',
      'c.toml:12: mail.transport',
      'c.toml:14: oauth.google.client_id',
      'c.toml:16: oauth.github.client_id',
    ],
    'without one that api.tls would have for want of edge.https_listen, which may be the misspelt key',
  );
});

test('settings file: a conflict that a wrong key takes part in is left out until that key is right', () => {
  const text = 'edge.tls.mode = "files"\nedge.tls.cert_file = 1\nedge.tls.key_file = "/nowhere.pem"';
  assert.deepEqual(
    messageFor(text)
      .split('\n')
      .map((line) => line.split(': ').slice(0, 2).join(': ')),
    ['c.toml:2: edge.tls.cert_file', 'c.toml:3: edge.tls.key_file'],
  );
});

test('settings file: of very many mistakes the rest is counted', () => {
  const found = messageFor(Array.from({ length: 70 }, (_, i) => `x${i} = 1`).join('\n')).split('\n');
  assert.deepEqual([found.length, found.at(-1)], [51, 'and 20 more errors']);
});

test('the API is at the edge where its URL leads there', () => {
  const hosts = (text: string) => {
    const at = apiAtEdge(checkServerConfig(text, 'c.toml').settings);
    return at && [at.host, at.bareHost, at.port];
  };
  const edge = onePort.replace('agents.listen = ""\n', '');
  const url = (value: string): string => `\napi.public_url = "${value}"`;
  assert.deepEqual(hosts(edge + url('https://C.x.example')), ['c.x.example', 'x.example', 443]);
  assert.deepEqual(hosts(edge + url('https://x.example/api')), ['x.example', undefined, 443]);
  for (const other of ['https://c.x.example:8443', 'http://c.x.example', 'https://c.x.example/culvert'])
    assert.equal(hosts(edge + url(other)), undefined, other);
  assert.deepEqual(hosts(onePort + url('https://c.x.example:8443')), ['c.x.example', 'x.example', 8443]);
});
