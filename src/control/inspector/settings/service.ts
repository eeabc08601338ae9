/** What the inspector records of one tunnel: rules that mask, and frames of WebSockets. */
import { eq } from 'drizzle-orm';
import { type Actor, allow } from '../../core/rules/actor.ts';
import { changesBetween } from '../../core/rules/audit-changes.ts';
import { inspectorSettings, type MaskRule } from '../../db/schema.ts';
import type { Db, Store } from '../../db/tx.ts';
import type { RouteEvents } from '../../core/link/route-events.ts';
import type { RouteMaker } from '../../tunnels/plane/route-maker.ts';
import { ownTunnel, recordTunnel } from '../../tunnels/rows.ts';

export interface InspectorSettingsView {
  readonly mask: readonly MaskRule[];
  /** null: the setting of the server. */
  readonly websocketFrames: boolean | null;
  /** Of the server. */
  readonly websocketFramesDefault: boolean;
}

/** What is left out stays as it is. */
export interface InspectorSettingsChange {
  readonly mask?: readonly MaskRule[] | undefined;
  readonly websocketFrames?: boolean | null | undefined;
}

export interface InspectorSettingsDeps {
  readonly store: Store;
  readonly routeEvents: Pick<RouteEvents, 'put'>;
  readonly routes: RouteMaker;
  /** Where a tunnel says nothing (`inspector.websocket_frames`). */
  readonly websocketFrames: boolean;
}

export class InspectorSettings {
  readonly #deps: InspectorSettingsDeps;

  constructor(deps: InspectorSettingsDeps) {
    this.#deps = deps;
  }

  /** Throws `forbidden`, `not_found`. */
  get(actor: Actor, tunnelId: string): InspectorSettingsView {
    allow(actor, 'read', 'tunnel');
    const { db } = this.#deps.store;
    return this.#view(db, ownTunnel(db, actor.orgId, tunnelId).id);
  }

  /** Throws `forbidden`, `not_found`. */
  put(actor: Actor, tunnelId: string, change: InspectorSettingsChange): InspectorSettingsView {
    allow(actor, 'change', 'tunnel');
    return this.#deps.store.inTx((tx) => {
      const row = ownTunnel(tx.db, actor.orgId, tunnelId);
      const before = this.#view(tx.db, row.id);
      const websocketFrames = change.websocketFrames === undefined ? before.websocketFrames : change.websocketFrames;
      const next = { mask: change.mask ?? before.mask, websocketFrames, updatedAt: tx.now };
      tx.db
        .insert(inspectorSettings)
        .values({ tunnelId: row.id, ...next })
        .onConflictDoUpdate({ target: inspectorSettings.tunnelId, set: next })
        .run();
      const details = { rules: next.mask.length, websocket_frames: websocketFrames };
      const changes = changesBetween(fieldsOf(before), fieldsOf(next));
      recordTunnel(tx, actor, { action: 'tunnel.inspector', row, details, changes });
      if (websocketFrames !== before.websocketFrames) {
        const route = this.#deps.routes.routeOf(tx.db, row);
        tx.onCommit(() => this.#deps.routeEvents.put(route));
      }
      return this.#view(tx.db, row.id);
    });
  }

  #view(db: Db, tunnelId: string): InspectorSettingsView {
    const row = db.select().from(inspectorSettings).where(eq(inspectorSettings.tunnelId, tunnelId)).get();
    const { websocketFrames: websocketFramesDefault } = this.#deps;
    return { mask: row?.mask ?? [], websocketFrames: row?.websocketFrames ?? null, websocketFramesDefault };
  }
}

/** For the audit log, by the names of the API. */
function fieldsOf({ mask, websocketFrames }: Pick<InspectorSettingsView, 'mask' | 'websocketFrames'>) {
  return { mask: mask.map((rule) => Object.values(rule).join(' ')), websocket_frames: websocketFrames };
}
