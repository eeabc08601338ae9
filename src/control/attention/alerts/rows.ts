/** The rows of alert rules and their channels. Not to be called from outside alerts/, but for reads. */
import { and, asc, eq, inArray, isNull, sql } from 'drizzle-orm';
import { ownRow } from '../../core/rules/own-row.ts';
import type { Sealer } from '../../core/secrets/sealing.ts';
import { notGone } from '../../db/gone.ts';
import { alertChannels, alertIncidents, alertMessages, alertRules, organizations } from '../../db/schema.ts';
import type { Db, Tx } from '../../db/tx.ts';
import { type Channel, type PendingLink, targetOf } from './channels/channels.ts';

export type RuleRow = typeof alertRules.$inferSelect;
export type ChannelRow = typeof alertChannels.$inferSelect;
export type AlertKind = RuleRow['kind'];

const { id, orgId, createdAt, enabled, tunnelId } = alertRules;

/** Oldest first. */
export function rulesOf(db: Db, org: string): readonly RuleRow[] {
  return db
    .select()
    .from(alertRules)
    .where(and(eq(orgId, org), notGone(orgId)))
    .orderBy(asc(createdAt), asc(id))
    .all();
}

/** Also of an organization that is gone. */
export function allRules(db: Db, org: string, limit: number): readonly RuleRow[] {
  return db.select().from(alertRules).where(eq(orgId, org)).limit(limit).all();
}

/** Those that are evaluated. */
export function enabledRules(db: Db, org: string): readonly RuleRow[] {
  return rulesOf(db, org).filter((rule) => rule.enabled);
}

/** Throws `not_found`, also for another organization's. */
export function ownRule(db: Db, org: string, ruleId: string): RuleRow {
  return ownRow(db, alertRules, { orgId: org, id: ruleId, what: 'alert rule', where: notGone(orgId) });
}

/** Organizations with rules to evaluate. One that is not approved gets no alerts. */
export function watchedOrgs(db: Db): ReadonlyArray<{ readonly id: string; readonly name: string }> {
  return db
    .selectDistinct({ id: organizations.id, name: organizations.name })
    .from(alertRules)
    .innerJoin(organizations, eq(organizations.id, orgId))
    .where(
      and(
        eq(enabled, true),
        isNull(organizations.deletedAt),
        eq(organizations.approvalStatus, 'approved'),
        notGone(orgId),
      ),
    )
    .all();
}

/** Rules that watch one of these tunnels. */
export function rulesOnTunnels(db: Db, tunnelIds: readonly string[]): readonly RuleRow[] {
  return db
    .select()
    .from(alertRules)
    .where(inArray(tunnelId, [...tunnelIds]))
    .all();
}

export function insertRule(tx: Tx, row: RuleRow): void {
  tx.db.insert(alertRules).values(row).run();
}

export function updateRule(tx: Tx, row: RuleRow): void {
  tx.db.update(alertRules).set(row).where(eq(id, row.id)).run();
}

/** With all that belongs to them. */
export function deleteRules(tx: Tx, ids: readonly string[]): void {
  if (ids.length === 0) return;
  const channels = tx.db.select({ id: alertChannels.id }).from(alertChannels).where(inArray(alertChannels.ruleId, ids));
  tx.db.delete(alertMessages).where(inArray(alertMessages.channelId, channels)).run();
  tx.db.delete(alertChannels).where(inArray(alertChannels.ruleId, ids)).run();
  tx.db.delete(alertIncidents).where(inArray(alertIncidents.ruleId, ids)).run();
  tx.db.delete(alertRules).where(inArray(id, ids)).run();
}

/** In their order. */
export function channelsOf(db: Db, ruleIds: readonly string[]): readonly ChannelRow[] {
  const { ruleId, place } = alertChannels;
  return db
    .select()
    .from(alertChannels)
    .where(inArray(ruleId, [...ruleIds]))
    .orderBy(asc(ruleId), asc(place))
    .all();
}

export function channelById(db: Db, channelId: string): ChannelRow | undefined {
  return db.select().from(alertChannels).where(eq(alertChannels.id, channelId)).get();
}

const purposeOf = (channelId: string): string => `alert_channels/${channelId}`;

export function openChannel(sealer: Sealer, row: Pick<ChannelRow, 'id' | 'sealedSettings'>): Channel {
  return JSON.parse(sealer.open(purposeOf(row.id), row.sealedSettings).toString()) as Channel;
}

/** One of a list; `id`: its own, or that of the channel that it replaces. */
export interface ListedChannel {
  readonly id: string;
  readonly channel: Channel;
  /** What it waits for; null: nothing. */
  readonly link: PendingLink | null;
}

/** The channels of a rule are these: others go, with their messages. A channel that stays keeps what is known of its last attempts. */
export function putChannels(
  tx: Tx,
  sealer: Sealer,
  { rule, list }: { readonly rule: string; readonly list: readonly ListedChannel[] },
): void {
  const before = channelsOf(tx.db, [rule]);
  const kept = new Set(list.map((one) => one.id));
  const gone = before.filter((row) => !kept.has(row.id)).map((row) => row.id);
  tx.db.delete(alertMessages).where(inArray(alertMessages.channelId, gone)).run();
  tx.db.delete(alertChannels).where(inArray(alertChannels.id, gone)).run();
  for (const [place, one] of list.entries()) {
    const channelId = one.id;
    const set = {
      ruleId: rule,
      place,
      type: one.channel.type,
      target: targetOf(one.channel),
      confirmHash: one.link?.confirmHash ?? null,
      confirmUntil: one.link?.confirmUntil ?? null,
      sealedSettings: sealer.seal(purposeOf(channelId), Buffer.from(JSON.stringify(one.channel))),
    };
    tx.db
      .insert(alertChannels)
      .values({ id: channelId, ...set })
      .onConflictDoUpdate({ target: alertChannels.id, set })
      .run();
  }
}

/** An attempt to reach the channel ended. */
export function noteAttempt(tx: Tx, channelId: string, error: string | null): void {
  const set =
    error === null
      ? { lastSentAt: tx.now, lastError: null, failingSince: null }
      : { lastError: error, failingSince: sql`coalesce(${alertChannels.failingSince}, ${tx.now})` };
  tx.db.update(alertChannels).set(set).where(eq(alertChannels.id, channelId)).run();
}
