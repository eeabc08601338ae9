/**
 * The public types of the package `culvert`. They import nothing of the program: scripts/build-sdk.mjs ships them as they are.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Senders of webhooks whose signatures the server can check. `svix` is `standard_webhooks`. */
export type WebhookKind =
  | 'github'
  | 'stripe'
  | 'slack'
  | 'standard_webhooks'
  | 'svix'
  | 'shopify'
  | 'twilio'
  | 'discord'
  | 'linear'
  | 'generic_hmac_sha256'
  | 'generic_ed25519';

/**
 * Access control that this tunnel adds, beside that of API and dashboard: a visitor must pass both. It ends with the tunnel. A server that does not
 * support an option refuses the tunnel.
 */
export interface GateOptions {
  /** Visitors must send this user name and password. The server keeps a hash, in memory. Not for `tcp`. */
  readonly basicAuth?: { readonly user: string; readonly password: string } | undefined;
  /** Only visitors in these networks: `10.0.0.0/8`, `192.0.2.7`. */
  readonly allowCidr?: string | readonly string[] | undefined;
  /** No visitors in these networks. */
  readonly denyCidr?: string | readonly string[] | undefined;
  /** Your custom domain, verified and bound to a tunnel of your organization: that tunnel is served. Not for `tcp`. */
  readonly domain?: string | undefined;
  /** Visitors must log in; these domains and email addresses are allowed. Not for `tcp`. */
  readonly visitorLogin?: string | readonly string[] | undefined;
  /** Ends the tunnel after this time: `30m`, `2h`, `7d`. */
  readonly ttl?: string | undefined;
  /** Traffic policy, as the API takes it: `{ actions: […] }`. Not for `tcp`. */
  readonly policy?: { readonly actions: readonly object[] } | undefined;
  /** Only webhooks that this sender has signed. Several secrets hold at the same time, up to four. Not for `tcp`. */
  readonly webhookVerify?: { readonly kind: WebhookKind; readonly secret: string | readonly string[] } | undefined;
}

export interface TunnelOptions extends GateOptions {
  /** Subdomain of the public URL. None: a random one, which stays the same until `close`. */
  readonly name?: string | undefined;
  /** URL of the server, or its host. None: as the command line finds it (`CULVERT_SERVER`, `culvert.toml`, the login). */
  readonly server?: string | undefined;
  /** Access key. None: as the command line finds it (`CULVERT_TOKEN`, `CULVERT_TOKEN_FILE`, `culvert login`). */
  readonly token?: string | undefined;
  /** Slug of the project that the tunnel belongs to. */
  readonly project?: string | undefined;
  /** `false`: the server records no requests of this tunnel. */
  readonly inspect?: boolean | undefined;
  /** Milliseconds until the first connection must be there; 30,000 unless given. Later the agent reconnects as often as it must. */
  readonly timeoutMs?: number | undefined;
  /** Ends the wait for the first connection, and the tunnel. */
  readonly signal?: AbortSignal | undefined;
}

/** A service for one path. */
export interface Route {
  /** `/api`: this path, and what is below it. */
  readonly path: string;
  /** As `to` of `forward`. */
  readonly to: number | string;
}

/** How your service is spoken to. */
export interface ServiceOptions extends TunnelOptions {
  /** `http` unless given. `https`: the service speaks TLS. */
  readonly protocol?: 'http' | 'https' | 'tcp' | undefined;
  /** HTTP version that your service speaks; `http1` unless given. `auto`: HTTP/2 if it offers it by ALPN, or speaks nothing else. */
  readonly upstreamProtocol?: 'http1' | 'http2' | 'auto' | undefined;
  /** Host that your service gets: `rewrite` for its own, or a name such as `app.local:3000`. `preserve` unless given: that of the visitor. */
  readonly hostHeader?: string | undefined;
  /** Publishes this path of your service: `/app`. */
  readonly pathPrefix?: string | undefined;
}

/** Your service: a port (`3000`), `host:port`, a URL (`https://localhost:3000`) or `unix:/path`. */
type Target = number | string;

/** A service, or several behind one URL by path: the longest path counts, and `to` gets all others. */
export type ForwardOptions = ServiceOptions &
  (
    | { readonly to: Target; readonly routes?: readonly Route[] | undefined }
    | { readonly to?: Target | undefined; readonly routes: readonly Route[] }
  );

/** A request that a visitor made. */
export interface TunnelRequest {
  /** When it ended, in milliseconds since the epoch. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** How long it took. */
  readonly ms: number;
}

export interface TunnelStatus {
  /** `reconnecting`: the connection to the server was lost, and the agent tries again. `closed`: it is over. */
  readonly state: 'online' | 'reconnecting' | 'closed';
  /** Why it is not online. */
  readonly reason?: string | undefined;
}

export interface TunnelEvents {
  request: TunnelRequest;
  status: TunnelStatus;
}

/** A public URL that leads here, until `close`. */
export interface Tunnel extends AsyncDisposable {
  readonly url: string;
  /** Id of the tunnel in the API. */
  readonly id: string;
  /** Calls `listener` at each event; the function that it returns ends that. */
  on<Name extends keyof TunnelEvents>(name: Name, listener: (event: TunnelEvents[Name]) => void): () => void;
  /** Ends the tunnel: requests that run get up to `graceMs` (2,000 unless given). Resolves when it is over; may be called again. */
  close(graceMs?: number): Promise<void>;
}

/** A request listener, an `http.Server`, or an app that has one: Express (a function) and Hono (`fetch`). */
export type Listener =
  | ((request: IncomingMessage, response: ServerResponse) => unknown)
  | Server
  | { fetch(request: Request): Response | Promise<Response> };

export type ErrorCode =
  /** An option is wrong, or no key or server is known. */
  | 'usage'
  /** The key is unknown, expired or revoked. */
  | 'unauthorized'
  /** The server refused the tunnel: its name, a limit, the plan. */
  | 'refused'
  /** The server could not be reached in time. */
  | 'timeout'
  /** `signal` ended it. */
  | 'aborted'
  /** Anything else; the message says what. */
  | 'failure';
