/**
 * HTTP Basic in front of tunnels: set, replace, remove. The password is kept as an argon2id hash alone; the data plane compares
 * (data/policy/password/checks.ts).
 */
import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import { basicGates } from '../../db/schema.ts';
import type { Db, Store, Tx } from '../../db/tx.ts';
import { type Actor, allow, type UserActor } from '../../core/rules/actor.ts';
import { changesBetween, secretChange } from '../../core/rules/audit-changes.ts';
import type { RouteEvents } from '../../core/link/route-events.ts';
import type { Passwords } from '../../core/secrets/passwords.ts';
import { callerNow } from '../../core/rules/caller.ts';
import type { RouteMaker } from '../plane/route-maker.ts';
import { ownTunnel, recordTunnel, type TunnelRow } from '../rows.ts';

/** Of a user name, and of a password. */
export const MAX_GATE_TEXT = 256;

export interface GateDeps {
  readonly store: Store;
  readonly routeEvents: RouteEvents;
  readonly routes: RouteMaker;
  readonly passwords: Passwords;
}

export class BasicGates {
  readonly #deps: GateDeps;

  constructor(deps: GateDeps) {
    this.#deps = deps;
  }

  /** The user name of a tunnel's gate, null when it has none. Throws `not_found`, `forbidden`. */
  usernameOf(actor: Actor, tunnelId: string): string | null {
    allow(actor, 'read', 'tunnel');
    const { db } = this.#deps.store;
    const row = ownTunnel(db, actor.orgId, tunnelId);
    return usernameIn(db, row.id) ?? null;
  }

  /** Throws `not_found`, `forbidden`, `invalid_request` (a `tcp` tunnel), `unavailable` (too many passwords wait to be hashed). */
  async put(actor: UserActor, tunnelId: string, input: { username: string; password: string }): Promise<void> {
    allow(actor, 'change', 'tunnel');
    const { store, passwords } = this.#deps;
    httpTunnel(store.db, actor.orgId, tunnelId);
    const passwordHash = await passwords.hash(input.password);
    store.inTx((tx) => {
      // The hash took its time.
      const caller = callerNow(tx, actor);
      allow(caller, 'change', 'tunnel');
      const row = httpTunnel(tx.db, caller.orgId, tunnelId);
      const before = usernameIn(tx.db, row.id);
      const next = { username: input.username, passwordHash, version: randomUUID(), updatedAt: tx.now };
      tx.db
        .insert(basicGates)
        .values({ tunnelId: row.id, ...next })
        .onConflictDoUpdate({ target: basicGates.tunnelId, set: next })
        .run();
      const changes = [
        ...changesBetween({ username: before }, { username: input.username }),
        secretChange('password', before === undefined ? 'set' : 'changed'),
      ];
      recordTunnel(tx, caller, { action: 'tunnel.auth', row, changes });
      this.#announce(tx, row);
    });
  }

  /** Throws `not_found`, `forbidden`. None to remove is no error. */
  remove(actor: Actor, tunnelId: string): void {
    allow(actor, 'change', 'tunnel');
    this.#deps.store.inTx((tx) => {
      const row = ownTunnel(tx.db, actor.orgId, tunnelId);
      const username = usernameIn(tx.db, row.id);
      if (username === undefined) return;
      tx.db.delete(basicGates).where(eq(basicGates.tunnelId, row.id)).run();
      const changes = [...changesBetween({ username }, {}), secretChange('password', 'removed')];
      recordTunnel(tx, actor, { action: 'tunnel.auth_remove', row, changes });
      this.#announce(tx, row);
    });
  }

  #announce(tx: Tx, row: TunnelRow): void {
    const route = this.#deps.routes.routeOf(tx.db, row);
    tx.onCommit(() => this.#deps.routeEvents.put(route));
  }
}

function usernameIn(db: Db, tunnelId: string): string | undefined {
  const { username } = basicGates;
  return db.select({ username }).from(basicGates).where(eq(basicGates.tunnelId, tunnelId)).get()?.username;
}

/** A gate without a prompt would be worse than none. */
function httpTunnel(db: Db, orgId: string, tunnelId: string): TunnelRow {
  const row = ownTunnel(db, orgId, tunnelId);
  if (row.protocol === 'tcp')
    throw new AppError(
      'invalid_request',
      'A tcp tunnel cannot prompt visitors for a password. Use a tunnel of another protocol.',
    );
  return row;
}
