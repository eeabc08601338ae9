/** Addresses that agents of an organization have come from. Not to be called from outside alerts/. */
import { and, asc, desc, eq, gte, inArray, lt, sql } from 'drizzle-orm';
import { DAY_MS } from '../../../base/clock.ts';
import { addressKey } from '../../../base/net/address-key.ts';
import type { ConnectionInfo } from '../../../plane/link.ts';
import { capabilityTokens, endedSessions, knownAddresses } from '../../db/schema.ts';
import type { Db, Tx } from '../../db/tx.ts';

/** Of one organization; then the one that was used longest ago goes. */
const MAX_KNOWN = 1_000;
/** An address that was not used for so long is new again. */
const KNOWN_DAYS = 180;
/** Rows that go in one pass. */
const SWEEP_BATCH = 1_000;

/** A session of an agent, live or ended. */
export interface SeenAgent {
  readonly address: string;
  readonly remoteIp: string;
  readonly hostname: string;
  readonly tokenId: string;
  readonly startedAt: number;
}

/** Agents that are connected, and those whose sessions ended since: one per address. */
export function seenAgents(
  db: Db,
  live: readonly ConnectionInfo[],
  { orgId, since }: { readonly orgId: string; readonly since: number },
): readonly SeenAgent[] {
  const ended = db
    .select()
    .from(endedSessions)
    .where(and(eq(endedSessions.orgId, orgId), gte(endedSessions.endedAt, since)))
    .all();
  const seen = new Map<string, SeenAgent>();
  for (const { remoteIp, hostname, tokenId, connectedAt: startedAt } of live)
    add(seen, { remoteIp, hostname, tokenId, startedAt });
  for (const { remoteIp, hostname, tokenId, startedAt } of ended) add(seen, { remoteIp, hostname, tokenId, startedAt });
  return [...seen.values()];
}

function add(seen: Map<string, SeenAgent>, agent: Omit<SeenAgent, 'address'>): void {
  const address = addressKey(agent.remoteIp);
  if (!seen.has(address)) seen.set(address, { ...agent, address });
}

/** Of these addresses, those that the organization's agents have used before, and when last. */
export function knownOf(db: Db, orgId: string, addresses: readonly string[]): ReadonlyMap<string, number> {
  const { address, lastAt } = knownAddresses;
  const rows = db
    .select({ address, lastAt })
    .from(knownAddresses)
    .where(and(eq(knownAddresses.orgId, orgId), inArray(address, [...addresses])))
    .all();
  return new Map(rows.map((row) => [row.address, row.lastAt]));
}

/** From now on they are known. */
export function rememberAddresses(tx: Tx, orgId: string, addresses: readonly string[]): void {
  const { address, lastAt } = knownAddresses;
  for (const one of addresses)
    tx.db
      .insert(knownAddresses)
      .values({ orgId, address: one, lastAt: tx.now })
      .onConflictDoUpdate({ target: [knownAddresses.orgId, address], set: { lastAt: tx.now } })
      .run();
  const surplus = tx.db
    .select({ address })
    .from(knownAddresses)
    .where(eq(knownAddresses.orgId, orgId))
    .orderBy(desc(lastAt), asc(address))
    .limit(MAX_KNOWN)
    .offset(MAX_KNOWN);
  tx.db
    .delete(knownAddresses)
    .where(and(eq(knownAddresses.orgId, orgId), inArray(address, surplus)))
    .run();
}

export function forgetAddressesOf(tx: Tx, orgId: string, limit: number): number {
  const batch = sql`SELECT rowid FROM ${knownAddresses} WHERE ${eq(knownAddresses.orgId, orgId)} LIMIT ${limit}`;
  return tx.db.delete(knownAddresses).where(sql`rowid IN (${batch})`).run().changes;
}

/** Past their time. */
export function forgetAddresses({ db, now }: Tx): void {
  const past = lt(knownAddresses.lastAt, now - KNOWN_DAYS * DAY_MS);
  const batch = sql`SELECT rowid FROM ${knownAddresses} WHERE ${past} LIMIT ${SWEEP_BATCH}`;
  db.delete(knownAddresses).where(sql`rowid IN (${batch})`).run();
}

/** Name of a key, for users. */
export function keyName(db: Db, tokenId: string): string | undefined {
  const { id, name } = capabilityTokens;
  return db.select({ name }).from(capabilityTokens).where(eq(id, tokenId)).get()?.name;
}
