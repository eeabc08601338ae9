/**
 * Sends a recorded request down its tunnel once more, by the agent that serves it now and through the policy that the tunnel has now.
 * Off until the operator wants it, for it sends requests in a customer's name.
 */
import { and, eq, inArray } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import type { InspectedRequest } from '../../../plane/inspection.ts';
import type { NodeControl } from '../../../plane/link.ts';
import { liveTunnels } from '../../db/gone.ts';
import { tunnels } from '../../db/schema.ts';
import type { Store } from '../../db/tx.ts';
import type { RecordStore } from '../../db/usage/records.ts';
import { type Actor, allow, type UserActor } from '../../core/rules/actor.ts';
import { recordAudit } from '../../core/rules/audit.ts';
import { callerNow } from '../../core/rules/caller.ts';
import type { RouteMaker } from '../../tunnels/plane/route-maker.ts';
import type { TunnelRow } from '../../tunnels/rows.ts';
import { ReplayPace } from './pace.ts';
import { hostAmong, type ReplayEdits, type ReplayedParts, replayOf, wasBlocked } from './request.ts';

/** From its start to the end of the answer: who asked waits for it. */
const TIMEOUT_MS = 60_000;

/** The agent replays to its own service, which needs no leave of the server's operator. */
const LOCALLY = "The agent's local inspector (http://127.0.0.1:4040) can replay its own requests.";

/** What the operator lets people replay. */
export interface ReplayRules {
  /** `inspector.replay`. */
  readonly enabled: boolean;
  /** Ids of tunnels, or `*` (`inspector.replay_allow`). */
  readonly allow: readonly string[];
}

export interface Replayed {
  /** Of the new record. */
  readonly id: string;
  /** The service's; of the edge when it answered by itself. */
  readonly status: number;
  /** Why the edge answered by itself, or cut the answer. */
  readonly code: string | null;
  readonly latencyMs: number;
  /** The edge had blocked the recorded request. */
  readonly wasBlocked: boolean;
}

export interface ReplayDeps {
  readonly store: Store;
  readonly records: Pick<RecordStore, 'find'>;
  readonly nodes: Pick<NodeControl, 'send' | 'isOnline' | 'flushInspections'>;
  readonly routes: RouteMaker;
  readonly rules: ReplayRules;
  /** `edge.domain`. */
  readonly edgeDomain: string;
}

export class Replays {
  readonly #deps: ReplayDeps;
  readonly #pace: ReplayPace;

  constructor(deps: ReplayDeps) {
    this.#deps = deps;
    this.#pace = new ReplayPace(deps.store.clock);
  }

  /** What of the operator's rules holds for the organization; `tunnelIds` null: all of its tunnels. Throws `forbidden`. */
  rules(actor: Actor): { readonly enabled: boolean; readonly tunnelIds: readonly string[] | null } {
    allow(actor, 'read', 'record');
    const { store, rules } = this.#deps;
    if (rules.allow.includes('*')) return { enabled: rules.enabled, tunnelIds: null };
    const own = and(inArray(tunnels.id, [...rules.allow]), eq(tunnels.orgId, actor.orgId), liveTunnels());
    const rows = store.db.select({ id: tunnels.id }).from(tunnels).where(own).all();
    return { enabled: rules.enabled, tunnelIds: rows.map(({ id }) => id) };
  }

  /**
   * Throws, in this order: `forbidden` (the role), `not_implemented` (switched off, whatever the id is), `not_found`, `forbidden` (the tunnel is
   * not on the operator's list), `body_truncated` and `conflict` (it can't be sent again), `rate_limited`, `tunnel_offline`, `unavailable`.
   */
  async replay(actor: Actor, id: string, edits: ReplayEdits): Promise<Replayed> {
    allow(actor, 'create', 'record');
    this.#checkOn();
    const record = await this.#find(actor.orgId, id);
    this.#checkAllowed(record.tunnelId);
    const parts = replayOf(record, edits);
    const leave = this.#pace.enter(actor.orgId);
    try {
      return await this.#send(actor, record, parts);
    } finally {
      leave();
    }
  }

  async #find(orgId: string, id: string): Promise<InspectedRequest> {
    const { records, nodes } = this.#deps;
    let record = await records.find(orgId, id);
    if (record === undefined) {
      await nodes.flushInspections();
      record = await records.find(orgId, id);
    }
    if (record !== undefined) return record;
    throw new AppError(
      'not_found',
      'Your organization has no record with this id, or your plan no longer keeps it. Check the id.',
    );
  }

  /** Before anything is looked for: what a server does not do it does not do with any id. */
  #checkOn(): void {
    if (!this.#deps.rules.enabled)
      throw new AppError(
        'not_implemented',
        `Replay is off on this server. The operator can turn it on: inspector.replay = true. ${LOCALLY}`,
      );
  }

  #checkAllowed(tunnelId: string): void {
    const { allow: allowed } = this.#deps.rules;
    if (!allowed.includes('*') && !allowed.includes(tunnelId))
      throw new AppError(
        'forbidden',
        `Replay is off for this tunnel. The operator can add its id to inspector.replay_allow. ${LOCALLY}`,
      );
  }

  async #send(actor: UserActor, record: InspectedRequest, parts: ReplayedParts): Promise<Replayed> {
    const { store, nodes } = this.#deps;
    const { tunnelId, trace } = record;
    const row = this.#tunnelOf(actor, tunnelId);
    if (row === undefined || !nodes.isOnline(tunnelId)) throw offline();
    const host = this.#hostOf(row, record);
    store.inTx((tx) => {
      const now = callerNow(tx, actor);
      allow(now, 'create', 'record');
      recordAudit(tx, now, {
        action: 'inspector.replay',
        resourceType: 'tunnel',
        resourceId: tunnelId,
        details: { record: record.id, method: parts.method, ...(wasBlocked(record) ? { was_blocked: true } : {}) },
      });
    });
    const answer = await nodes.send({
      ...parts,
      tunnelId,
      host,
      clientIp: record.remoteIp,
      scheme: trace.scheme,
      replayOf: record.id,
      timeoutMs: TIMEOUT_MS,
    });
    if (!answer.ok) throw answer.code === 'overloaded' ? overloaded() : offline();
    const { id, status, code, latencyMs } = answer;
    return { id, status, code, latencyMs, wasBlocked: wasBlocked(record) };
  }

  #tunnelOf({ orgId }: UserActor, tunnelId: string): TunnelRow | undefined {
    const own = and(eq(tunnels.id, tunnelId), eq(tunnels.orgId, orgId), liveTunnels());
    return this.#deps.store.db.select().from(tunnels).where(own).get();
  }

  /** What the visitor asked for, with its port, while that is a name of the tunnel; else the tunnel's own. */
  #hostOf(row: TunnelRow, record: InspectedRequest): string {
    const { store, routes, edgeDomain } = this.#deps;
    const { subdomain, domains, publicUrl } = routes.routeOf(store.db, row);
    const own = `${subdomain}.${edgeDomain}`.toLowerCase();
    const recorded = hostAmong([own, ...domains], record.requestHead);
    if (recorded !== undefined) return recorded;
    const { port } = new URL(publicUrl);
    return port === '' ? own : `${own}:${port}`;
  }
}

function offline(): AppError {
  return new AppError('tunnel_offline', 'No agent serves this tunnel. Start its agent, then replay the request.');
}

function overloaded(): AppError {
  const why = 'The request was not sent: too many requests are in flight to this tunnel or this server.';
  return new AppError('unavailable', `${why} Try again in a few seconds.`, { retryAfterSeconds: 5 });
}
