/**
 * Every setting of `culvert serve`, nested as in the TOML file, with its default and the reason for it: here and nowhere else.
 * Read by load.ts. Settings are passed down as arguments; no other part of the program looks a default up for itself.
 */
import { z } from 'zod';
import type { Secret } from '../base/secret.ts';
import {
  bindHost,
  count,
  dialAddress,
  domain,
  emailOrNull,
  httpUrlOrNull,
  listen,
  listenOrOff,
  megabytesOrAuto,
  network,
  origin,
  path,
  pathOrNull,
  portRange,
  providerUrl,
  providerUrlOrNull,
  publicHost,
  resolver,
  seconds,
  secondsOrNull,
  secretOrNull,
  span,
  textOrNull,
  urlTemplate,
} from './fields.ts';

import { accessLog, otlp } from './log-schema.ts';

/** Limits are there to stop a fault or an attack from taking the whole process down, not to shape honest traffic. */
const BILLION = 1_000_000_000;

const log = z.strictObject({
  // State changes are said, single events are not: a busy server writes a few lines a minute.
  level: z.enum(['error', 'warn', 'info', 'debug']).prefault('info'),
  // `auto` writes for people on a terminal and JSON lines elsewhere.
  format: z.enum(['auto', 'pretty', 'json']).prefault('auto'),
  access: accessLog.prefault({}),
});

const server = z.strictObject({
  // Empty: "Culvert". On the login page and in the dashboard, so that users of several servers tell them apart.
  name: z
    .string()
    .max(40)
    .transform((text) => text.trim() || null)
    .prefault(''),
  // Visitors wait for nothing that the control plane does. 0: both in one thread, for a machine with one core and little memory.
  data_threads: count(0, 1).prefault(1),
  // Empty: 30, or 5 where systemd holds the sockets, for new visitors wait until this process has left.
  drain_seconds: secondsOrNull.prefault(''),
});

const api = z.strictObject({
  // Loopback: the API is on the network only when the operator says so.
  listen: listen.prefault('127.0.0.1:9090'),
  // Off: on loopback TLS only costs, and a proxy in front has its own. On: with the edge's certificates (edge.tls).
  tls: z.boolean().prefault(false),
  // Empty: computed as http(s)://<api.listen>. Set it as soon as a proxy stands in front, or api.tls is on.
  public_url: httpUrlOrNull.prefault(''),
  // X-Forwarded-For is ignored until the operator names trusted proxies (API and edge).
  trusted_proxies: z.array(network).max(1000).prefault([]),
  // No other web site may call the API from a browser.
  cors_origins: z.array(origin).max(1000).prefault([]),
});

const accounts = z.strictObject({
  // Open, because the first thing that a new server needs is users; mail.transport = "log" keeps the codes with the operator.
  signup: z.enum(['open', 'closed']).prefault('open'),
  // A person running a server for friends need not approve them one by one.
  require_approval: z.boolean().prefault(false),
  // Empty: admin@localhost, whose password the first start prints. A named owner sets it with a link, so that no log holds it.
  owner: emailOrNull.prefault(''),
});

const limits = z.strictObject({
  // The specification's figures: five tries at once, then one per twelve seconds.
  auth_burst: count(1, 1_000_000).prefault(5),
  auth_refill_seconds: seconds().prefault(12),
});

const edgeTls = z.strictObject({
  // No certificate can be right by default; the edge speaks plain HTTP on loopback until one is configured.
  mode: z.enum(['off', 'self_signed', 'files', 'acme']).prefault('off'),
  // Used with mode = "files".
  cert_file: pathOrNull.prefault(''),
  key_file: pathOrNull.prefault(''),
});

const edgeLimits = z.strictObject({
  // 5 KB of memory each when idle: 100 MB at the limit. Beyond it connections are closed at once.
  max_connections: count(1, 10_000_000).prefault(20_000),
  // Enough for an office behind one address, too little for one machine to take all of max_connections. 0 = no limit.
  max_connections_per_ip: count(0, 10_000_000).prefault(512),
  // Requests under way: with HTTP/2 a connection carries a hundred. A quarter of the streams that an agent's session has; an office behind one
  // address that has more under way at once is none. 0 = no limit.
  max_requests_per_ip: count(0, 10_000_000).prefault(1_024),
  // From the first byte of a request head to its last; what nginx and Node allow is longer, what browsers need is far less.
  head_timeout_seconds: seconds().prefault(10),
  // Between two requests on a kept connection: nginx's figure, above the 60 s of common load balancers in front.
  idle_timeout_seconds: seconds().prefault(75),
  // Longest silence inside a body that is under way. A large body may take hours, silence may not.
  body_idle_timeout_seconds: seconds().prefault(120),
  // 0: an upload that says a line a minute is honest, and rare. Turned up where trickling bodies take all connections of a small service.
  min_bytes_per_second: count(0, BILLION).prefault(0),
  // How long the service may take until the head of its answer is whole; interim answers begin it anew. Long polls end below this.
  local_timeout_seconds: seconds().prefault(300),
  // 0: a quiet WebSocket stays open; TCP keep-alive finds dead peers.
  websocket_idle_seconds: seconds({ orOff: true }).prefault(0),
  // A visitor that is still sending when it is answered must get to read that; one that goes on for longer is not listening.
  linger_timeout_seconds: seconds().prefault(3),
  // From the first packet on; two round trips of a bad mobile link take about 3 s.
  tls_handshake_timeout_seconds: seconds().prefault(10),
  // A handshake costs 0.7 ms of the thread that serves all visitors, so 50 take 4 % of it. A browser makes one to six for a page, and an office
  // behind one address begins the day within the burst. 0 in either = no limit.
  tls_handshakes_per_second_per_ip: count(0, 1_000_000).prefault(50),
  tls_handshakes_burst_per_ip: count(0, 1_000_000).prefault(200),
  // Cookies of single sign-on come to 16 KB; Node takes 16, nginx 32 in all. Forwarded whole in one piece, so not without end.
  max_head_bytes: count(1_024, 65_536).prefault(32_768),
  // Browsers send about 20.
  max_head_fields: count(16, 500).prefault(100),
  // Browsers go beyond, but common services take 8 KB.
  max_uri_bytes: count(256, 65_536).prefault(16_384),
  // What browsers use of other servers (nginx 128, RFC 9113 §6.5.2 asks for no less than 100).
  http2_max_streams: count(1, 1_000).prefault(100),
  // A browser that leaves a page resets all that it had open, which is ten times this at once; a flood does so all the time.
  http2_resets_per_second: count(1, 10_000).prefault(20),
  // A stream may hold 512 KB for a slow visitor and a slow service, a connection a hundred times that. For all connections together.
  http2_memory_mb: count(16, 1_000_000).prefault(256),
});

const edge = z.strictObject({
  // *.localhost reaches this machine in every browser, with no DNS entry.
  domain: domain.prefault('localhost'),
  // Loopback and an unprivileged port: a first start needs no root and opens nothing to the network.
  http_listen: listenOrOff.prefault('127.0.0.1:8080'),
  // Off until a certificate is configured.
  https_listen: listenOrOff.prefault(''),
  // Empty: computed from domain, listeners and tls.mode. Set it when a proxy in front changes scheme or port.
  public_url: urlTemplate.prefault(''),
  // A hundred public ports above the registered services and below the ephemeral range of Linux (32768).
  tcp_ports: portRange.prefault('20000-20099'),
  tcp_host: bindHost.prefault('127.0.0.1'),
  // Empty: edge.domain.
  tcp_public_host: publicHost.prefault(''),
  // Services may be meant for plain HTTP too, and no certificate is there by default.
  https_redirect: z.boolean().prefault(false),
  // Off: only a load balancer sends this header. From any other client it could be forged.
  proxy_protocol: z.boolean().prefault(false),
  // Not api.trusted_proxies: a load balancer that passes bytes on passes on X-Forwarded-For as visitors wrote it.
  proxy_protocol_from: z.array(network).max(1000).prefault([]),
  // Relay ports of private networks; same reasons as tcp_ports.
  udp_ports: portRange.prefault('30000-30099'),
  udp_host: bindHost.prefault('127.0.0.1'),
  // The kernel tells where a network card can't, and it goes by single ones then; for cards that only say they can.
  udp_batches: z.boolean().prefault(true),
  // Fetching a customer's key URL, or posting an alert, must not become a way into the operator's network.
  allow_private_jwks: z.boolean().prefault(false),
  // Browsers choose it over TLS by themselves; without it they use several connections of HTTP/1.1.
  // `node`: by Node's library instead of our own code, for one release, in case a client does not get on with it.
  http2: z.union([z.boolean(), z.literal('node')], { error: 'must be true, false or "node"' }).prefault(true),
  // An agent is back within a second or two. Clients and proxies in front give up after 10 s and more.
  hold_seconds: seconds({ orOff: true }).max(60).prefault(5),
  tls: edgeTls.prefault({}),
  // Of a service's responses. Some set 60 KB of cookies; what is longer than half the window of a stream is no head. Node takes 16 KB, nginx 8.
  max_response_head_bytes: count(8_192, 196_608).prefault(131_072),
  // Room for policies of content security, which are split over many lines.
  max_response_fields: count(100, 1_000).prefault(256),
  limits: edgeLimits.prefault({}),
});

const acme = z.strictObject({
  // An attacker who changes answers on the way could get certificates: https, except on this machine.
  directory_url: providerUrl.prefault('https://acme-v02.api.letsencrypt.org/directory'),
  // Optional for Let's Encrypt; the authority warns this address before a certificate expires.
  email: textOrNull.prefault(''),
  // Trusts a private ACME server; empty: the system's roots.
  ca_file: pathOrNull.prefault(''),
  // Works where port 80 reaches the edge, which is the most common case.
  challenge: z.enum(['http-01', 'tls-alpn-01', 'dns-01']).prefault('http-01'),
  // Let's Encrypt takes 50 new names of a registered domain in a week, and others of the operator's may need some. Renewals do not count.
  max_new_per_week: count(1, 1_000_000).prefault(45),
  // Needed for dns-01, and so for wildcards. A program of the operator, for each DNS provider has an API of its own.
  dns_hook: pathOrNull.prefault(''),
  // Most providers show a record within seconds; the wait ends as soon as the resolvers see it.
  dns_propagation_seconds: seconds({ orOff: true }).prefault(60),
  // Let's Encrypt needs none; commercial authorities give them to their customers.
  eab_kid: textOrNull.prefault(''),
  eab_hmac_key: secretOrNull.prefault(''),
});

const agentLimits = z.strictObject({
  // 42 KB of memory each when idle: about 200 MB at the limit.
  max_sessions: count(1, 1_000_000).prefault(5000),
  // One visitor's request or connection is one stream. yamux itself has 2^31 numbers.
  max_streams_per_session: count(1, 1_000_000).prefault(4096),
  // TLS and hello together; a slow mobile link needs about 3 s.
  handshake_timeout_seconds: seconds().prefault(10),
  // What all sessions together may hold for readers that are slower than their senders. Beyond it windows stop growing.
  max_buffered_mb: count(16, 1_000_000).prefault(512),
});

const agents = z.strictObject({
  // TLS always. Loopback, as for the others. Empty: agents come by edge.https_listen alone, which takes them in any case.
  listen: listenOrOff.prefault('127.0.0.1:7443'),
  // Empty: computed from agents.listen, or from api.public_url where that is empty. Set it when agents reach this port by another name.
  public_address: dialAddress.prefault(''),
  // Empty: the certificate of edge.tls, or a self-signed one that agents pin by its fingerprint.
  cert_file: pathOrNull.prefault(''),
  key_file: pathOrNull.prefault(''),
  limits: agentLimits.prefault({}),
});

const mail = z.strictObject({
  // A one-person server needs no mail server: codes and links are in the log.
  transport: z.enum(['log', 'smtp']).prefault('log'),
  // smtp:// uses STARTTLS where offered, smtps:// TLS from the start. May hold a password, hence secret.
  smtp_url: secretOrNull.prefault(''),
  from: textOrNull.prefault(''),
});

const oauth = z.strictObject({
  google: z
    .strictObject({
      client_id: textOrNull.prefault(''),
      client_secret: secretOrNull.prefault(''),
      // Any OIDC issuer fits; the path segment stays `google`.
      issuer: providerUrl.prefault('https://accounts.google.com'),
    })
    .prefault({}),
  github: z
    .strictObject({
      client_id: textOrNull.prefault(''),
      client_secret: secretOrNull.prefault(''),
      // GitHub's own addresses; a GitHub Enterprise server has others.
      authorize_url: providerUrl.prefault('https://github.com/login/oauth/authorize'),
      token_url: providerUrl.prefault('https://github.com/login/oauth/access_token'),
      api_url: providerUrl.prefault('https://api.github.com'),
    })
    .prefault({}),
});

const edgeAuth = z.strictObject({
  // The provider that most visitors have an account with.
  provider: z.enum(['google', 'github']).prefault('google'),
});

const billing = z.strictObject({
  // Plans can be tried without a payment provider.
  mode: z.enum(['mock', 'stripe', 'none']).prefault('mock'),
  stripe: z
    .strictObject({
      secret_key: secretOrNull.prefault(''),
      webhook_secret: secretOrNull.prefault(''),
      // For tests, or a gateway of the operator's own.
      api_base: providerUrl.prefault('https://api.stripe.com'),
      // Price ids of the operator's own Stripe account: nothing fits by default.
      prices: z
        .strictObject({
          pro_monthly: textOrNull.prefault(''),
          pro_yearly: textOrNull.prefault(''),
          team_monthly: textOrNull.prefault(''),
          team_yearly: textOrNull.prefault(''),
        })
        .prefault({}),
    })
    .prefault({}),
});

const plans = z.strictObject({
  // The smallest: what a stranger gets after sign-up.
  default: z.enum(['free', 'pro', 'team', 'enterprise']).prefault('free'),
});

const pricing = z.strictObject({
  // What budgets are counted in. Ten cents is near what clouds take for traffic; requests are free.
  usd_cents_per_gb: z.number().min(0).max(BILLION).prefault(10),
  usd_cents_per_million_requests: z.number().min(0).max(BILLION).prefault(0),
});

const inspector = z.strictObject({
  // Looking at requests is why most developers open a tunnel.
  enabled: z.boolean().prefault(true),
  // Enough for JSON and forms; larger bodies are cut in the record, never in the traffic.
  max_body_bytes: count(0, 64 * 1024 * 1024).prefault(65_536),
  // Frames are payload of visitors, up to 128 KB for each connection: off until a user debugs a WebSocket.
  websocket_frames: z.boolean().prefault(false),
  // More than a person looks at, less than what would fill the file: ten seconds of it may come at once. 0: no limit.
  max_per_second_per_tunnel: count(0, 1_000_000).prefault(100),
  // What the file takes beside the server's other work; four seconds of it may come at once. 0: no limit.
  max_per_second: count(0, 1_000_000).prefault(1_000),
  // Records under way and on their way to the file: a thousand of two full bodies each would be twice that.
  max_memory_mb: count(1, 65_536).prefault(64),
  // Half a million requests of some kilobytes each. It bounds what a plan keeps for days.
  max_stored_mb: count(16, 1_000_000).prefault(1_024),
  // For the main database: 5 % of the disk, but 64 MB to 1 GB, and of a small disk a third at most. 0: recordings may fill it.
  min_free_mb: megabytesOrAuto.prefault('auto'),
  // Replay sends requests in a customer's name: off until the operator wants it.
  replay: z.boolean().prefault(false),
  // Once replay is on: every tunnel, or the tunnel ids listed here.
  replay_allow: z
    .array(z.literal('*').or(z.uuid('must be "*" or the id of a tunnel')))
    .max(10_000)
    .prefault(['*']),
});

const metrics = z.strictObject({
  // Off: superadmins read metrics by the API, and no port opens by default.
  listen: listenOrOff.prefault(''),
  // Optional on loopback. Required elsewhere, for metrics reveal the load and version of a server.
  token_file: pathOrNull.prefault(''),
});

const backup = z.strictObject({
  // Off: no folder is right by default. One on the disk of the database helps against mistakes, not against the loss of the disk.
  folder: pathOrNull.prefault(''),
  // What was changed since the last one is lost with the disk: a day is what most can repeat.
  every: span.prefault('24h'),
  // A week, to go back behind a mistake that is noticed late.
  keep: count(1, 10_000).prefault(7),
  // A file and not a value: settings are part of a backup.
  passphrase_file: pathOrNull.prefault(''),
  s3: z
    .strictObject({
      // Requests go to <endpoint>/<bucket>/<prefix>…, which every S3-compatible store takes.
      endpoint: providerUrlOrNull.prefault(''),
      bucket: textOrNull.prefault(''),
      prefix: z.string().max(512).prefault(''),
      // What stores without regions accept.
      region: z.string().min(1, 'must name a region, such as "us-east-1"').prefault('us-east-1'),
      access_key_file: pathOrNull.prefault(''),
      secret_key_file: pathOrNull.prefault(''),
    })
    .prefault({}),
});

const dns = z.strictObject({
  // Empty: the system's resolvers.
  resolvers: z.array(resolver).max(16).prefault([]),
});

export const serverSchema = z.strictObject({
  // Below the working directory, so that a trial leaves no trace elsewhere. The install script sets /var/lib/culvert.
  data_dir: path.prefault('./data'),
  // No default: who makes the releases of a server is its operator's choice.
  releases_url: httpUrlOrNull.prefault(''),
  // Empty: `releases` below the data folder, which the server's user can write.
  releases_dir: pathOrNull.prefault(''),
  log: log.prefault({}),
  server: server.prefault({}),
  api: api.prefault({}),
  accounts: accounts.prefault({}),
  limits: limits.prefault({}),
  edge: edge.prefault({}),
  acme: acme.prefault({}),
  agents: agents.prefault({}),
  mail: mail.prefault({}),
  oauth: oauth.prefault({}),
  edge_auth: edgeAuth.prefault({}),
  billing: billing.prefault({}),
  plans: plans.prefault({}),
  pricing: pricing.prefault({}),
  inspector: inspector.prefault({}),
  metrics: metrics.prefault({}),
  backup: backup.prefault({}),
  export: z.strictObject({ otlp: otlp.prefault({}) }).prefault({}),
  dns: dns.prefault({}),
});

/** The file as checked, before the keys that may stay empty are computed. */
export type ServerFile = z.output<typeof serverSchema>;

type DeepReadonly<T> = T extends string | number | boolean | null | Secret
  ? T
  : T extends ReadonlySet<string>
    ? T
    : T extends readonly (infer Item)[]
      ? readonly DeepReadonly<Item>[]
      : { readonly [Key in keyof T]: DeepReadonly<T[Key]> };

/** What the server runs on: every key present, checked, computed, frozen. */
export type Settings = DeepReadonly<
  Omit<ServerFile, 'api' | 'edge' | 'agents'> & {
    /** Dotted keys that the file sets, but for empty ones. */
    written: ReadonlySet<string>;
    api: Omit<ServerFile['api'], 'public_url'> & { public_url: string };
    edge: Omit<ServerFile['edge'], 'public_url' | 'tcp_public_host'> & { public_url: string; tcp_public_host: string };
    agents: Omit<ServerFile['agents'], 'public_address'> & { public_address: string };
  }
>;
