/**
 * What every request handler of the API is given. No rules here: types, and the two things that each reads from a request.
 */
import type { HttpBindings } from '@hono/node-server';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { NetworkSet } from '../../../base/net/addr.ts';
import type { Logger } from '../../../base/log.ts';
import type { Visit } from '../rules/caller.ts';
import type { MasterKeyActor, MetricKeyActor, OperatorActor, TokenActor, UserActor } from '../rules/actor.ts';

export interface ApiEnv {
  Bindings: HttpBindings & {
    /** Set when it came by the data folder and not by the network: over the folder's socket, or from within the process. */
    readonly isFromFolder?: boolean;
  };
  Variables: {
    /** True source address: the socket's, or what a trusted proxy says. */
    clientIp: string;
    /** Set once a bearer was found valid, as they were before the body came. Handlers ask `actorOf`. */
    actor: UserActor | undefined;
    /** Set with `actor`: asks the tables again. Throws `unauthorized` when the caller exists no more. */
    actorNow: (() => UserActor) | undefined;
    /** Set in place of `actor` for an operator's token, which the routes under /superadmin alone take, and off the network alone. */
    operator: OperatorActor | undefined;
    /** Set in place of `actor` for a master key, which the routes that say so alone take. Asks the tables, as `actorNow`. */
    masterKeyNow: (() => MasterKeyActor) | undefined;
    /** Set in place of `actor` for a key for metrics, which the exposition alone takes. */
    scraper: MetricKeyActor | undefined;
    /** Set in place of `actor` for a key of an agent, which the events of a webhook receiver alone take. Asks the tables, as `actorNow`. */
    readerNow: (() => TokenActor) | undefined;
    /** Set where a visitor of a tunnel signs in: where their page of a refusal leads back to. */
    visitedSite: { readonly url: string; readonly host: string } | undefined;
  };
}

/** The application that routes are mounted on. */
export type Api = OpenAPIHono<ApiEnv>;

/** What an agent must know to come here. */
export interface Discovery {
  readonly version: string;
  readonly agent_address: string;
  /** All of them, the first to try first. */
  readonly agent_addresses: readonly string[];
  readonly agent_fingerprint?: string;
  readonly edge_domain: string;
  readonly api_url: string;
  readonly server_id: string;
}

/** The store (control/db/tx.ts), as far as requests that change something wait for it (write-queue.ts). */
export interface Writes {
  readonly commits: number;
  writable(): Promise<void>;
  durable(): Promise<void>;
}

/** What the API is served with, besides the features. */
export interface ApiSettings {
  readonly version: string;
  readonly writes: Writes;
  /** Undefined until the data node listens. */
  readonly discovery: () => Discovery | undefined;
  /** `api.public_url`, with the real port where the setting says 0. */
  readonly publicUrl: () => string;
  /** Leads to the API's host (bare-host.ts); undefined: no such name leads here. */
  readonly bareHost?: string | undefined;
  readonly trustedProxies: NetworkSet;
  readonly corsOrigins: readonly string[];
  readonly authLimit: { readonly burst: number; readonly refillSeconds: number };
  readonly monotonic: () => number;
  readonly log: Logger;
}

/** Of requests without a body to wait for. */
const BODILESS = new Set(['GET', 'HEAD']);

/**
 * The caller. Only for routes behind the bearer check, which was before the body: meanwhile a slow sender may have been removed, demoted,
 * locked or logged out since, so the tables are asked again. To be called by the handler, in one turn of the loop with the service. Throws
 * `unauthorized`.
 */
export function actorOf(c: Context<ApiEnv>): UserActor {
  const actor = BODILESS.has(c.req.method) ? c.get('actor') : c.get('actorNow')?.();
  if (actor === undefined) throw new Error(`${c.req.method} ${c.req.path} ran without an actor`);
  return actor;
}

/**
 * The caller, checked now and again behind a wait, for it may have been removed meanwhile. Only for routes that take keys of agents.
 * What it returns throws `unauthorized`, `forbidden`.
 */
export function readerOf(c: Context<ApiEnv>): () => UserActor | TokenActor {
  const now = c.get('readerNow') ?? c.get('actorNow');
  if (now === undefined) throw new Error(`${c.req.method} ${c.req.path} ran without an actor`);
  return now;
}

/** The caller that mints keys for a project, as `actorOf`. Only for routes that take master keys. Throws `unauthorized`, `forbidden`, `upgrade_required`. */
export function minterOf(c: Context<ApiEnv>): UserActor | MasterKeyActor {
  return c.get('masterKeyNow')?.() ?? actorOf(c);
}

/** The caller that reads an organization's metrics. Only for routes that take keys for metrics. */
export function scraperOf(c: Context<ApiEnv>): UserActor | MetricKeyActor {
  return c.get('scraper') ?? actorOf(c);
}

/** The caller as an operator of the server; the services decide. Only for routes under /superadmin. */
export function operatorOf(c: Context<ApiEnv>): UserActor | OperatorActor {
  return c.get('operator') ?? actorOf(c);
}

/** Fires when the connection of the request is over. */
export function goneSignal(c: Context<ApiEnv>): AbortSignal {
  const gone = new AbortController();
  const { outgoing } = c.env;
  if (outgoing.closed) gone.abort();
  else outgoing.once('close', () => gone.abort());
  return gone.signal;
}

export function visitOf(c: Context<ApiEnv>, log: Logger): Visit {
  const { outgoing } = c.env;
  return {
    ipAddress: c.get('clientIp'),
    userAgent: c.req.header('user-agent') ?? '',
    afterAnswer: (work) => {
      const guarded = (): void => {
        try {
          work();
        } catch (error) {
          log.error({ err: error, path: c.req.path }, 'a task after the response failed');
        }
      };
      // `close` comes after the last byte was handed to the system, and alone when the caller went away first.
      if (outgoing.closed) setImmediate(guarded);
      else outgoing.once('close', guarded);
    },
  };
}
