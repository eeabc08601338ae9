/**
 * What service.ts (people) and claims/service.ts (agents) do alike to the rows of tunnels: insert by the rules of names and ports, begin a new
 * life. Not to be called from outside the services.
 */
import { and, count, desc, eq, gt, inArray, isNull, ne, sql } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { DAY_MS } from '../../base/clock.ts';
import type { PortRange } from '../../base/net/addr.ts';
import type { Route } from '../../plane/routes.ts';
import { capabilityTokens, tunnels } from '../db/schema.ts';
import { liveTunnels } from '../db/gone.ts';
import type { Db, Tx } from '../db/tx.ts';
import { tunnelsDeleted } from './events.ts';
import { endCooldown, letAllRest, type NameFault, nameFault } from '../subdomains/free-names.ts';
import type { OwnLabels } from '../subdomains/own-labels.ts';
import { auditOf } from '../core/rules/audit.ts';
import { type AuditChange, changesBetween } from '../core/rules/audit-changes.ts';
import { pendingOf } from '../core/pending-rows.ts';
import { type Plan, tunnelTtlSeconds } from '../core/rules/plans.ts';
import { lineageOf } from '../access-keys/spend.ts';
import { sameLineage } from '../access-keys/rows.ts';
import { letPortRest, type PortFault } from '../core/rules/public-ports.ts';
import { pickTcpPort } from './tcp-ports.ts';
import { forgetCommands } from './claims/recall/rows.ts';
import { ownRow } from '../core/rules/own-row.ts';

export type TunnelRow = typeof tunnels.$inferSelect;

export const recordTunnel = auditOf('tunnel');

/** Live tunnels of one organization: a bound for lists and for the routing table, far above need. */
export const MAX_TUNNELS = 1_000;
/**
 * Tunnels that one organization makes in any 24 hours, people and agents together, deleted ones too: their rows stay for accounting, and each
 * name has a cooldown of a day for all others.
 */
export const MAX_PER_DAY = 5_000;

/** An unnamed tunnel whose agent was lost is deleted after this time, with its name and port: the agent may come back. */
export const EPHEMERAL_MS = DAY_MS;
/** The same of one whose agent was stopped: its visitors still get 503, and an agent that starts again finds its port. */
export const LEFT_MS = 60_000;

/** Why a row can't be made. Translated by the caller: an HTTP error for people, a refusal for agents. */
export type RowFault = NameFault | PortFault | 'too_many' | 'too_many_today';

export interface NewTunnel {
  readonly orgId: string;
  readonly projectId: string;
  readonly label: string;
  readonly protocol: Route['protocol'];
  readonly localPort: number;
  readonly ttlSeconds: number | null;
  readonly ephemeral: boolean;
  readonly tokenId: string | null;
}

/** The tunnel with this id, live or deleted, of any owner. */
export function anyById(db: Db, id: string): TunnelRow | undefined {
  return db.select().from(tunnels).where(eq(tunnels.id, id)).get();
}

/** The live tunnel with this id, of any owner. */
export function liveById(db: Db, id: string): TunnelRow | undefined {
  return db
    .select()
    .from(tunnels)
    .where(and(eq(tunnels.id, id), liveTunnels()))
    .get();
}

/** Of a tunnel of any state, for the audit log; null: there is none. */
export function labelOf(db: Db, id: string | null): string | null {
  if (id === null) return null;
  return db.select({ label: tunnels.label }).from(tunnels).where(eq(tunnels.id, id)).get()?.label ?? null;
}

/** Changes of a start or stop, for the audit log. */
export function lifeChanges(before: TunnelRow, after: TunnelRow): readonly AuditChange[] {
  const fieldsOf = ({ stopped, expiresAt }: TunnelRow) => ({
    stopped,
    expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
  });
  return changesBetween(fieldsOf(before), fieldsOf(after));
}

/** Inserts a tunnel, `inactive`, with the plan's time to live. */
export function insertTunnel(
  tx: Tx,
  input: NewTunnel,
  rules: { plan: Plan; tcpPorts: PortRange | null; ownLabels: OwnLabels; onlyPort?: number | undefined },
): TunnelRow | RowFault {
  const fault = rules.ownLabels.has(input.label) ? 'system_name' : nameFault(tx, input.label, input);
  if (fault !== undefined) return fault;
  if (secondsFull(tx, input.orgId) > 0) return 'too_many_today';
  if (countLive(tx.db, input.orgId) >= MAX_TUNNELS) return 'too_many';
  finishGone(tx, input.label);
  const tcpPort =
    input.protocol === 'tcp' ? pickTcpPort(tx, rules.tcpPorts, { orgId: input.orgId, only: rules.onlyPort }) : null;
  if (typeof tcpPort === 'string') return tcpPort;
  const row: TunnelRow = {
    ...input,
    id: uuidv7(),
    tcpPort,
    status: 'inactive',
    stopped: false,
    startedAt: tx.now,
    expiresAt: expiryFrom(tx.now, rules.plan, input.ttlSeconds),
    expired: false,
    bytesIn: 0,
    bytesOut: 0,
    totalRequests: 0,
    createdAt: tx.now,
    touchedAt: tx.now,
    agentId: null,
    agentAt: null,
    agentLeft: null,
    trafficAt: null,
    deletedAt: null,
  };
  tx.db.insert(tunnels).values(row).run();
  endCooldown(tx, input.label);
  return row;
}

/** Seconds until the organization may make another tunnel, by what it made in the last 24 hours; 0 = now. */
export function secondsFull(tx: Tx, orgId: string): number {
  const { createdAt } = tunnels;
  // An index holds both columns and nothing else is read: about 0.2 ms at the bound.
  const first = tx.db
    .select({ at: createdAt })
    .from(tunnels)
    .where(and(eq(tunnels.orgId, orgId), gt(createdAt, tx.now - DAY_MS)))
    .orderBy(desc(createdAt))
    .limit(1)
    .offset(MAX_PER_DAY - 1)
    .get();
  return first === undefined ? 0 : Math.ceil((first.at + DAY_MS - tx.now) / 1000);
}

/** Writes changed columns and returns the row as it is then. */
export function updateTunnel(tx: Tx, row: TunnelRow, change: Partial<TunnelRow>): TunnelRow {
  const next = { ...change, touchedAt: tx.now };
  tx.db.update(tunnels).set(next).where(eq(tunnels.id, row.id)).run();
  return { ...row, ...next };
}

/** All tunnels that an agent served when the last run of the server ended. Returns their ids. */
export function loseAgents(tx: Tx): string[] {
  const { agentAt, agentLeft } = tunnels;
  // Where no end was stored the last run crashed: its agents are lost as of now.
  const ended = {
    agentAt: sql`CASE WHEN ${agentLeft} IS NULL THEN ${tx.now} ELSE ${agentAt} END`,
    agentLeft: sql`coalesce(${agentLeft}, 'lost')`,
  };
  const left = tx.db
    .update(tunnels)
    .set({ status: 'inactive', ...ended })
    .where(ne(tunnels.status, 'inactive'))
    .returning({ id: tunnels.id })
    .all();
  return left.map(({ id }) => id);
}

/** Tunnels go on without the access keys that are forgotten. */
export function forgetKeys(tx: Tx, ids: readonly string[]): void {
  tx.db.update(tunnels).set({ tokenId: null }).where(inArray(tunnels.tokenId, ids)).run();
}

/**
 * Takes rows out of the world; their names and ports rest, and what was on them goes (`tunnelsDeleted`). A bounded number at once: some
 * statements for all of them.
 */
export function deleteTunnels(tx: Tx, rows: readonly TunnelRow[]): void {
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  tx.db
    .update(tunnels)
    .set({ deletedAt: tx.now, status: 'inactive', touchedAt: tx.now })
    .where(inArray(tunnels.id, ids))
    .run();
  forgetCommands(tx, ids);
  tx.emit(tunnelsDeleted, { ids });
  letAllRest(
    tx,
    rows.map(({ label, orgId }) => ({ label, orgId })),
  );
  for (const { tcpPort, orgId } of rows) letPortRest(tx, 'tcp', { port: tcpPort, orgId });
}

/** A tunnel that is marked as gone and has this label still: it goes for good, that its organization may have the label again. */
function finishGone(tx: Tx, label: string): void {
  const row = tx.db
    .select()
    .from(tunnels)
    .where(and(eq(tunnels.label, label), isNull(tunnels.deletedAt)))
    .get();
  if (row === undefined) return;
  const work =
    pendingOf(tx.db, 'project_deleted', row.projectId) ?? pendingOf(tx.db, 'organization_deleted', row.orgId);
  if (work === undefined) return;
  const then = { ...tx, now: work.at };
  deleteTunnels(then, [row]);
  recordTunnel(then, work.actor, { action: 'tunnel.delete', row });
}

/** Ten years: keeps instants in the range of dates, also under a plan without a maximum. */
const MAX_TTL_SECONDS = 315_360_000;

/** When a life that begins now ends, milliseconds; null = never. */
export function expiryFrom(now: number, plan: Plan, ttlSeconds: number | null): number | null {
  const seconds = tunnelTtlSeconds(plan, ttlSeconds);
  return seconds === null ? null : now + Math.min(seconds, MAX_TTL_SECONDS) * 1000;
}

/**
 * The end of a life under another plan. What a larger plan or the owner's own word gives is counted from its beginning, so that no number of
 * changes adds up; a smaller plan leaves a running tunnel its own time from now, and never more than there was.
 */
export function expiryUnder(plan: Plan, row: TunnelRow, now: number): number | null {
  const fresh = expiryFrom(row.startedAt, plan, row.ttlSeconds);
  if (fresh === null || (row.expiresAt !== null && fresh > row.expiresAt)) return fresh;
  return Math.min(row.expiresAt ?? Infinity, expiryFrom(now, plan, row.ttlSeconds) ?? Infinity);
}

export function isExpired(row: TunnelRow, now: number): boolean {
  return row.expired || (row.expiresAt !== null && row.expiresAt <= now);
}

/**
 * A tcp tunnel that an agent of this token, or of one that was rotated into it, once opened without naming it, for the same local port: newest
 * first.
 */
export function unnamedTcpTunnels(
  db: Db,
  token: { id: string; orgId: string; lineageId: string | null },
  localPort: number,
): readonly TunnelRow[] {
  const lineage = db
    .select({ id: capabilityTokens.id })
    .from(capabilityTokens)
    .where(sameLineage(lineageOf(token)));
  return db
    .select()
    .from(tunnels)
    .where(
      and(
        eq(tunnels.orgId, token.orgId),
        inArray(tunnels.tokenId, lineage),
        eq(tunnels.protocol, 'tcp'),
        eq(tunnels.localPort, localPort),
        eq(tunnels.ephemeral, true),
        liveTunnels(),
      ),
    )
    .orderBy(desc(tunnels.touchedAt))
    .limit(20)
    .all();
}

function countLive(db: Db, orgId: string): number {
  return (
    db
      .select({ n: count() })
      .from(tunnels)
      .where(and(eq(tunnels.orgId, orgId), liveTunnels()))
      .get()?.n ?? 0
  );
}

/** A live tunnel of the organization. Throws `not_found`, also for another organization's. */
export function ownTunnel(db: Db, orgId: string, id: string): TunnelRow {
  return ownRow(db, tunnels, { orgId, id, what: 'tunnel', where: liveTunnels() });
}
