/**
 * Which labels an organization may take: not those of the system, not what another organization serves, keeps reserved or let go within
 * the last day, and not what the suffix of another project of its own stands for. For tunnels and for reservations alike. Not to be called
 * from outside the services.
 */
import { and, eq, exists, gt, isNull, ne, type SQL, sql } from 'drizzle-orm';
import { DAY_MS } from '../../base/clock.ts';
import { liveTunnels } from '../db/gone.ts';
import { reservedSubdomains, restingNames, tunnels } from '../db/schema.ts';
import type { Db, Tx } from '../db/tx.ts';
import { projectOfLabel } from '../projects/rows.ts';
import { isSystemName } from '../core/rules/labels.ts';

export type ReservationRow = typeof reservedSubdomains.$inferSelect;

/** A name that was let go rests this long before another organization may take it. */
export const REST_MS = DAY_MS;

/** Why a new tunnel can't have a label. */
export type NameFault = 'name_taken' | 'system_name' | 'other_project';

/** The live tunnel with this label, of any owner. */
export function liveByLabel(db: Db, label: string): typeof tunnels.$inferSelect | undefined {
  return db
    .select()
    .from(tunnels)
    .where(and(eq(tunnels.label, label), liveTunnels()))
    .get();
}

/** The reservation of this label, of any owner. */
export function reservationOf(db: Db, label: string): ReservationRow | undefined {
  return db.select().from(reservedSubdomains).where(eq(reservedSubdomains.subdomain, label)).get();
}

/** In a query of tunnels: the tunnel's organization has reserved its label. */
export function hasReservation(db: Db): SQL {
  const { id, subdomain, orgId } = reservedSubdomains;
  return exists(
    db
      .select({ id })
      .from(reservedSubdomains)
      .where(and(eq(subdomain, tunnels.label), eq(orgId, tunnels.orgId))),
  );
}

/** Is the label kept from this organization, whether or not a tunnel has it? */
export function isBarred(tx: Tx, label: string, orgId: string): boolean {
  if (isSystemName(label)) return true;
  const reservation = reservationOf(tx.db, label);
  // Its own: no other project can have freed the name since.
  if (reservation !== undefined) return reservation.orgId !== orgId;
  return isResting(tx, label, orgId);
}

/** Did another organization let the name go within the last day? Also where the row of its tunnel does not say so yet. */
export function isResting(tx: Tx, label: string, orgId: string): boolean {
  const held = tx.db
    .select({ orgId: tunnels.orgId })
    .from(tunnels)
    .where(and(eq(tunnels.label, label), isNull(tunnels.deletedAt), ne(tunnels.orgId, orgId)))
    .get();
  if (held !== undefined) return true;
  const resting = tx.db
    .select({ label: restingNames.label })
    .from(restingNames)
    .where(
      and(eq(restingNames.label, label), ne(restingNames.orgId, orgId), gt(restingNames.deletedAt, tx.now - REST_MS)),
    )
    .get();
  return resting !== undefined;
}

/** What keeps a new tunnel of this project from a label; undefined when it may have it. */
export function nameFault(
  tx: Tx,
  label: string,
  { orgId, projectId }: { orgId: string; projectId: string },
): NameFault | undefined {
  if (isSystemName(label)) return 'system_name';
  if (isBarred(tx, label, orgId) || liveByLabel(tx.db, label) !== undefined) return 'name_taken';
  return projectOfLabel(tx.db, orgId, label)?.id === projectId ? undefined : 'other_project';
}

/** Ends the cooldown of a name that has an owner again. */
export function endCooldown(tx: Tx, label: string): void {
  tx.db.delete(restingNames).where(eq(restingNames.label, label)).run();
}

/** Lets names go that these organizations had: labels, or custom domains, which have a dot in them. */
export function letAllRest(tx: Tx, names: ReadonlyArray<{ readonly label: string; readonly orgId: string }>): void {
  if (names.length === 0) return;
  tx.db
    .insert(restingNames)
    .values(names.map((name) => ({ ...name, deletedAt: tx.now })))
    .onConflictDoUpdate({
      target: restingNames.label,
      set: { orgId: sql`excluded.org_id`, deletedAt: sql`excluded.deleted_at` },
    })
    .run();
}
