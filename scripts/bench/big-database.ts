/**
 * The rows of the `big-database` scenario, written straight into the data folder of a server that is not running: through the API they
 * would take minutes. Whoever owns the server is made an owner of every organization, so that one session can look at all of them.
 */
import { randomBytes } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { systemClock } from '../../src/base/clock.ts';
import { silentLog } from '../../src/base/log.ts';
import { openDatabase, openStore } from '../../src/control/db/open.ts';
import {
  auditEvents,
  capabilityTokens,
  memberships,
  organizations,
  projects,
  tunnels,
  users,
} from '../../src/control/db/schema.ts';
import { Store, type Tx } from '../../src/control/db/tx.ts';

/** Live tunnels by organization: the most that one may have, half of that, and the rest spread over the others. */
const LARGEST = 1_000;
const HALF = 500;
const ORGANIZATIONS = 20;
export const TUNNELS = 10_000;
/** Of the largest organization, which may have no more, and as many again over the others. */
const TOKENS = 1_000;
export const AUDIT_EVENTS = 100_000;
/** Rows of one INSERT: SQLite takes 32,766 parameters. */
const CHUNK = 1_000;
const DAY = 24 * 3600 * 1000;

export interface BigDatabase {
  /** Has 1,000 tunnels and 1,000 tokens. */
  readonly largest: string;
  /** Has 500 tunnels. */
  readonly half: string;
}

/** Fills the database of a folder that a server has started in and left. */
export function fillDatabase(dataDir: string, ownerEmail: string): BigDatabase {
  const sqlite = openDatabase(dataDir);
  const store = new Store(openStore(sqlite, dataDir), { clock: systemClock, log: silentLog });
  try {
    return store.inTx((tx) => fill(tx, ownerEmail));
  } finally {
    store.close();
  }
}

function fill(tx: Tx, ownerEmail: string): BigDatabase {
  const owner = tx.db.select({ id: users.id }).from(users).where(eq(users.email, ownerEmail)).get();
  if (owner === undefined) throw new Error(`there is no account ${ownerEmail}`);
  const orgs = Array.from({ length: ORGANIZATIONS }, (_, i) => makeOrganization(tx, owner.id, i));
  const [largest, half, ...others] = orgs;
  if (largest === undefined || half === undefined) throw new Error('there are not enough organizations');
  const rest = TUNNELS - LARGEST - HALF;
  const shares = [LARGEST, HALF, ...others.map((_, i) => share(rest, others.length, i))];
  for (const [i, org] of orgs.entries()) {
    const tokens = tokenRows(tx, org, { count: i === 0 ? TOKENS : share(TOKENS, ORGANIZATIONS, i), owner: owner.id });
    const rows = tunnelRows(tx, org, { count: shares[i] ?? 0, tokenIds: tokens.map(({ id }) => id) });
    for (const chunk of chunks(tokens)) tx.db.insert(capabilityTokens).values(chunk).run();
    for (const chunk of chunks(rows)) tx.db.insert(tunnels).values(chunk).run();
    for (const chunk of chunks(auditRows(tx, org, rows))) tx.db.insert(auditEvents).values(chunk).run();
  }
  return { largest: largest.id, half: half.id };
}

interface Org {
  readonly id: string;
  readonly number: number;
  readonly projectId: string;
}

function makeOrganization(tx: Tx, ownerId: string, number: number): Org {
  const id = uuidv7();
  const projectId = uuidv7();
  const createdAt = tx.now;
  const standing = { plan: 'enterprise', approvalStatus: 'approved' } as const;
  tx.db
    .insert(organizations)
    .values({ id, name: `Bench ${number}`, slug: `bench-${number}`, ...standing, createdAt })
    .run();
  tx.db.insert(memberships).values({ orgId: id, userId: ownerId, role: 'owner', createdAt }).run();
  const project = { id: projectId, orgId: id, slug: 'default', name: 'Default', isDefault: true, createdAt };
  tx.db.insert(projects).values(project).run();
  return { id, number, projectId };
}

function tokenRows(
  tx: Tx,
  org: Org,
  { count, owner }: { count: number; owner: string },
): Array<typeof capabilityTokens.$inferInsert> {
  return Array.from({ length: count }, (_, i) => {
    const id = uuidv7();
    return {
      id,
      orgId: org.id,
      lineageId: id,
      createdBy: owner,
      kind: 'agent',
      version: 1,
      name: `runner ${i}`,
      nonce: randomBytes(16).toString('hex'),
      subject: `org:${org.id}`,
      keyHash: randomBytes(32).toString('hex'),
      wireBytesLen: 280,
      tunnelQuota: 5,
      bandwidthLimitMbps: 100,
      allowedSubdomains: [`o${org.number}-${i}`, `pr-${i}-*`],
      issuedAt: tx.now - i * 1_000,
      expiresAt: tx.now + 30 * DAY,
    };
  });
}

function tunnelRows(
  tx: Tx,
  org: Org,
  { count, tokenIds }: { count: number; tokenIds: readonly string[] },
): Array<typeof tunnels.$inferInsert> {
  return Array.from({ length: count }, (_, i) => ({
    id: uuidv7(),
    orgId: org.id,
    projectId: org.projectId,
    label: `o${org.number}-service-${i}`,
    protocol: 'http',
    localPort: 3_000 + i,
    status: 'inactive',
    // All still live for the whole run, and known to the index of what is due.
    expiresAt: tx.now + DAY + i * 1_000,
    tokenId: tokenIds[i % tokenIds.length] ?? null,
    bytesIn: i * 1_000,
    bytesOut: i * 10_000,
    totalRequests: i * 100,
    createdAt: tx.now - i * 60_000,
    touchedAt: tx.now,
  }));
}

function auditRows(
  tx: Tx,
  org: Org,
  of: ReadonlyArray<{ readonly id: string }>,
): Array<typeof auditEvents.$inferInsert> {
  return Array.from({ length: AUDIT_EVENTS / ORGANIZATIONS }, (_, i) => ({
    id: uuidv7(),
    orgId: org.id,
    at: tx.now - i * 60_000,
    action: 'tunnel.create',
    resourceType: 'tunnel',
    resourceId: of[i % of.length]?.id ?? org.id,
    actorKind: 'token',
    actorId: null,
    actorLabel: `runner ${i % TOKENS}`,
    ipAddress: '192.0.2.1',
  }));
}

/** The part of `all` that the one with this number gets of `count`. */
function share(all: number, count: number, number: number): number {
  return Math.floor(all / count) + (number < all % count ? 1 : 0);
}

function chunks<T>(rows: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(rows.length / CHUNK) }, (_, i) => rows.slice(i * CHUNK, (i + 1) * CHUNK));
}
