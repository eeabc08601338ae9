/**
 * Maintenance of tunnels: on, off, and over when the agent leaves. Visitors are blocked, or admitted again, before the response leaves.
 */
import type { Store, Tx } from '../../db/tx.ts';
import { type Actor, allow } from '../../core/rules/actor.ts';
import { changesBetween } from '../../core/rules/audit-changes.ts';
import type { RouteEvents } from '../../core/link/route-events.ts';
import type { Maintenance } from '../maintenance.ts';
import type { RouteMaker } from '../plane/route-maker.ts';
import { liveById, ownTunnel, recordTunnel, type TunnelRow } from '../rows.ts';

export interface MaintenanceDeps {
  readonly store: Store;
  readonly routeEvents: RouteEvents;
  readonly routes: RouteMaker;
  readonly maintenance: Maintenance;
}

export class MaintenanceSwitch {
  readonly #deps: MaintenanceDeps;

  constructor(deps: MaintenanceDeps) {
    this.#deps = deps;
  }

  /** `message`: for visitors; `''`: the edge's own words. Replaces an earlier one. Throws `not_found`, `forbidden`. */
  begin(actor: Actor, tunnelId: string, message: string): void {
    allow(actor, 'change', 'tunnel');
    this.#deps.store.inTx((tx) => {
      const row = ownTunnel(tx.db, actor.orgId, tunnelId);
      const before = this.#deps.maintenance.messageOf(row.id);
      recordTunnel(tx, actor, {
        action: 'tunnel.maintenance',
        row,
        changes: changesBetween(fieldsOf(before), fieldsOf(message)),
      });
      tx.onCommit(() => {
        this.#deps.maintenance.begin(row.id, message);
        this.#announce(row);
      });
    });
  }

  /** Throws `not_found`, `forbidden`. None to end is no error. */
  end(actor: Actor, tunnelId: string): void {
    allow(actor, 'change', 'tunnel');
    this.#deps.store.inTx((tx) => {
      const row = ownTunnel(tx.db, actor.orgId, tunnelId);
      const before = this.#deps.maintenance.messageOf(row.id);
      if (before === null) return;
      const changes = changesBetween(fieldsOf(before), fieldsOf(null));
      recordTunnel(tx, actor, { action: 'tunnel.maintenance_end', row, changes });
      this.#over(tx, row);
    });
  }

  /** The last agent of the tunnel has gone: no user did this, so the audit log has no entry. */
  agentLeft(tx: Tx, tunnelId: string): void {
    if (this.#deps.maintenance.messageOf(tunnelId) === null) return;
    const row = liveById(tx.db, tunnelId);
    if (row !== undefined) this.#over(tx, row);
  }

  #over(tx: Tx, row: TunnelRow): void {
    tx.onCommit(() => {
      if (this.#deps.maintenance.end(row.id)) this.#announce(row);
    });
  }

  /** After the change: the route is made of what holds then. */
  #announce(row: TunnelRow): void {
    this.#deps.routeEvents.put(this.#deps.routes.routeOf(this.#deps.store.db, row));
  }
}

/** For the audit log. `''`: the edge's own words. */
function fieldsOf(message: string | null) {
  return { maintenance: message !== null, message: message === '' ? null : message };
}
