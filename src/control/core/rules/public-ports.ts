/**
 * Which public port an organization gets, of tunnels (tunnels/tcp-ports.ts) and of private networks (networks/relay/udp-ports.ts): not those of all,
 * and none that another one had a day ago, so that a client of the one does not find the other behind an old address.
 */
import { and, eq, gte, isNull, lte, ne } from 'drizzle-orm';
import type { PortRange } from '../../../base/net/addr.ts';
import { DAY_MS } from '../../../base/clock.ts';
import { organizations, restingPorts } from '../../db/schema.ts';
import type { Db, Tx } from '../../db/tx.ts';
import { isOnlyFounder, organizationsOfFounder } from './founder.ts';

/** A port that was freed stays with its organization for this long. */
const COOLDOWN_MS = DAY_MS;

/** Why an organization gets no port: none is free for it, or it has its share. */
export type PortFault = 'no_port_free' | 'port_share';

export type Transport = (typeof restingPorts.$inferSelect)['transport'];

export interface Wanted {
  readonly transport: Transport;
  readonly range: PortRange;
  readonly orgId: string;
  /** Ports of the range that are in use. */
  /** This port and no other. */
  readonly only?: number | undefined;
  readonly live: ReadonlyArray<{ readonly port: number | null; readonly orgId: string }>;
}

/** Ports of a range that one organization may hold beside others; also those of one user together, for a second one costs nothing. */
function shareOf({ first, last }: PortRange): number {
  return Math.max(1, Math.floor(((last - first + 1) * 3) / 4));
}

/**
 * The port that the organization freed last, within the last 24 hours; else the one that has been free for longest, lowest first among those
 * never used. As its own come first, ports in use and those that it freed are together never more than its share, unless it got them while it
 * was alone. Organizations of one user have no more together while another user has one.
 */
export function pickPublicPort(tx: Tx, { transport, range, orgId, live, only }: Wanted): number | PortFault {
  const share = shareOf(range);
  if (live.filter((one) => one.orgId === orgId).length >= share && !isAlone(tx.db, orgId)) return 'port_share';
  const taken = new Set(live.map(({ port }) => port));
  const resting = restingIn(tx.db, transport, range);
  const own = organizationsOfFounder(tx.db, orgId);
  // Those that this very organization freed it gets back; the others' stay where they are.
  const since = tx.now - COOLDOWN_MS;
  const cooling = [...resting.values()].filter(
    (rest) =>
      rest.orgId !== null &&
      rest.orgId !== orgId &&
      own.has(rest.orgId) &&
      rest.freedAt > since &&
      !taken.has(rest.port),
  );
  const held = live.filter((one) => own.has(one.orgId)).length + cooling.length;
  if (held >= share && !isOnlyFounder(tx.db, orgId)) return 'port_share';
  let back: Candidate | undefined;
  let free: Candidate | undefined;
  for (let port = range.first; port <= range.last; port++) {
    if (taken.has(port) || (only !== undefined && port !== only)) continue;
    const rest = resting.get(port);
    const at = rest?.freedAt ?? 0;
    if (rest === undefined || at <= tx.now - COOLDOWN_MS) {
      if (free === undefined || at < free.at) free = { port, at };
    } else if (rest.orgId === orgId && (back === undefined || at > back.at)) back = { port, at };
  }
  return (back ?? free)?.port ?? 'no_port_free';
}

interface Candidate {
  readonly port: number;
  /** When it was freed; 0: never used. */
  readonly at: number;
}

/** To be called where an organization gives a port up; null: it had none. */
export function letPortRest(
  tx: Tx,
  transport: Transport,
  { port, orgId }: { port: number | null; orgId: string },
): void {
  if (port === null) return;
  const rest = { orgId, freedAt: tx.now };
  tx.db
    .insert(restingPorts)
    .values({ transport, port, ...rest })
    .onConflictDoUpdate({ target: [restingPorts.transport, restingPorts.port], set: rest })
    .run();
}

function restingIn(db: Db, transport: Transport, { first, last }: PortRange) {
  const rows = db
    .select()
    .from(restingPorts)
    .where(and(eq(restingPorts.transport, transport), gte(restingPorts.port, first), lte(restingPorts.port, last)))
    .all();
  return new Map(rows.map((row) => [row.port, row]));
}

/** Is there no other organization on the server? */
function isAlone(db: Db, orgId: string): boolean {
  const other = db
    .select({ id: organizations.id })
    .from(organizations)
    .where(and(ne(organizations.id, orgId), isNull(organizations.deletedAt)))
    .limit(1)
    .get();
  return other === undefined;
}
