/** Keys of ngrok's, cloudflared's and frp's settings files that Culvert does not have, with what does the same here; and YAML in place of TOML. */

type Hints = Readonly<Record<string, string>>;

const TOP: Hints = {
  authtoken: 'Use token_file = "FILE", or `culvert login`',
  auth_token: 'Use token_file = "FILE", or `culvert login`',
  agent: 'Its keys are at the top level: server, token_file, inspect_port',
  endpoints: 'Use [tunnels.NAME]',
  proxies: 'Use [tunnels.NAME]',
  ingress: 'Use [[tunnels.NAME.routes]] with path and target',
  web_addr: 'Use inspect_port = 4040',
  root_cas: 'Use ca_file = "FILE"',
  proxy_url: 'Use proxy = "URL"',
  http_proxy: 'Use proxy = "URL"',
  server_addr: 'Use server = "https://culvert.example.com"',
  region: "It is ngrok's. There is one server",
  version: "It is ngrok's. Remove it",
  log: 'Logs go to standard error',
  log_level: 'Logs go to standard error',
  log_format: 'Logs go to standard error, as JSON if it is no terminal',
};

const NAMED = 'Use subdomain = "NAME" for a name below the server\'s domain, or domain = "NAME" for your own domain';
const NONE = "It is ngrok's. Culvert has no such key";

const TUNNEL: Hints = {
  addr: 'Use target = 3000',
  local_port: 'Use target = 3000',
  upstream: 'Use target = 3000',
  service: 'Use target = 3000',
  proto: 'Use protocol = "http"',
  type: 'Use protocol = "http"',
  schemes: 'Visitors of http come by HTTPS all the same. Remove it',
  scheme: 'Visitors of http come by HTTPS all the same. Remove it',
  hostname: NAMED,
  url: NAMED,
  custom_domains: NAMED,
  remote_addr: 'Use remote_port = 20017',
  auth: 'Use basic_auth = "USER" and basic_auth_file = "FILE"',
  cidr_allow: 'Use allow_cidr = ["…"]',
  cidr_deny: 'Use deny_cidr = ["…"]',
  allow_cidrs: 'Use allow_cidr = ["…"]',
  deny_cidrs: 'Use deny_cidr = ["…"]',
  ip_restriction: 'Use allow_cidr = ["…"] and deny_cidr = ["…"]',
  oauth: 'Use visitor_login = ["example.com"]',
  oidc: 'Use visitor_login = ["example.com"]',
  verify_webhook: 'Use webhook_verify = "KIND" and webhook_secret_file = "FILE"',
  webhook_verification: 'Use webhook_verify = "KIND" and webhook_secret_file = "FILE"',
  traffic_policy: 'Use policy = "FILE": JSON in a form of its own',
  traffic_policy_file: 'Use policy = "FILE": JSON in a form of its own',
  request_header: 'Use policy = "FILE" with an action "header_set"',
  response_header: 'Use policy = "FILE" with an action "response_header_set"',
  verify_upstream_tls: 'Use verify_tls = true',
  no_tls_verify: 'Certificates are not verified unless verify_tls = true',
  root_cas: 'Use upstream_ca = "FILE"',
  ca_pool: 'Use upstream_ca = "FILE"',
  origin_server_name: 'Use upstream_sni = "NAME"',
  http_host_header: 'Use host_header = "NAME"',
  host_header_rewrite: 'Use host_header = "NAME"',
  app_protocol: 'Use upstream_protocol = "http2"',
  http2_origin: 'Use upstream_protocol = "http2"',
  proxy_proto: 'Use proxy_protocol = true',
  compression: NONE,
  circuit_breaker: NONE,
  websocket_tcp_converter: NONE,
  mutual_tls_cas: NONE,
  metadata: NONE,
  pooling_enabled: NONE,
  user_agent_filter: NONE,
  bindings: NONE,
};

/** About a key of an agent's file; undefined: it is no name of these programs. */
export function foreignKeyHint(path: readonly PropertyKey[]): string | undefined {
  const hints = path.length === 1 ? TOP : path.length === 3 && path[0] === 'tunnels' ? TUNNEL : {};
  // frp and cloudflared write `localPort` and `caPool`.
  const key = String(path.at(-1)).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.hasOwn(hints, key) ? hints[key] : undefined;
}

export const NOT_YAML =
  "This looks like YAML, such as ngrok's. Culvert reads TOML: a line [tunnels.web], and below it target = 3000";

/** Of a text that is no TOML. */
export function looksLikeYaml(text: string, file: string): boolean {
  const first = text.split('\n').find((line) => line.trim() !== '' && !line.trim().startsWith('#')) ?? '';
  return /\.ya?ml$/i.test(file) || /^(?:---\s*$|- |[A-Za-z_][\w-]*:(?:\s|$))/.test(first);
}
