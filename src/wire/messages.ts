/**
 * What agent and server say to each other on the control stream: all messages and all limits on one screen.
 *
 * The control stream is the first stream that the agent opens on a session. Each message is one JSON object on one line,
 * ended by LF, at most MAX_MESSAGE_BYTES. A peer that breaks a rule here is cut off with `bye` / `protocol_error`.
 *
 *   agent                                  server
 *   hello {version, token, …}      →
 *                                  ←       welcome {agentId, …}        or  bye {code, …}
 *   claim {ref, protocol, …}       →
 *                                  ←       bound {ref, slot, url, …}   or  refused {ref, code, …}
 *   attach {ref, network, …}       →                                       (carry the datagrams of a private network)
 *                                  ←       attached {ref, slot, key, …}  or  refused {ref, code, …}
 *                                  ←       peers {slot, items, …}          (devices of that network, if the agent wants them)
 *   unbind {slot}                  →                                       (agent no longer serves it)
 *                                  ←       unbound {slot, code, …}         (stopped, expired, superseded, …)
 *   advice {slot, code}            →                                       (the service refuses requests, and says why)
 *   watch {requests}               →
 *                                  ←       requests {items}                (short lines for the live screen)
 *   drain {}                       →                                       (agent leaves: no new streams, finish the rest)
 *                                  ←       drain {retryAfterMs, …}         (server leaves or kicks: finish, come back then)
 *                                  ←       bye {code, message, …}          (the session ends now)
 */
import { z } from 'zod';
import { narrowingNames } from './narrowing.ts';
import { ADVICE_CODES } from './advice-codes.ts';
import { agentCommand } from './agent-command.ts';
import { pathRoutes } from './path-routes.ts';
import { upstreamForm } from './upstream-form.ts';

export const WIRE_VERSION = 1;
export const ALPN = 'culvert/1';
/** A hello must be complete this long after the TLS handshake: a silent client costs one socket for no longer. */
export const HELLO_TIMEOUT_MS = 10_000;
export const MAX_MESSAGE_BYTES = 64 * 1024;
/** Tunnels that one agent session may carry. */
export const MAX_TUNNELS_PER_AGENT = 1_000;
/** Contract §9: heartbeat 10 s, dead after 20 s; the mux pings on both sides. */
export const HEARTBEAT_MS = 10_000;
export const DEAD_AFTER_MS = 20_000;
/** Contract §9: streams in flight at SIGTERM get this long. */
export const DRAIN_MS = 30_000;

/** Why a claim is refused or a tunnel ends; `codes.ts` says what the agent does about each. */
export const REFUSAL_CODES = [
  'unauthorized', // the token is unknown, expired or revoked
  'forbidden', // the token may not do this: organization not approved, master key
  'subdomain_not_allowed', // not among the token's allowedSubdomains
  'duplicate_name', // the name belongs to someone else
  'invalid_name', // no valid label
  'invalid_request', // the claim itself is malformed
  'quota_exceeded', // tunnelQuota of the token, or what its organization may have
  'budget_exhausted',
  'upgrade_required', // the plan does not include it
  'no_port_free', // none of edge.tcp_ports is free for the organization, or another program has the port: a relay tries again
  'network_not_found', // no private network of this id or name in the token's organization
  'network_not_ready', // it has no server key yet, or is reached without this relay
  'network_deleted',
  'tunnel_stopped', // stopped by the API; stays refused until start
  'tunnel_expired',
  'tunnel_deleted',
  'superseded', // the same token claimed the name from a newer session
  'disconnected', // DELETE /connections/{id}: come back in about 5 s
  'server_shutdown',
  'protocol_error',
  'version_unsupported',
  'overloaded', // a bound of the server was reached: try later
  'internal',
] as const;
export type RefusalCode = (typeof REFUSAL_CODES)[number];

export const PROTOCOLS = ['http', 'https', 'websocket', 'tcp'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

const refusalCode = z.enum(REFUSAL_CODES);
/** Characters of a text for people. A longer one is a broken rule, so its sender cuts it. */
export const MAX_TEXT = 1_000;
const text = z.string().max(MAX_TEXT);
const slot = z.int().min(0).max(0xffff);
const ref = z.int().min(0).max(0xffff_ffff);
/** Which server speaks. An older one does not say. */
const serverId = z.uuid().optional();

export const hello = z.object({
  type: z.literal('hello'),
  version: z.int().min(1).max(255),
  token: z.string().min(1).max(8192),
  /** Shown in lists of connections. */
  agent: z.object({ version: text, os: text, hostname: text }),
  /** It can say when nothing waits behind a response (CLEAR of mux/frame.ts). Without this and the next a stream carries one request and no more. */
  clear: z.boolean().optional(),
  /** It can say which bytes it sent before it had the next request (STEP of mux/frame.ts). */
  step: z.boolean().optional(),
  /** Of the agent's process: one that comes again with it is the same agent, by another way. */
  run: z.uuid().optional(),
});

export const claim = z.object({
  type: z.literal('claim'),
  ref,
  protocol: z.enum(PROTOCOLS),
  /** The local target as the user wrote it: for display only, the server never dials it. */
  target: text,
  localPort: z.int().min(1).max(65_535),
  subdomain: z.string().max(253).optional(),
  project: z.string().max(63).optional(),
  /**
   * The tunnel of an earlier `bound`: an agent that comes back gets the same random name or TCP port again. Only a wish; the
   * server looks first whether the token may still have it, and goes by the other fields when there is no such tunnel.
   */
  tunnelId: z.uuid().optional(),
  /** false: no request of this tunnel is recorded on the server. */
  inspect: z.boolean().optional(),
  /** What the agent's flags add in front of the tunnel: narrowing.ts. The server checks it, and refuses the claim for what it does not know. */
  narrow: z.record(z.string().max(64), z.unknown()).optional(),
  /** How often its settings were changed while the agent runs: a claim that is the same but for this takes a slot of its own. An older server answers with the old slot. */
  revision: z.int().min(1).max(0xffff_ffff).optional(),
  /** Needs the feature `upstream`. */
  upstream: upstreamForm.optional(),
  /** Several services behind the name, of http tunnels. Needs the feature `routes`. */
  routes: pathRoutes.optional(),
  /** For display only. One that this server does not understand counts as none: it must not keep the tunnel offline. */
  command: agentCommand.optional().catch(undefined),
});

/** This agent wants to carry the datagrams of a private network to a local UDP port. */
export const attach = z.object({
  type: z.literal('attach'),
  ref,
  /** Id or name. */
  network: z.string().min(1).max(253),
  /** As in `claim`. */
  target: text,
  /** It wants the devices, now and after each change. Needs the feature `peers`. */
  peers: z.boolean().optional(),
});

export const unbind = z.object({ type: z.literal('unbind'), slot });
export const watch = z.object({ type: z.literal('watch'), requests: z.boolean() });
/** What the service's refusals mean: for the tunnel's page. Needs the feature `advice`. */
export const advice = z.object({ type: z.literal('advice'), slot, code: z.enum(ADVICE_CODES) });
export const agentDrain = z.object({ type: z.literal('drain') });

export const fromAgent = z.discriminatedUnion('type', [hello, claim, attach, unbind, watch, advice, agentDrain]);

export const welcome = z.object({
  type: z.literal('welcome'),
  version: z.int(),
  agentId: z.uuid(),
  serverVersion: text,
  account: text,
  /** The bandwidth limit that the server keeps, so that the agent sends no faster; absent: none. An agent may leave it out of account. */
  bandwidthLimitMbps: z.number().positive().max(1_000_000).optional(),
  /** The server wants a note when nothing waits behind a response. */
  clear: z.boolean().optional(),
  /** Keys of `claim.narrow` that this server applies. An older one does not say: it would ignore them. */
  narrows: narrowingNames.optional(),
  serverId,
  /** features.ts; an older server lists none. */
  features: z.array(z.string().max(64)).max(64).optional(),
});

export const bound = z.object({
  type: z.literal('bound'),
  ref,
  slot,
  tunnelId: z.uuid(),
  subdomain: text,
  url: text,
  protocol: z.enum(PROTOCOLS),
  expiresAt: z.number().nullable(),
  /** Keys of `claim.narrow` that are in force. */
  narrowed: narrowingNames.optional(),
  /** The end that `narrow.ttl` sets. */
  ttlEndsAt: z.number().optional(),
});

/**
 * The answer to `attach`. The server opens a stream to `slot` at once, which carries datagrams until UDP does, and whenever it does not
 * (relay-packets.ts); it ends by `unbound`.
 */
export const attached = z.object({
  type: z.literal('attached'),
  ref,
  slot,
  networkId: z.uuid(),
  name: text,
  /** `host:port` that clients are configured with. */
  endpoint: text,
  /** UDP port of the server for this agent's datagrams, at the address that the session goes to. */
  port: z.int().min(1).max(65_535),
  /** 7 bytes in base64url: in the head of each datagram. */
  token: z.string().length(10),
  /** 32 bytes in base64url: signs the handshake. */
  key: z.string().length(43),
  /** The same as at the last `attached`: the flows of then are still known, under their numbers. */
  epoch: z.int().min(0).max(0xffff_ffff),
});

/** Devices in one message: each with some networks behind it stays far below MAX_MESSAGE_BYTES. */
export const PEERS_AT_ONCE = 50;
/** Networks behind a device, and its own address. */
const MAX_ALLOWED_IPS = 64;

/** A device as the WireGuard of the network's server has to know it. */
export const peer = z.object({
  /** WireGuard public key: 32 bytes in base64. */
  key: z.string().regex(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/),
  ips: z.array(z.string().regex(/^[0-9a-fA-F.:]{2,45}\/\d{1,3}$/)).max(MAX_ALLOWED_IPS),
});

/** All devices of a network that may connect now, in as many messages as they need: the agent takes the list once the last one is here. */
export const peers = z.object({
  type: z.literal('peers'),
  slot,
  items: z.array(peer).max(PEERS_AT_ONCE),
  isFirst: z.boolean(),
  isLast: z.boolean(),
});

export const refused = z.object({ type: z.literal('refused'), ref, code: refusalCode, message: text });
export const unbound = z.object({ type: z.literal('unbound'), slot, code: refusalCode, message: text });
export const serverDrain = z.object({ type: z.literal('drain'), retryAfterMs: z.number().min(0), message: text });
export const bye = z.object({
  type: z.literal('bye'),
  code: refusalCode,
  message: text,
  retryAfterMs: z.number().min(0).optional(),
  serverId,
  /** The key's time is over since then, by the server's clock: an agent whose clock says otherwise knows that one of the two is wrong. */
  expiredAt: z.number().optional(),
});

export const requestLine = z.object({
  slot,
  at: z.number(),
  method: z.string().max(32),
  path: z.string().max(512),
  status: z.int(),
  ms: z.number(),
  /** How an action of the tunnel's policy that is only tried would have answered. An older agent leaves it out of account. */
  dryRun: z.object({ status: z.int(), code: z.string().max(64) }).optional(),
});
export const requests = z.object({
  type: z.literal('requests'),
  items: z.array(requestLine).max(100),
  dropped: z.int(),
});

export const fromServer = z.discriminatedUnion('type', [
  welcome,
  bound,
  attached,
  peers,
  refused,
  unbound,
  serverDrain,
  bye,
  requests,
]);

export type FromAgent = z.infer<typeof fromAgent>;
export type FromServer = z.infer<typeof fromServer>;
export type Hello = z.infer<typeof hello>;
export type Claim = z.infer<typeof claim>;
export type Attach = z.infer<typeof attach>;
export type Attached = z.infer<typeof attached>;
export type Peers = z.infer<typeof peers>;
export type PeerItem = z.infer<typeof peer>;
export type Bound = z.infer<typeof bound>;
export type RequestLine = z.infer<typeof requestLine>;
