/**
 * Tunnels as people handle them: list, create, start, stop, delete; and what the clock does to them. What agents may do is claims/service.ts.
 * The data plane hears of every change after its commit, by RouteEvents.
 */
import { setImmediate } from 'node:timers/promises';
import { and, asc, desc, eq, inArray, isNull, lt, lte, not, or, type SQL } from 'drizzle-orm';
import { DAY_MS } from '../../base/clock.ts';
import type { PortRange } from '../../base/net/addr.ts';
import { AppError } from '../../base/errors.ts';
import type { NodeControl } from '../../plane/link.ts';
import type { AdviceCode } from '../../wire/advice-codes.ts';
import type { Route } from '../../plane/routes.ts';
import { liveTunnels } from '../db/gone.ts';
import { organizations, projects, tunnels } from '../db/schema.ts';
import type { Store, Tx } from '../db/tx.ts';
import { type Actor, allow } from '../core/rules/actor.ts';
import { recordAll } from '../core/rules/audit.ts';
import { hasReservation, liveByLabel } from '../subdomains/free-names.ts';
import type { Maintenance } from './maintenance.ts';
import { fullLabel } from '../core/rules/labels.ts';
import type { RouteEvents } from '../core/link/route-events.ts';
import type { RouteMaker } from './plane/route-maker.ts';
import type { PendingWork } from '../core/pending-rows.ts';
import { findProject, type ProjectRow, slugsOf } from '../projects/rows.ts';
import { ENTITLEMENTS, PLANS } from '../core/rules/plans.ts';
import { endsIn, endsOf, type SessionEnds } from './connections/ended-sessions.ts';
import { stateOf, type TunnelState } from './connections/state.ts';
import { faultError } from './messages.ts';
import { flagsIn, flagsOf, type TunnelFlags } from './flags.ts';
import type { OwnLabels } from '../subdomains/own-labels.ts';
import { checkedLabel, freeName } from '../subdomains/new-names.ts';
import { type StartCommand, startCommandOf } from './claims/recall/service.ts';
import { placeTunnel } from './room.ts';
import {
  deleteTunnels,
  EPHEMERAL_MS,
  expiryFrom,
  lifeChanges,
  loseAgents,
  recordTunnel,
  secondsFull,
  type TunnelRow,
  updateTunnel,
} from './rows.ts';
import { findOrg } from '../organizations/rows.ts';

export const PROTOCOLS = ['http', 'https', 'websocket', 'tcp'] as const satisfies readonly Route['protocol'][];
export const MIN_TTL_SECONDS = 60;
/** Tunnels that one pass of a job handles: it goes on with the next at once (core/jobs.ts). */
const BATCH = 50;
/** A tunnel that expired and was not started or served for this long is deleted; others may have the name after its cooldown. */
const FORGOTTEN_MS = 30 * DAY_MS;
const PLANS_WITH_END = PLANS.filter((plan) => ENTITLEMENTS[plan].maxTunnelTtlSeconds !== null);

export interface CreateTunnel {
  readonly localPort: number;
  readonly subdomain: string | undefined;
  readonly protocol: Route['protocol'];
  readonly ttlSeconds: number | undefined;
  readonly projectSlug: string | undefined;
}

export interface TunnelView {
  readonly row: TunnelRow;
  readonly projectSlug: string;
  readonly publicUrl: string;
  readonly online: boolean;
  readonly state: TunnelState;
  /** What its agent says of its service, which refuses requests. */
  readonly advice: AdviceCode | null;
  /** Message to its visitors; `''`: the edge's own words. null: not in maintenance. */
  readonly maintenance: string | null;
  readonly flags: TunnelFlags;
  readonly narrowing: ReturnType<NodeControl['narrowingOf']>;
}

/** What a list reads once for all its tunnels. */
interface Known {
  readonly flags: TunnelFlags;
  readonly ends: SessionEnds;
}

export interface TunnelDeps {
  readonly store: Store;
  readonly routeEvents: RouteEvents;
  readonly routes: RouteMaker;
  readonly maintenance: Maintenance;
  readonly nodes: NodeControl;
  readonly tcpPorts: PortRange | null;
  readonly ownLabels: OwnLabels;
}

export class Tunnels {
  readonly #deps: TunnelDeps;

  constructor(deps: TunnelDeps) {
    this.#deps = deps;
  }

  /** Live tunnels of the actor's organization, newest first. */
  list(actor: Actor): readonly TunnelView[] {
    allow(actor, 'read', 'tunnel');
    const { db } = this.#deps.store;
    // A query each: a join would make an object of either table for each of up to 1,000 rows, which costs half as much again.
    const slugs = slugsOf(db, actor.orgId);
    const flags = flagsIn(db, actor.orgId);
    const ends = endsIn(db, actor.orgId);
    return db
      .select()
      .from(tunnels)
      .where(and(eq(tunnels.orgId, actor.orgId), liveTunnels()))
      .orderBy(desc(tunnels.createdAt), desc(tunnels.id))
      .all()
      .map((row) => this.#view(row, slugs.get(row.projectId) ?? '', { flags: flags(row.id), ends }));
  }

  /** Throws `not_found`, also for another organization's tunnel. */
  get(actor: Actor, id: string): TunnelView {
    allow(actor, 'read', 'tunnel');
    const { row, projectSlug } = this.#find(actor.orgId, id);
    return this.#view(row, projectSlug);
  }

  /** How an agent is started that serves it again; null: not for the actor. Throws as `get`. */
  startCommand(actor: Actor, id: string): StartCommand | null {
    allow(actor, 'read', 'tunnel');
    return startCommandOf(this.#deps.store, actor, this.#find(actor.orgId, id).row);
  }

  /** Throws `invalid_request`, `duplicate_name`, `not_found` (project), `forbidden`, `conflict` (no port, too many), `rate_limited`. */
  create(actor: Actor, input: CreateTunnel): TunnelView {
    allow(actor, 'create', 'tunnel');
    return this.#deps.store.inTx((tx) => {
      const org = findOrg(tx.db, actor.orgId);
      const project = findProject(tx.db, actor.orgId, input.projectSlug);
      if (org === undefined || project === undefined)
        throw new AppError('not_found', `Your organization has no project ${input.projectSlug ?? ''}. Check the slug.`);
      const label =
        input.subdomain === undefined
          ? freeName(tx, project)
          : checkedLabel(fullLabel(input.subdomain, project), input.subdomain);
      const row = placeTunnel(
        tx,
        {
          orgId: org.id,
          projectId: project.id,
          label,
          protocol: input.protocol,
          localPort: input.localPort,
          ttlSeconds: input.ttlSeconds ?? null,
          ephemeral: false,
          tokenId: null,
        },
        { ...this.#deps, plan: org.plan },
      );
      if (typeof row === 'string') throw faultError(row, label, secondsFull(tx, org.id));
      recordTunnel(tx, actor, { action: 'tunnel.create', row });
      this.#announce(tx, row);
      return this.#view(row, project.slug);
    });
  }

  /** Lets agents in again and begins a new time to live. */
  start(actor: Actor, id: string): TunnelView {
    allow(actor, 'start', 'tunnel');
    return this.#deps.store.inTx((tx) => {
      const { row, projectSlug } = this.#find(actor.orgId, id);
      const plan = findOrg(tx.db, actor.orgId)?.plan ?? 'free';
      const expiresAt = expiryFrom(tx.now, plan, row.ttlSeconds);
      const next = updateTunnel(tx, row, {
        stopped: false,
        expired: false,
        status: 'active',
        startedAt: tx.now,
        expiresAt,
      });
      recordTunnel(tx, actor, { action: 'tunnel.start', row, changes: lifeChanges(row, next) });
      this.#announce(tx, next);
      return this.#view(next, projectSlug);
    });
  }

  /** Cuts the agent off and refuses agents until `start`. */
  stop(actor: Actor, id: string): TunnelView {
    allow(actor, 'change', 'tunnel');
    return this.#deps.store.inTx((tx) => {
      const { row, projectSlug } = this.#find(actor.orgId, id);
      const next = updateTunnel(tx, row, { stopped: true, status: 'inactive' });
      recordTunnel(tx, actor, { action: 'tunnel.stop', row, changes: lifeChanges(row, next) });
      this.#announce(tx, next);
      return { ...this.#view(next, projectSlug), online: false };
    });
  }

  /** Soft: the row stays for accounting, the name rests 24 h. */
  delete(actor: Actor, id: string): void {
    allow(actor, 'delete', 'tunnel');
    this.#deps.store.inTx((tx) => {
      const { row } = this.#find(actor.orgId, id);
      this.#remove(tx, [row], () => actor);
    });
  }

  /** Counts live tunnels of an organization that are about to be marked as gone, and tells data nodes after the commit. */
  announceGone(tx: Tx, which: SQL | undefined, orgId: string): number {
    const gone = tx.db
      .select({ id: tunnels.id })
      .from(tunnels)
      .where(and(eq(tunnels.orgId, orgId), liveTunnels(), which))
      .all();
    tx.onCommit(() => {
      for (const { id } of gone) this.#tellGone(id);
    });
    return gone.length;
  }

  /** The same of a project that is about to be marked. */
  announceProjectGone(tx: Tx, { id, orgId }: ProjectRow): number {
    return this.announceGone(tx, eq(tunnels.projectId, id), orgId);
  }

  /** The rows of tunnels that went with their project or organization. A Drain. */
  drain(tx: Tx, { scope, orgId, actor }: PendingWork, limit: number): number {
    const rows = tx.db
      .select()
      .from(tunnels)
      .where(
        and(
          eq(tunnels.orgId, orgId),
          or(eq(tunnels.orgId, scope), eq(tunnels.projectId, scope)),
          isNull(tunnels.deletedAt),
        ),
      )
      .orderBy(asc(tunnels.id))
      .limit(limit)
      .all();
    deleteTunnels(tx, rows);
    recordAll(
      tx,
      actor,
      rows.map(({ id }) => ({ action: 'tunnel.delete', resourceType: 'tunnel', resourceId: id })),
    );
    return rows.length;
  }

  /** Every route, for a snapshot: slices, between which the tables may change. */
  routeSlices(): Generator<readonly Route[]> {
    return this.#deps.routes.slices(this.#deps.store.db);
  }

  /** Every route, at once. */
  routes(): readonly Route[] {
    return [...this.routeSlices()].flat();
  }

  /** Tells the data plane of every route again: their URLs have changed. In slices; changes meanwhile are published by their own transaction. */
  async announceAll(): Promise<void> {
    for (const routes of this.routeSlices()) {
      for (const route of routes) this.#deps.routeEvents.put(route);
      await setImmediate();
    }
  }

  /** A server that starts has no agents: what the last run left as active is not. Returns those tunnels: their agents are expected back. */
  forgetAgents(): string[] {
    return this.#deps.store.inTx(loseAgents);
  }

  /** Labels of tunnels that stand where this server itself does since its settings have changed: they are routed no more. */
  heldOwnLabels(): readonly string[] {
    return [...this.#deps.ownLabels.all()].filter((label) => liveByLabel(this.#deps.store.db, label) !== undefined);
  }

  /** Ends tunnels whose time has run out. Returns how many. */
  expireDue(): number {
    return this.#deps.store.inTx((tx) => {
      const due = tx.db
        .select()
        .from(tunnels)
        .where(and(lte(tunnels.expiresAt, tx.now), eq(tunnels.expired, false), liveTunnels()))
        .orderBy(asc(tunnels.expiresAt))
        .limit(BATCH)
        .all();
      const change = { expired: true, status: 'inactive' } as const;
      const ids = due.map(({ id }) => id);
      tx.db
        .update(tunnels)
        .set({ ...change, touchedAt: tx.now })
        .where(inArray(tunnels.id, ids))
        .run();
      for (const row of due) recordTunnel(tx, { kind: 'system', orgId: row.orgId }, { action: 'tunnel.expire', row });
      const routes = this.#deps.routes.routesOf(
        tx.db,
        due.map((row) => ({ ...row, ...change })),
      );
      tx.onCommit(() => {
        for (const route of routes) {
          this.#deps.routeEvents.remove(
            route.tunnelId,
            'tunnel_expired',
            'The tunnel has expired. Start the agent again.',
          );
          // The name stays known: its visitors hear that it is offline, not that it never was.
          this.#deps.routeEvents.put(route);
        }
      });
      return due.length;
    });
  }

  /** Deletes unnamed tunnels of agents that were stopped a minute ago or lost a day ago. A reserved name stays. Returns how many. */
  removeUnused(): number {
    return this.#removeIdle(EPHEMERAL_MS, and(eq(tunnels.ephemeral, true), not(hasReservation(this.#deps.store.db))));
  }

  /** Deletes tunnels that ran out 30 days ago, of plans whose tunnels end: a name is kept by reserving it. Returns how many. */
  removeForgotten(): number {
    const { db } = this.#deps.store;
    const ending = db
      .select({ id: organizations.id })
      .from(organizations)
      .where(inArray(organizations.plan, PLANS_WITH_END));
    return this.#removeIdle(FORGOTTEN_MS, and(eq(tunnels.expired, true), inArray(tunnels.orgId, ending)));
  }

  #removeIdle(idleMs: number, which: SQL | undefined): number {
    return this.#deps.store.inTx((tx) => {
      const idle = tx.db
        .select({ id: tunnels.id })
        .from(tunnels)
        .where(and(liveTunnels(), lt(tunnels.touchedAt, tx.now - idleMs), which))
        .orderBy(asc(tunnels.touchedAt))
        .all();
      // Before the batch is cut: agents that have been connected for days must not hold up the rest.
      const ids = idle.map(({ id }) => id).filter((id) => !this.#deps.nodes.isTaken(id));
      const rows = tx.db
        .select()
        .from(tunnels)
        .where(inArray(tunnels.id, ids.slice(0, BATCH)))
        .all();
      this.#remove(tx, rows, ({ orgId }) => ({ kind: 'system', orgId }));
      return rows.length;
    });
  }

  #remove(tx: Tx, rows: readonly TunnelRow[], by: (row: TunnelRow) => Actor): void {
    deleteTunnels(tx, rows);
    for (const row of rows) recordTunnel(tx, by(row), { action: 'tunnel.delete', row });
    tx.onCommit(() => {
      for (const { id } of rows) this.#tellGone(id);
    });
  }

  #tellGone(id: string): void {
    this.#deps.maintenance.end(id);
    this.#deps.routeEvents.remove(id, 'tunnel_deleted', 'The tunnel was deleted. Start the agent again.');
  }

  #announce(tx: Tx, row: TunnelRow): void {
    const route = this.#deps.routes.routeOf(tx.db, row);
    tx.onCommit(() => this.#deps.routeEvents.put(route));
  }

  #select(orgId: string, which?: SQL): ReadonlyArray<{ row: TunnelRow; projectSlug: string }> {
    return this.#deps.store.db
      .select({ row: tunnels, projectSlug: projects.slug })
      .from(tunnels)
      .innerJoin(projects, eq(projects.id, tunnels.projectId))
      .where(and(eq(tunnels.orgId, orgId), liveTunnels(), which))
      .orderBy(desc(tunnels.createdAt), desc(tunnels.id))
      .all();
  }

  #find(orgId: string, id: string): { row: TunnelRow; projectSlug: string } {
    const found = this.#select(orgId, eq(tunnels.id, id))[0];
    if (found !== undefined) return found;
    throw new AppError('not_found', 'Your organization has no tunnel with this id. Check the id.');
  }

  #view(row: TunnelRow, projectSlug: string, known?: Known): TunnelView {
    const { store, nodes } = this.#deps;
    const { flags, ends } = known ?? { flags: flagsOf(store.db, row.id), ends: endsOf(store.db, row) };
    const online = nodes.isOnline(row.id);
    return {
      row,
      projectSlug,
      publicUrl: this.#deps.routes.publicUrl(row),
      online,
      state: stateOf(row, { online, ends, now: store.clock.now() }),
      advice: this.#deps.nodes.adviceOf(row.id),
      maintenance: this.#deps.maintenance.messageOf(row.id),
      flags,
      narrowing: this.#deps.nodes.narrowingOf(row.id),
    };
  }
}
