/**
 * The rows of the `big-database` scenario, written straight into the data folder of a server that is not running: through the API they
 * would take minutes. The owner of the server becomes an owner of every organization, so that one session can view all of them.
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
import { Store } from '../../src/control/db/tx.ts';
import { Rows } from './rows.ts';

/** Live tunnels by organization: the most that one may have, half of that, and the rest spread over the others. */
const LARGEST = 1_000;
const HALF = 500;
const ORGANIZATIONS = 20;
export const TUNNELS = 10_000;
/** Of the largest organization, which may have no more, and as many again over the others. */
const TOKENS = 1_000;
export const AUDIT_EVENTS = 100_000;
const DAY = 24 * 3600 * 1000;

export interface BigDatabase {
  /** Has 1,000 tunnels and 1,000 tokens. */
  readonly largest: string;
  /** Has 500 tunnels. */
  readonly half: string;
  readonly all: readonly string[];
}

/** Fills the database of a folder that a server has started in and left; `more` adds to it, in the same transaction. */
export function fillDatabase<T>(
  dataDir: string,
  ownerEmail: string,
  more: (rows: Rows, ownerId: string) => T,
): BigDatabase & { readonly more: T } {
  const sqlite = openDatabase(dataDir);
  const store = new Store(openStore(sqlite, dataDir), { clock: systemClock, log: silentLog });
  try {
    return store.inTx((tx) => {
      const owner = tx.db.select({ id: users.id }).from(users).where(eq(users.email, ownerEmail)).get();
      if (owner === undefined) throw new Error(`there is no account ${ownerEmail}`);
      const rows = new Rows(sqlite, tx);
      return { ...fill(rows, owner.id), more: more(rows, owner.id) };
    });
  } finally {
    store.close();
  }
}

function fill(rows: Rows, ownerId: string): BigDatabase {
  const orgs = Array.from({ length: ORGANIZATIONS }, (_, i) => makeOrganization(rows, ownerId, `bench-${i}`));
  const [largest, half, ...others] = orgs;
  if (largest === undefined || half === undefined) throw new Error('there are not enough organizations');
  const rest = TUNNELS - LARGEST - HALF;
  const shares = [LARGEST, HALF, ...others.map((_, i) => share(rest, others.length, i))];
  for (const [i, org] of orgs.entries()) {
    const count = i === 0 ? TOKENS : share(TOKENS, ORGANIZATIONS, i);
    populate(rows, org, { tokens: count, tunnels: shares[i] ?? 0, events: AUDIT_EVENTS / ORGANIZATIONS, ownerId });
  }
  return { largest: largest.id, half: half.id, all: orgs.map(({ id }) => id) };
}

/** Gives an organization so many tunnels, in its default project unless another is named, keys, and audit events about the tunnels. */
export function populate(
  rows: Rows,
  org: Org,
  of: { readonly tokens: number; readonly tunnels: number; readonly events: number; readonly ownerId: string },
): readonly string[] {
  const keys = tokenRows(rows, org, { count: of.tokens, owner: of.ownerId });
  const made = tunnelRows(rows, org, { count: of.tunnels, tokenIds: keys.map(({ id }) => id) });
  rows.insert(capabilityTokens, keys);
  rows.insert(tunnels, made);
  rows.insert(auditEvents, auditRows(rows, org, { of: made, count: of.events }));
  return made.map(({ id }) => id);
}

/** An organization, and one of its projects. */
interface Org {
  readonly id: string;
  readonly slug: string;
  readonly projectId: string;
}

export function makeOrganization(rows: Rows, ownerId: string, slug: string): Org {
  const id = uuidv7();
  const createdAt = rows.tx.now;
  const approved = { plan: 'enterprise', approvalStatus: 'approved' } as const;
  rows.insert(organizations, [{ id, name: `Organization ${slug}`, slug, ...approved, createdAt }]);
  rows.insert(memberships, [{ orgId: id, userId: ownerId, role: 'owner', createdAt }]);
  return makeProject(rows, { id, slug, projectId: '' }, { slug: 'default', isDefault: true });
}

/** The organization, with a new project as that of which rows are made. */
export function makeProject(
  rows: Rows,
  org: Org,
  { slug, isDefault }: { readonly slug: string; readonly isDefault: boolean },
): Org {
  const projectId = uuidv7();
  rows.insert(projects, [{ id: projectId, orgId: org.id, slug, name: slug, isDefault, createdAt: rows.tx.now }]);
  return { ...org, projectId };
}

function tokenRows(
  { tx }: Rows,
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
      allowedSubdomains: [`${org.slug}-${i}`, `pr-${i}-*`],
      issuedAt: tx.now - i * 1_000,
      expiresAt: tx.now + 30 * DAY,
    };
  });
}

function tunnelRows(
  { tx }: Rows,
  org: Org,
  { count, tokenIds }: { count: number; tokenIds: readonly string[] },
): Array<typeof tunnels.$inferInsert> {
  return Array.from({ length: count }, (_, i) => ({
    id: uuidv7(),
    orgId: org.id,
    projectId: org.projectId,
    label: `service-${i}-${org.slug}`,
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
  { tx }: Rows,
  org: Org,
  { of, count }: { readonly of: ReadonlyArray<{ readonly id: string }>; readonly count: number },
): Array<typeof auditEvents.$inferInsert> {
  return Array.from({ length: count }, (_, i) => ({
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
