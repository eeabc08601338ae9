/** What keeps deliveries from coming to a receiver, or from reaching its tunnel, right now: each with what to do about it. */
import { eq, sql } from 'drizzle-orm';
import type { NodeControl } from '../../../plane/link.ts';
import { certificates } from '../../db/schema.ts';
import type { Store } from '../../db/tx.ts';
import type { Maintenance } from '../../tunnels/maintenance.ts';
import { anyById, isExpired } from '../../tunnels/rows.ts';
import type { ReceiverRow } from '../receiver-rows.ts';
import { REACH_CODES, reachWarning, type Warning } from './reach.ts';

export const WARNING_CODES = [
  ...REACH_CODES,
  ...(['url_certificate', 'tunnel_offline', 'tunnel_stopped', 'tunnel_expired', 'maintenance'] as const),
] as const;
export type ReceiverWarning = Warning<(typeof WARNING_CODES)[number]>;

export interface WarningDeps {
  readonly store: Store;
  readonly nodes: Pick<NodeControl, 'isOnline'>;
  readonly maintenance: Pick<Maintenance, 'messageOf'>;
}

export class ReceiverWarnings {
  readonly #deps: WarningDeps;

  constructor(deps: WarningDeps) {
    this.#deps = deps;
  }

  /** Of a receiver whose address begins with `publicUrl`. */
  of(receiver: Pick<ReceiverRow, 'forwardTunnelId'>, publicUrl: string): readonly ReceiverWarning[] {
    const found = [reachWarning(publicUrl) ?? this.#certificate(publicUrl), this.#tunnel(receiver)];
    return found.filter((warning) => warning !== null);
  }

  /** Of a certificate that this server orders itself. */
  #certificate(publicUrl: string): ReceiverWarning | null {
    const host = new URL(publicUrl).hostname;
    const { store } = this.#deps;
    const { name, chain, expiresAt, failures, lastError } = certificates;
    const row = store.db
      .select({ expiresAt, failures, lastError, hasChain: sql<number>`${chain} IS NOT NULL` })
      .from(certificates)
      .where(eq(name, host))
      .get();
    if (row === undefined) return null;
    const isValid = row.hasChain === 1 && row.expiresAt !== null && row.expiresAt > store.clock.now();
    if (isValid || (row.failures === 0 && row.expiresAt === null)) return null;
    const why = row.lastError === null ? '' : ` The last attempt failed: ${row.lastError}`;
    return { code: 'url_certificate', message: `${host} has no valid certificate, so senders refuse it.${why}` };
  }

  #tunnel({ forwardTunnelId: id }: Pick<ReceiverRow, 'forwardTunnelId'>): ReceiverWarning | null {
    const { store, nodes, maintenance } = this.#deps;
    const tunnel = id === null ? undefined : anyById(store.db, id);
    if (id === null || tunnel === undefined) return null;
    const { label } = tunnel;
    const wait = 'Deliveries wait, and no attempts are counted.';
    if (isExpired(tunnel, store.clock.now()))
      return { code: 'tunnel_expired', message: `The tunnel ${label} has expired. ${wait} Extend it.` };
    if (tunnel.stopped) return { code: 'tunnel_stopped', message: `The tunnel ${label} is paused. ${wait} Start it.` };
    if (!nodes.isOnline(id))
      return { code: 'tunnel_offline', message: `The tunnel ${label} is offline. ${wait} Start its agent.` };
    if (maintenance.messageOf(id) === null) return null;
    return { code: 'maintenance', message: `The tunnel ${label} is in maintenance. ${wait}` };
  }
}
