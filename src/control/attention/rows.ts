/** What needs attention, as rows of other slices: one query per kind, each with a limit, the worst first. */
import { and, asc, desc, eq, gt, inArray, isNotNull, isNull, lte, or, sql } from 'drizzle-orm';
import { DAY_MS, HOUR_MS } from '../../base/clock.ts';
import type { EndReason } from '../../plane/events.ts';
import { liveTokens, liveTunnels, notGone } from '../db/gone.ts';
import {
  alertChannels,
  alertRules,
  capabilityTokens,
  domains,
  endedSessions,
  FAILING,
  tunnels,
  webhookDeliveries,
  webhookForwards,
  webhookReceivers,
} from '../db/schema.ts';
import type { Db } from '../db/tx.ts';
import { isSameEnd } from '../tunnels/connections/ended-sessions.ts';

/** Agents that are lost come back by themselves within 30 seconds, if they can. */
const GRACE_MS = 30_000;
/** No one has decided that the agent goes. */
const LOST: readonly EndReason[] = [
  ...(['connection_lost', 'heartbeat_lost', 'token_expired', 'drained'] as const),
  ...(['overloaded', 'protocol_error', 'internal'] as const),
];
const KEY_ENDS_MS = 7 * DAY_MS;
/** A key of hours is made to end. */
const SHORT_KEY_MS = 48 * HOUR_MS;
const KEY_IN_USE_MS = 7 * DAY_MS;
/** Deliveries that came before this are no news. */
const DELIVERIES_MS = 2 * DAY_MS;

/** Whose rows, by which clock, and how many at most. */
export interface Asked {
  readonly orgId: string;
  readonly now: number;
  readonly limit: number;
}

export type DownTunnel = ReturnType<typeof downTunnels>[number];
export type FailingReceiver = ReturnType<typeof failingReceivers>[number];
export type UnprovenDomain = ReturnType<typeof unprovenDomains>[number];
export type FailingChannel = ReturnType<typeof failingChannels>[number];
export type ExpiringKey = ReturnType<typeof expiringKeys>[number];

/** Tunnels with traffic in the last day whose agents are lost. Those that were down first come first. */
export function downTunnels(db: Db, { orgId, now, limit }: Asked) {
  const { id, label, agentId, agentAt, agentLeft, expiresAt } = tunnels;
  const { reason } = endedSessions;
  const end = and(
    eq(endedSessions.agentId, agentId),
    eq(endedSessions.orgId, tunnels.orgId),
    isSameEnd(agentAt, endedSessions.endedAt),
  );
  return db
    .select({ row: tunnels, id, label, since: agentAt, reason })
    .from(tunnels)
    .leftJoin(endedSessions, end)
    .where(
      and(
        eq(tunnels.orgId, orgId),
        liveTunnels(),
        and(eq(tunnels.stopped, false), eq(tunnels.expired, false), or(isNull(expiresAt), gt(expiresAt, now))),
        gt(tunnels.trafficAt, now - DAY_MS),
        lte(agentAt, now - GRACE_MS),
        isNotNull(agentLeft),
        or(inArray(reason, LOST), and(isNull(reason), eq(agentLeft, 'lost'))),
      ),
    )
    .orderBy(asc(agentAt))
    .limit(limit)
    .all();
}

/** Receivers whose deliveries failed for good, or several times in a row. */
export function failingReceivers(db: Db, { orgId, now, limit }: Asked) {
  const { receiverId, state, attempts, sequence } = webhookForwards;
  const { id, name } = webhookReceivers;
  const own = db.select({ id }).from(webhookReceivers).where(eq(webhookReceivers.orgId, orgId));
  // From the index `webhook_forwards_failing` alone.
  const failing = db
    .select({
      of: sql<string>`${receiverId}`.as('of_receiver'),
      failed: sql<number>`sum(${state} = 'failed')`.as('failed'),
      attempts: sql<number>`max(${attempts})`.as('most_attempts'),
      last: sql<number>`max(${sequence})`.as('last_sequence'),
    })
    .from(webhookForwards)
    .where(and(inArray(receiverId, own), FAILING))
    .groupBy(receiverId)
    .as('failing');
  const { lastStatus, lastError } = webhookForwards;
  return db
    .select({
      ...{ id, name, lastStatus, lastError },
      failed: failing.failed,
      attempts: failing.attempts,
      sequence: failing.last,
      tunnelId: webhookReceivers.forwardTunnelId,
      since: webhookDeliveries.receivedAt,
    })
    .from(failing)
    .innerJoin(webhookReceivers, eq(id, failing.of))
    .innerJoin(webhookForwards, eq(sequence, failing.last))
    .innerJoin(webhookDeliveries, eq(webhookDeliveries.sequence, failing.last))
    .where(and(gt(webhookDeliveries.receivedAt, now - DELIVERIES_MS), notGone(id)))
    .orderBy(desc(failing.failed), desc(failing.attempts), asc(id))
    .limit(limit)
    .all();
}

/** Receivers of the organization with these ids. */
export function receiversNamed(db: Db, { orgId, limit }: Asked, ids: readonly string[]) {
  const { id, name } = webhookReceivers;
  return db
    .select({ id, name })
    .from(webhookReceivers)
    .where(and(eq(webhookReceivers.orgId, orgId), inArray(id, [...ids]), notGone(id)))
    .limit(limit)
    .all();
}

/** Domains that were never verified, and those whose record is missing since: these first. */
export function unprovenDomains(db: Db, { orgId, limit }: Asked) {
  const { id, domain, verifiedAt, failingSince, createdAt } = domains;
  return db
    .select({ id, domain, verifiedAt, failingSince, createdAt })
    .from(domains)
    .where(and(eq(domains.orgId, orgId), or(isNull(verifiedAt), isNotNull(failingSince))))
    .orderBy(asc(isNull(verifiedAt)), asc(createdAt))
    .limit(limit)
    .all();
}

/** Keys in use that end soon. `connected`: keys of agents that are connected now, whose last use may be months ago. */
export function expiringKeys(db: Db, { orgId, now, limit }: Asked, connected: readonly string[]) {
  const { id, nonce, name, kind, issuedAt, expiresAt, graceEndsAt, lastUsedAt } = capabilityTokens;
  return db
    .select({ nonce, name, kind, expiresAt })
    .from(capabilityTokens)
    .where(
      and(
        eq(capabilityTokens.orgId, orgId),
        liveTokens(now),
        lte(expiresAt, now + KEY_ENDS_MS),
        sql`${expiresAt} - ${issuedAt} > ${SHORT_KEY_MS}`,
        // A rotated key has a successor.
        isNull(graceEndsAt),
        or(gt(lastUsedAt, now - KEY_IN_USE_MS), inArray(id, [...connected])),
      ),
    )
    .orderBy(asc(expiresAt))
    .limit(limit)
    .all();
}

/** Channels of alert rules that do not take messages. Those that began to fail first come first. */
export function failingChannels(db: Db, { orgId, limit }: Asked) {
  const { ruleId, type, target, lastError, failingSince } = alertChannels;
  return db
    .select({ ruleId, type, target, lastError, since: failingSince })
    .from(alertChannels)
    .innerJoin(alertRules, eq(alertRules.id, ruleId))
    .where(and(eq(alertRules.orgId, orgId), eq(alertRules.enabled, true), isNotNull(failingSince)))
    .orderBy(asc(failingSince))
    .limit(limit)
    .all();
}

/** When a key that ends then begins to need attention. */
export function warnedFrom(expiresAt: number): number {
  return expiresAt - KEY_ENDS_MS;
}
