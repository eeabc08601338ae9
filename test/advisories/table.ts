/**
 * Security advisories and fixes of other tunnels, proxies and their neighbours, as rows that each have a test whose title begins with the id;
 * and the classes that are tried whatever others got wrong. A row is not taken away: what it is about may come back.
 */

export interface Advisory {
  /** As published, or how the peer names the change. */
  readonly id: string;
  readonly peer: string;
  readonly what: string;
}

// biome-ignore format: a table
export const ADVISORIES: readonly Advisory[] = [
  { id: 'CVE-2026-40910', peer: 'frp', what: 'routes by Proxy-Authorization and checks Authorization: past the password (GHSA-pq96-pwvg-vrr9)' },
  { id: 'frp 0.70.1 #5436', peer: 'frp', what: 'Upgrade: h2c is passed on: requests past the policy' },
  { id: 'frp 0.70.1 #5428', peer: 'frp', what: 'malformed input ends the process' },
  { id: 'frp 0.70.1 #5424', peer: 'frp', what: 'a replaced control session leaks' },
  { id: 'CVE-2025-56332', peer: 'Pangolin', what: 'an insecure default allows every visitor' },
  { id: 'CVE-2026-3209', peer: 'Pangolin', what: 'ids in a body count over those of the path (GHSA-jv85-6mgr-3w99)' },
  { id: 'Pangolin 0250b10', peer: 'Pangolin', what: 'credentials are remembered without the resource that they are for; a reading, not an advisory' },
  { id: 'GHSA-74m3-9qvm-rp9h', peer: 'zrok', what: 'a symbolic link leads out of a shared folder' },
  { id: 'zrok 2.0.1', peer: 'zrok', what: 'ids without an owner, script in an error page, accounts by forgotten passwords, cookies without bound' },
  { id: 'zrok 2.0.3', peer: 'zrok', what: 'an absolute target goes to another host; a page in between is passed by user agent' },
  { id: 'zrok 0.4.20', peer: 'zrok', what: 'the cookie of one share is good on others' },
  { id: 'CVE-2023-1314', peer: 'cloudflared', what: 'writes to a path that others write to' },
  { id: 'VULN-118896', peer: 'cloudflared', what: 'a token on the command line' },
  { id: 'VULN-143514', peer: 'cloudflared', what: 'a token in what every user of the machine sees of a process' },
  { id: 'AUTH-9041', peer: 'cloudflared', what: 'a key is loaded from the current folder' },
  { id: 'AUTH-9012', peer: 'cloudflared', what: 'unsigned headers of identity are believed' },
  { id: 'VULN-141859', peer: 'cloudflared', what: 'edge and origin read a path differently; added in 2026.8.0, reverted in 2026.8.2' },
  { id: 'TUN-10513', peer: 'cloudflared', what: 'a page of the process shows its command line with the token' },
  { id: 'cloudflared 2022.4.0', peer: 'cloudflared', what: 'logs hold the token' },
  { id: 'ngrok agent 3.1.1', peer: 'ngrok', what: 'the local inspector answers a rebound name' },
  { id: 'ngrok agent 3.24.0', peer: 'ngrok', what: 'client certificates are not asked for (3.19 to 3.23)' },
  { id: 'chisel 59e5362', peer: 'chisel', what: 'a documented setting is not read: the server is open' },
  { id: 'CVE-2024-43798', peer: 'chisel', what: 'the documented AUTH variable is not read' },
  { id: 'chisel 44310b6', peer: 'chisel', what: 'the list of what may be opened is asked at the handshake alone' },
  { id: 'sish c228e55', peer: 'sish', what: 'a default password' },
  { id: 'sish #338', peer: 'sish', what: 'an empty password' },
  { id: 'CVE-2026-27899', peer: 'wg-portal', what: 'who changes themselves becomes an administrator (GHSA-5rmx-256w-8mj9)' },
  { id: 'wg-portal e62db0d', peer: 'wg-portal', what: 'a log-in ends on another site' },
  { id: 'wg-portal 316f389', peer: 'wg-portal', what: 'a feed sends every event to every user' },
  { id: 'CVE-2026-28512', peer: 'Pocket ID', what: 'a callback to https://good@evil' },
  { id: 'wg-easy #2669', peer: 'wg-easy', what: 'a shell reads addresses' },
  { id: 'wg-easy #2661', peer: 'wg-easy', what: 'a one-time link needs no log-in' },
  { id: 'wg-easy #2668', peer: 'wg-easy', what: 'a code is good more than once' },
  { id: 'wg-easy #2702', peer: 'wg-easy', what: 'names break out of labels of metrics' },
  { id: 'wg-easy #1071', peer: 'wg-easy', what: 'a path leads out of the folder of the page' },
  { id: 'headscale 0.24', peer: 'headscale', what: 'an unverified address takes over an account' },
  { id: 'headscale #2642', peer: 'headscale', what: 'a node key is good on another machine' },
  { id: 'CVE-2025-10678', peer: 'NetBird', what: 'a default password of the administrator' },
  { id: 'GO-2024-3057', peer: 'NetBird', what: 'the same nonce for each encryption' },
  { id: 'GO-2026-5646', peer: 'NetBird', what: 'an administrator becomes the owner in a race' },
  { id: 'NetBird #6812', peer: 'NetBird', what: 'a service listens on all interfaces' },
  { id: 'NetBird STUN', peer: 'NetBird', what: 'a relay answers strangers with more than they sent' },
  { id: 'GHSA-qccm-wmcq-pwr6', peer: 'Tailscale', what: 'the local API answers a rebound name (CVE-2022-41924)' },
  { id: 'GHSA-mq4x-r2w3-j7mr', peer: 'ZITADEL', what: 'a cookie is seen by subdomains' },
  { id: 'CVE-2025-64102', peer: 'ZITADEL', what: 'codes are guessed over many log-ins' },
  { id: 'CVE-2026-105211', peer: 'an adjacent product', what: 'the code is in the answer' },
  { id: 'CVE-2026-81888', peer: '@hono/oauth-providers', what: 'an answer without state is taken' },
  { id: 'GHSA-7vwr-g6pm-9hc8', peer: 'fastapi-proxy-lib', what: 'visitors share a jar of cookies' },
  { id: 'wormhole PR#5', peer: 'wormhole', what: 'inner pages on the hosts of tunnels; the end of one owner removes the next' },
  { id: 'tunnelmole (docs)', peer: 'tunnelmole', what: 'a password in an address' },
  { id: 'Node llhttp CVE-2020-8201', peer: 'Node', what: 'CR becomes a hyphen in a field name' },
  { id: 'Node llhttp CVE-2020-8251', peer: 'Node', what: 'requests that never end' },
  { id: 'Node llhttp CVE-2021-22960', peer: 'Node', what: 'line ends in chunk extensions' },
  { id: 'Node llhttp CVE-2022-32214', peer: 'Node', what: 'LF ends a line' },
  { id: 'Node llhttp CVE-2022-35256', peer: 'Node', what: 'a field without CR LF at its end' },
  { id: 'Node llhttp CVE-2023-30589', peer: 'Node', what: 'CR ends a line' },
  { id: 'Node llhttp GHSA-5689-v88g-g6rv', peer: 'Node', what: 'a transfer coding that two parsers read differently' },
  { id: 'CVE-2023-44487', peer: 'HTTP/2', what: 'rapid reset' },
  { id: 'CVE-2025-8671', peer: 'HTTP/2', what: 'resets that the server is made to send' },
  { id: 'CVE-2024-27316', peer: 'HTTP/2', what: 'CONTINUATION without end (also CVE-2024-28182, CVE-2024-27983)' },
  { id: 'CVE-2019-9515', peer: 'HTTP/2', what: 'floods of SETTINGS, and of PING (CVE-2019-9512)' },
  { id: 'CVE-2019-9518', peer: 'HTTP/2', what: 'frames without anything in them' },
  { id: 'CVE-2019-9513', peer: 'HTTP/2', what: 'floods of PRIORITY' },
  { id: 'CVE-2016-1544', peer: 'HTTP/2', what: 'a small head that becomes a large one (also CVE-2025-53020)' },
  { id: 'CVE-2019-9516', peer: 'HTTP/2', what: 'fields without name or value' },
  { id: 'CVE-2019-9511', peer: 'HTTP/2', what: 'windows that stay shut (also CVE-2019-9517)' },
];

/** Tried whatever others got wrong. */
export const CLASSES: readonly string[] = [
  ...[
    'class 1 smuggling',
    'class 2 host confusion',
    'class 3 name takeover',
    'class 4 cookies',
    'class 5 header trust',
  ],
  ...['class 6 SSRF', 'class 7 JWT', 'class 8 tokens', 'class 9 auth endpoints', 'class 10 tenant isolation'],
  ...['class 11 resource exhaustion', 'class 14 operations'],
];

/** Parts that are not there: a row about one holds as soon as its path answers, or its setting is taken. */
export interface NotBuilt {
  readonly part: string;
  /** Advisories that come to life with it. */
  readonly ids: readonly string[];
  /** Paths of the API that it would have. */
  readonly paths: readonly string[];
  /** A setting that it would have, which no server takes today; or the mark that it has no effect. */
  readonly toml: string;
}

export const NOT_BUILT: readonly NotBuilt[] = [
  {
    part: 'files served by an agent',
    ids: ['GHSA-74m3-9qvm-rp9h'],
    paths: ['/drives', '/files'],
    toml: '[edge]\nserve_files = true',
  },
  {
    part: 'certificates of visitors',
    ids: ['ngrok agent 3.24.0'],
    paths: ['/tunnels/x/mtls', '/tunnels/x/client-certificates'],
    toml: '[edge.tls]\nclient_ca_file = "ca.pem"',
  },
];
