/** What the inspector records of one tunnel: rules that mask. */
import { eq } from 'drizzle-orm';
import { type Actor, allow } from '../../core/rules/actor.ts';
import { inspectorSettings, type MaskRule } from '../../db/schema.ts';
import type { Db, Store } from '../../db/tx.ts';
import { ownTunnel, recordTunnel } from '../../tunnels/rows.ts';

export interface InspectorSettingsView {
  readonly mask: readonly MaskRule[];
}

/** What is left out stays as it is. */
export interface InspectorSettingsChange {
  readonly mask?: readonly MaskRule[] | undefined;
}

export interface InspectorSettingsDeps {
  readonly store: Store;
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
      const next = { mask: change.mask ?? before.mask, updatedAt: tx.now };
      tx.db
        .insert(inspectorSettings)
        .values({ tunnelId: row.id, ...next })
        .onConflictDoUpdate({ target: inspectorSettings.tunnelId, set: next })
        .run();
      recordTunnel(tx, actor, { action: 'tunnel.inspector', row, details: { rules: next.mask.length } });
      return this.#view(tx.db, row.id);
    });
  }

  #view(db: Db, tunnelId: string): InspectorSettingsView {
    const row = db.select().from(inspectorSettings).where(eq(inspectorSettings.tunnelId, tunnelId)).get();
    return { mask: row?.mask ?? [] };
  }
}
